# SPDX-License-Identifier: Apache-2.0
"""The grammar of placement's names, and the few names the agent knows.

Pure: no I/O, configuration, logging or clock. Traits and resource classes
share one grammar (placement's API: ``^[A-Z0-9_]+$``, at most 255 characters,
custom ones begin with ``CUSTOM_``); seed 000 has the traits' part of it.
"""

import dataclasses
import re
import uuid as uuidlib
from collections.abc import Iterable
from typing import TypeVar

from .. import error_text, errors

_T = TypeVar('_T')

CUSTOM_PREFIX = 'CUSTOM_'
MAX_NAME = 255
MAX_PROVIDER_NAME = 200

COMPUTE_NODE = 'COMPUTE_NODE'
COMPUTE_STATUS_DISABLED = 'COMPUTE_STATUS_DISABLED'
MISC_SHARES_VIA_AGGREGATE = 'MISC_SHARES_VIA_AGGREGATE'
OWNER_PREFIX = 'OWNER_'
OWNER_NOVA = 'OWNER_NOVA'

_SYMBOL = re.compile(r'[A-Z0-9_]{1,255}')
_UUID = re.compile(r'[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}')
_NOT_ALPHANUMERIC = re.compile(r'[^0-9A-Za-z]+')


def is_custom(name: str) -> bool:
    """Whether this trait or resource class is an operator's own."""
    return name.startswith(CUSTOM_PREFIX) and len(name) > len(CUSTOM_PREFIX)


def check_symbol(name: object, what: str) -> str:
    """Return a trait or resource class name, or say what is wrong with it.

    :param what: 'trait' or 'resource class', for the message
    :raises InvalidName: not a string, or outside the grammar
    """
    if not isinstance(name, str) or not _SYMBOL.fullmatch(name):
        raise errors.InvalidName(
            f'{what} {error_text.excerpt(name)} is not a name placement takes: use 1 '
            f'to {MAX_NAME} of the characters A-Z, 0-9 and _'
        )
    return name


def check_traits(names: Iterable[str]) -> frozenset[str]:
    """Return the set of these traits.

    :raises InvalidName: one of them is outside the grammar, or a bare string
        came in place of a collection
    """
    return frozenset([check_symbol(n, 'trait') for n in collection(names)])


def check_aggregates(uuids: Iterable[str]) -> frozenset[str]:
    """Return the set of these aggregate uuids.

    :raises InvalidName: one of them is no uuid, or a bare string came
    """
    return frozenset([check_uuid(u, 'aggregate') for u in collection(uuids)])


def check_uuid(text: object, what: str) -> str:
    """Return this uuid as placement spells it: lower case, with dashes.

    :raises InvalidName: it is none
    """
    if not is_uuid(text):
        raise errors.InvalidName(
            f'{what} {error_text.excerpt(text)} is not a uuid: write it as 32 '
            'hexadecimal digits in five groups'
        )
    return str(text).lower()


def is_uuid(text: object) -> bool:
    """Whether this is a uuid in its usual spelling, dashes included."""
    if not isinstance(text, (str, uuidlib.UUID)):
        return False
    return _UUID.fullmatch(str(text)) is not None


def check_provider_name(name: object) -> str:
    """Return a provider's name.

    :raises InvalidName: empty, longer than 200 characters, or no string
    """
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_PROVIDER_NAME:
        raise errors.InvalidName(
            f'provider name {error_text.excerpt(name)} is not one placement takes: '
            f'use 1 to {MAX_PROVIDER_NAME} characters'
        )
    return name


def custom_name(text: str) -> str:
    """Return ``CUSTOM_`` and this text in the grammar of names.

    Runs of other characters become one underscore and letters upper case;
    the prefix is always put before, as nova does it: ``CUSTOM_GOLD`` gives
    ``CUSTOM_CUSTOM_GOLD``.

    :raises InvalidName: the result is longer than 255 characters, or the text
        is empty
    """
    name = CUSTOM_PREFIX + _NOT_ALPHANUMERIC.sub('_', text).upper()
    return check_symbol(name if text else text, 'name')


def collection(some: Iterable[_T]) -> Iterable[_T]:
    """Return what came, if it is a collection.

    :raises InvalidName: it is none, or a bare string, whose letters would be
        taken for what is in it
    """
    if isinstance(some, (str, bytes)) or not isinstance(some, Iterable):
        what = 'one string' if isinstance(some, str) else 'no collection'
        raise errors.InvalidName(
            f'{error_text.excerpt(some)} is {what} where a collection of names belongs'
        )
    return some


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """The traits and resource classes that one placement service knows.

    :ivar read_at: when it was asked, in seconds since the epoch
    """

    traits: frozenset[str]
    resource_classes: frozenset[str]
    read_at: float = dataclasses.field(default=0.0, compare=False)
