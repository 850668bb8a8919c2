# SPDX-License-Identifier: Apache-2.0
"""The checks of the database that the agents of a share use together.

``shared_database.py`` asks it. That module is imported when a check runs, so a
host without the extra ``fleet`` learns what it lacks from the checks.
"""

import functools
import typing
from collections.abc import Callable

from oslo_config import cfg

from .finding import Check, Finding

if typing.TYPE_CHECKING:
    from .shared_database import Asked

# Check → the method of ``Asked`` that carries it out.
_CHECKS: dict[str, Callable[['Asked'], Finding]] = {
    'shared database': lambda asked: asked.reachable(),
    'its tables': lambda asked: asked.tables(),
    'its rights': lambda asked: asked.rights(),
    'its commits': lambda asked: asked.commits(),
    'share': lambda asked: asked.share(),
}


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks; none without ``state_connection``."""
    url = conf.compute_agent.state_connection
    if not url:
        return []

    @functools.cache
    def asked() -> 'Asked':
        from . import shared_database  # noqa: PLC0415 (an extra)

        return shared_database.Asked(conf, url)

    def run(ask: Callable[['Asked'], Finding]) -> Finding:
        return asked().closed_after(lambda: ask(asked()))

    return [
        Check(name=name, run=functools.partial(run, ask))
        for name, ask in _CHECKS.items()
    ]
