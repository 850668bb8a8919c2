# SPDX-License-Identifier: Apache-2.0
"""The share of an agent: the nodes that it reports, as a name.

Pure: no I/O, configuration, logging or clock. A share is a driver with its
filter, such as ``ironic:shard=rack1``; two agents with the same share report
the same nodes. ``named(given, drivers)`` returns the name:
``[compute_agent] share`` if it is given, else a name made from the drivers.
``cmd/wiring/`` calls it; ``conf/compute_agent.py`` checks the option.
"""

import re
import urllib.parse
from collections.abc import Iterable, Mapping

from ... import errors

LONGEST = 200
_ALLOWED = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.:=,+%@-]*')


def check(name: str) -> str:
    """Return the name of a share.

    :raises ValueError: it cannot be one; the message says what to write
    """
    if len(name) > LONGEST or not _ALLOWED.fullmatch(name):
        raise ValueError(
            f'{name[:LONGEST]!r} cannot be the name of a share: write 1 to '
            f'{LONGEST} of the characters A-Z, a-z, 0-9 and _.:=,+%@-, '
            'beginning with a letter or digit'
        )
    return name


def named(
    given: str | None,
    drivers: Iterable[tuple[str, Mapping[str, str] | None]],
) -> str:
    """Return the name of the share of an agent.

    :param given: ``[compute_agent] share``; None or empty if it is not set
    :param drivers: each driver's name, and its ``node_filter``
    :raises errors.ConfigError: no name can be made from the drivers
    """
    name = given or '+'.join(_part(*driver) for driver in drivers)
    try:
        return check(name)
    except ValueError as exc:
        raise errors.ConfigError(
            f'{exc}; set [compute_agent] share, to the same name for all '
            'agents that may report these nodes'
        ) from exc


def _part(driver: str, chosen: Mapping[str, str] | None) -> str:
    """Return a driver's part of the name, with each value quoted as in a URL.

    The target of a driver may be the path of a program.
    """
    driver = driver.replace('/', ':')
    filters = ','.join(
        f'{option}={urllib.parse.quote(value, safe="")}'
        for option, value in sorted((chosen or {}).items())
    )
    return f'{driver}:{filters}' if filters else driver
