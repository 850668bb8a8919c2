# SPDX-License-Identifier: Apache-2.0
"""The versions of Ironic's API, and the options that need them.

Pure: no I/O, configuration, logging or clock. There is no discovery call. The
agent requests the newest version, and an older Ironic answers with its range.
"""

import dataclasses
import re

Version = tuple[int, int]

# The newest version that openstacksdk and nova use; the agent needs no newer.
NEWEST: Version = (1, 109)
_TRAITS: Version = (1, 37)
_CONDUCTOR_GROUP: Version = (1, 46)
_SHARD: Version = (1, 82)

# In the text of ironicclient's UnsupportedVersion, which has line breaks.
_RANGE = re.compile(r'range is:? (\d+)\.(\d+) to (\d+)\.(\d+)')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The oldest version that is new enough.

    :ivar by: the option or driver that needs it
    """

    version: Version
    by: str


def needed(conductor_group: str | None, shard: str | None) -> Needed:
    """Return the version that is needed to list only the intended nodes.

    An older Ironic might ignore an unknown filter and list all nodes.
    """
    if shard is not None:
        return Needed(version=_SHARD, by='[ironic] shard')
    if conductor_group is not None:
        return Needed(version=_CONDUCTOR_GROUP, by='[ironic] conductor_group')
    return Needed(version=_TRAITS, by='the ironic driver')


def supported(text: str) -> tuple[Version, Version] | None:
    """Return the range of versions in a refusal, None if it has none."""
    match = _RANGE.search(' '.join(text.split()))
    if match is None:
        return None
    low, low_minor, high, high_minor = map(int, match.groups())
    return (low, low_minor), (high, high_minor)


def spelled(version: Version) -> str:
    """Return the version in the form of the API's header."""
    return '{}.{}'.format(*version)
