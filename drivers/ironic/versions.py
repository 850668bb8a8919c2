# SPDX-License-Identifier: Apache-2.0
"""Which versions of Ironic's API are spoken, and what needs which.

Pure: no I/O, configuration, logging or clock. There is no discovery call: the
newest version is asked for, and an Ironic that is older says what it has.
"""

import dataclasses
import re

Version = tuple[int, int]

# The newest that openstacksdk and nova speak too; nothing newer is needed.
NEWEST: Version = (1, 109)
_TRAITS: Version = (1, 37)
_CONDUCTOR_GROUP: Version = (1, 46)
_SHARD: Version = (1, 82)

# In the text of ironicclient's UnsupportedVersion, which it wraps into lines.
_RANGE = re.compile(r'range is:? (\d+)\.(\d+) to (\d+)\.(\d+)')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The oldest version that will do.

    :ivar by: what needs it
    """

    version: Version
    by: str


def needed(conductor_group: str | None, shard: str | None) -> Needed:
    """Return what is needed to list just the nodes that are meant.

    An older Ironic ignores a filter it does not know, or would have all nodes
    listed: never that.
    """
    if shard is not None:
        return Needed(version=_SHARD, by='[ironic] shard')
    if conductor_group is not None:
        return Needed(version=_CONDUCTOR_GROUP, by='[ironic] conductor_group')
    return Needed(version=_TRAITS, by='the ironic driver')


def supported(text: str) -> tuple[Version, Version] | None:
    """Return the oldest and newest version a refusal tells of, if it does."""
    match = _RANGE.search(' '.join(text.split()))
    if match is None:
        return None
    one, two, three, four = (int(group) for group in match.groups())
    return (one, two), (three, four)


def spelled(version: Version) -> str:
    """Return the version as the API's header has it."""
    return '{}.{}'.format(*version)
