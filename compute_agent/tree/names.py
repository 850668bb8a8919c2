# SPDX-License-Identifier: Apache-2.0
"""The grammar of placement's names, and the few names the agent knows.

Pure: no I/O, configuration, logging or clock. Traits and resource classes
share one grammar (placement's API: ``^[A-Z0-9_]+$``, at most 255 characters,
custom ones begin with ``CUSTOM_``).
"""

import dataclasses
import re
import uuid as uuidlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias, TypeVar

from .. import error_text, errors

_T = TypeVar('_T')

# Names that a driver gives; a type checker refuses a text here.
Names: TypeAlias = list[str] | tuple[str, ...] | AbstractSet[str]

CUSTOM_PREFIX = 'CUSTOM_'
MAX_NAME = 255
MAX_PROVIDER_NAME = 200

COMPUTE_NODE = 'COMPUTE_NODE'
COMPUTE_STATUS_DISABLED = 'COMPUTE_STATUS_DISABLED'
MISC_SHARES_VIA_AGGREGATE = 'MISC_SHARES_VIA_AGGREGATE'
OWNER_PREFIX = 'OWNER_'
OWNER_NOVA = 'OWNER_NOVA'
# The agent itself gives these to every compute node.
AGENT_TRAITS = frozenset({COMPUTE_NODE, OWNER_NOVA})

_SYMBOL = re.compile(r'[A-Z0-9_]{1,255}')
_UUID = re.compile(r'[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}')
_NOT_ALPHANUMERIC = re.compile(r'[^0-9A-Za-z]+')


def is_custom(name: str) -> bool:
    """Return True if this trait or resource class is an operator's own."""
    return name.startswith(CUSTOM_PREFIX) and len(name) > len(CUSTOM_PREFIX)


def check_symbol(name: object, kind: str) -> str:
    """Return the name of a trait or resource class if it is valid.

    :param kind: 'trait' or 'resource class', for the message
    :raises errors.InvalidName: it is not a string, or outside the grammar
    """
    if not isinstance(name, str) or not _SYMBOL.fullmatch(name):
        raise errors.InvalidName(
            f'{kind} {error_text.excerpt(name)} is not a name placement '
            f'takes: use 1 to {MAX_NAME} of the characters A-Z, 0-9 and _'
            f'{_unpacked(name)}'
        )
    return name


def _unpacked(name: object) -> str:
    """Return the advice for a collection in the place of one name."""
    is_several = isinstance(name, Iterable) and not isinstance(name, str)
    return '; give the names one by one, as in *names' if is_several else ''


def check_label(found: object) -> str:
    """Return the name or uuid by which a driver asks for a provider.

    :raises errors.InvalidName: the argument is neither a name nor a uuid
    """
    if isinstance(found, str):
        return found
    kind = type(found).__name__
    advice = 'give a text, its name or its uuid'
    if isinstance(getattr(found, 'uuid', None), str):
        advice = 'give its .uuid'
    elif isinstance(found, uuidlib.UUID):
        advice = 'give str() of it'
    elif isinstance(found, Iterable):
        advice = 'give one provider, and call the method for each'
    raise errors.InvalidName(
        f'{error_text.excerpt(found)} ({kind}) is not the name or uuid of a '
        f'provider: {advice}'
    )


def check_traits(names: Iterable[str]) -> frozenset[str]:
    """Return the set of these traits.

    :raises errors.InvalidName: one of them is outside the grammar, or the
        argument is a single string or a mapping instead of a collection
    """
    checked = _check_names(names)
    return frozenset([check_symbol(n, 'trait') for n in checked])


def check_aggregates(uuids: Iterable[str]) -> frozenset[str]:
    """Return the set of these aggregate uuids.

    :raises errors.InvalidName: one of them is not a uuid, or the argument is
        a single string or a mapping instead of a collection
    """
    checked = _check_names(uuids)
    return frozenset([check_uuid(u, 'aggregate') for u in checked])


def check_uuid(text: object, kind: str) -> str:
    """Return this uuid as placement spells it: lower case, with dashes.

    :param kind: the kind of object, such as 'provider', for the message
    :raises errors.InvalidName: it is not a uuid
    """
    if not is_uuid(text):
        raise errors.InvalidName(
            f'{kind} {error_text.excerpt(text)} is not a uuid: write it as 32 '
            f'hexadecimal digits in five groups{_unpacked(text)}'
        )
    return str(text).lower()


def is_uuid(text: object) -> bool:
    """Return True if this is a uuid in its usual spelling, with dashes."""
    if not isinstance(text, (str, uuidlib.UUID)):
        return False
    return _UUID.fullmatch(str(text)) is not None


def check_provider_name(name: object) -> str:
    """Return a provider's name if it is valid.

    :raises errors.InvalidName: it is empty, longer than 200 characters, or
        not a string
    """
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_PROVIDER_NAME:
        raise errors.InvalidName(
            f'provider name {error_text.excerpt(name)} is not one placement '
            f'takes: use 1 to {MAX_PROVIDER_NAME} characters'
        )
    return name


def custom_name(text: str) -> str:
    """Return ``CUSTOM_`` and this text, normalized to the grammar of names.

    Each run of other characters becomes one underscore, and letters become
    upper case. The prefix is always added, as nova does it: ``CUSTOM_GOLD``
    gives ``CUSTOM_CUSTOM_GOLD``.

    :raises errors.InvalidName: the text is empty, or the result is longer
        than 255 characters
    """
    name = CUSTOM_PREFIX + _NOT_ALPHANUMERIC.sub('_', text).upper()
    return check_symbol(name if text else text, 'name')


def _check_names(names: Iterable[_T]) -> Iterable[_T]:
    """Return the argument if it is a collection, and no mapping with keys.

    Its keys would count as names, whatever their values say.

    :raises errors.InvalidName: the argument is no such collection
    """
    if isinstance(names, Mapping) and names:
        raise _no_names(names, 'a mapping')
    return check_collection(names)


def _no_names(found: object, kind: str) -> errors.InvalidName:
    return errors.InvalidName(
        f'{error_text.excerpt(found)} is {kind} where a collection of names '
        'belongs: give a list or a set of them, empty for none'
    )


def check_collection(names: Iterable[_T]) -> Iterable[_T]:
    """Return the argument if it is a collection.

    :raises errors.InvalidName: the argument is no collection, or a single
        string, whose characters would count as names
    """
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        found = 'one string' if isinstance(names, str) else 'no collection'
        raise _no_names(names, found)
    return names


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """The traits and resource classes that one placement service knows.

    :ivar read_at: when they were read, in seconds since the epoch
    """

    traits: frozenset[str]
    resource_classes: frozenset[str]
    read_at: float = dataclasses.field(default=0.0, compare=False)
