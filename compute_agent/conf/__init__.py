# SPDX-License-Identifier: Apache-2.0
"""The agent's options: one file per group, no global configuration object.

Options are spelled as in nova.conf wherever nova has them, so that an operator
can point the agent at an existing file. ``cmd`` makes the ``ConfigOpts``.
"""

from typing import Any

from oslo_config import cfg

from . import compute, compute_agent, default, placement

_GROUPS = (default, compute, compute_agent, placement)


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of the agent itself."""
    for group in _GROUPS:
        group.register_opts(conf)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return all options by group, for the sample file's generator."""
    return [pair for group in _GROUPS for pair in group.list_opts()]


def check(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad one is said at the start.

    :raises cfg.Error: a value is out of range or of another type
    """
    for group in _GROUPS:
        for name, opts in group.list_opts():
            where = conf if name in {None, 'DEFAULT'} else conf[str(name)]
            for opt in opts:
                if opt.dest in where:
                    where[opt.dest]
