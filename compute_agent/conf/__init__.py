# SPDX-License-Identifier: Apache-2.0
"""The agent's options: one file per group, no global configuration object.

Options are spelled as in nova.conf wherever nova has them, so that an operator
can point the agent at an existing file. ``cmd`` makes the ``ConfigOpts``.
"""

import types
from typing import Any

from oslo_config import cfg

from . import compute, compute_agent, default

Groups = tuple[types.ModuleType, ...]

#: The groups that have nothing to do with placement.
LOCAL: Groups = (default, compute, compute_agent)


def groups() -> Groups:
    """Return every group; those that keystoneauth fills take a while."""
    from . import placement  # noqa: PLC0415 (imports keystoneauth)

    return (*LOCAL, placement)


def register_opts(conf: cfg.ConfigOpts, chosen: Groups) -> None:
    """Register the options of these groups."""
    for group in chosen:
        group.register_opts(conf)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return all options by group, for the sample file's generator."""
    return [pair for group in groups() for pair in group.list_opts()]


def check(conf: cfg.ConfigOpts, chosen: Groups) -> None:
    """Read every option once, so that a bad one is said at the start.

    :raises cfg.Error: a value is out of range, of another type or empty
    """
    for group in chosen:
        for name, opts in group.list_opts():
            where = conf if name == default.GROUP else conf[name]
            for opt in opts:
                if opt.dest in where:
                    _refuse_empty(name, opt, where[opt.dest])


def _refuse_empty(group: str, opt: cfg.Opt, value: object) -> None:
    """Refuse "option =" where there is a default that it is not.

    oslo.config makes None of it for a number, and a path of no characters
    would be wherever the agent was started.
    """
    if opt.default not in (None, '') and value in (None, ''):
        raise cfg.Error(
            f'[{group}] {opt.name} is empty: give it a value, or take the '
            f'line out, which means {opt.default}'
        )
