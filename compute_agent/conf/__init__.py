# SPDX-License-Identifier: Apache-2.0
"""The agent's options: one file per group, no global configuration object.

Options have the names of nova.conf if nova has them, so that the agent can use
an existing file. Begin with ``default.py``. ``cmd/`` makes the ``ConfigOpts``.
It may import ``ownership/``, ``tree/`` and ``monitoring/values/``, which
check values, and ``transport/``, which has keystoneauth's options.
"""

import types
from typing import Any

from oslo_config import cfg

from . import compute, compute_agent, default

Groups = tuple[types.ModuleType, ...]

#: The groups that are not about the connection to placement.
LOCAL: Groups = (default, compute, compute_agent)


def groups(*, of_audit: bool = False) -> Groups:
    """Return the groups; importing keystoneauth takes a while.

    :param of_audit: also the group that only the audit of a cloud needs
    """
    from . import nova, placement  # noqa: PLC0415 (they import keystoneauth)

    return (*LOCAL, placement, nova) if of_audit else (*LOCAL, placement)


def register_opts(conf: cfg.ConfigOpts, chosen: Groups) -> None:
    """Register the options of these groups."""
    for group in chosen:
        group.register_opts(conf)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return all options by group, for the generator of the sample file."""
    every = groups(of_audit=True)
    return [pair for group in every for pair in group.list_opts()]


def check(conf: cfg.ConfigOpts, chosen: Groups) -> None:
    """Read every option once, so that a wrong value fails at the start.

    :raises cfg.Error: a value is out of range, of the wrong type or empty
    """
    for group in chosen:
        for name, opts in group.list_opts():
            where = conf if name == default.GROUP else conf[name]
            for opt in opts:
                if opt.dest in where:
                    _refuse_empty(name, opt, where[opt.dest])


def _refuse_empty(group: str, opt: cfg.Opt, value: object) -> None:
    """Refuse "option =" if the option has a default that is not empty.

    oslo.config would read None for a number, and an empty path would mean the
    directory in which the agent was started.
    """
    empty: tuple[object, ...] = (None, '', [])
    if opt.default not in empty and value in empty:
        default_value = (
            ','.join(opt.default)
            if isinstance(opt.default, list)
            else opt.default
        )
        raise cfg.Error(
            f'[{group}] {opt.name} is empty: give it a value, or remove the '
            f'line to use the default, {default_value}'
        )
