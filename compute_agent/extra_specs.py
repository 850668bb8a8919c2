# SPDX-License-Identifier: Apache-2.0
"""A flavor's extra specs and an image's properties, read as a request.

Pure: no I/O, configuration, logging or clock. Traits keep their request group,
as placement expects them; capabilities are Ironic's. Keys for other purposes
are kept unread. A key that looks like a misspelling of a known key is refused,
because it would otherwise be ignored silently.
"""

import dataclasses
import difflib
import enum
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from . import errors
from .tree import names

CAPABILITIES = 'capabilities'
TRAIT = 'trait'
TRAITS_REQUIRED = 'traits_required'

Pairs = Iterable[tuple[str, str]]

# Placement's grammar of a group's suffix since microversion 1.33.
SUFFIX = r'[A-Za-z0-9_-]{1,64}'
_TRAIT_KEY = re.compile(f'{TRAIT}(?P<group>{SUFFIX})?:(?P<name>.*)', re.DOTALL)
# By the grammar, "traits:X" is the trait X in the group "s"; it is a typing
# error.
_PLURAL = re.compile(r's(?![A-Za-z])')
_SPELLINGS = {
    TRAIT: TRAIT,
    CAPABILITIES: CAPABILITIES,
    'capability': CAPABILITIES,
}
_ALIKE = 0.85  # one letter more or less is similar, "train" is not

_Thing = TypeVar('_Thing')


class Need(enum.Enum):
    """The two kinds of conditions on a trait: required and forbidden."""

    REQUIRED = 'required'
    FORBIDDEN = 'forbidden'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TraitRequest:
    """A trait that is required or forbidden.

    :ivar group: the suffix of its request group, '' for the unnamed group
    """

    name: str
    need: Need
    group: str = ''

    def __post_init__(self) -> None:
        names.check_symbol(self.name, 'trait')
        check_group(self.group)

    @property
    def key(self) -> str:
        """The key of this request in a flavor."""
        return f'{TRAIT}{self.group}:{self.name}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A key that requests neither a trait nor a capability, and its value."""

    key: str
    value: str
    of_image: bool = False

    def __str__(self) -> str:
        whose = 'image property ' if self.of_image else ''
        return f'{whose}{self.key}={self.value}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSpecs:
    """The request of a flavor and an image, without repetitions, in order.

    :ivar capabilities: names and values for Ironic
    :ivar others: keys for other purposes
    :raises errors.ConfigError: on construction, if two entries contradict
        each other
    """

    traits: tuple[TraitRequest, ...] = ()
    capabilities: tuple[tuple[str, str], ...] = ()
    others: tuple[Property, ...] = ()

    def __post_init__(self) -> None:
        _check_once((t.key, t.need.value) for t in self.traits)
        _check_once((f'{CAPABILITIES}:{k}', v) for k, v in self.capabilities)
        for of_image in (False, True):
            others = (p for p in self.others if p.of_image is of_image)
            _check_once((p.key, p.value) for p in others)

    @property
    def required(self) -> tuple[str, ...]:
        """The traits that some group requires."""
        return self._named(Need.REQUIRED)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """The traits that some group forbids."""
        return self._named(Need.FORBIDDEN)

    def _named(self, need: Need) -> tuple[str, ...]:
        return _unique(t.name for t in self.traits if t.need is need)


def check_group(name: str) -> str:
    """Return the name of a request group if it is valid; '' is unnamed.

    :raises errors.InvalidName: placement does not accept the name
    """
    if name and not re.fullmatch(SUFFIX, name):
        raise errors.InvalidName(
            f'group {name!r} is not one placement takes: use 1 to 64 letters, '
            'digits, _ and -'
        )
    return name


def parse(properties: Pairs = (), image_properties: Pairs = ()) -> ExtraSpecs:
    """Return the request of these extra specs and image properties.

    :raises errors.ConfigError: a key or a value is malformed, or two
        contradict each other
    :raises errors.InvalidName: a trait is outside the grammar of names
    """
    read = [
        *(_of_flavor(key, value) for key, value in properties),
        *(
            part
            for key, value in image_properties
            for part in _of_image(key, value)
        ),
    ]
    return ExtraSpecs(
        traits=_unique(r for r in read if isinstance(r, TraitRequest)),
        capabilities=_unique(r for r in read if isinstance(r, tuple)),
        others=_unique(r for r in read if isinstance(r, Property)),
    )


def pair(text: str, option: str) -> tuple[str, str]:
    """Return the key and the value of KEY=VALUE.

    :param option: the option it was given with, for the message
    :raises errors.ConfigError: the key or the "=" is missing
    """
    key, equals, value = text.partition('=')
    if not key or not equals:
        raise errors.ConfigError(
            f'{option} {text!r}: write KEY=VALUE, for example '
            f'{TRAIT}:CUSTOM_GPU={Need.REQUIRED.value}'
        )
    return key, value


def _of_flavor(
    key: str, value: str
) -> TraitRequest | tuple[str, str] | Property:
    found = _TRAIT_KEY.fullmatch(key)
    if found and not _PLURAL.match(found['group'] or ''):
        return TraitRequest(
            name=found['name'],
            need=_need(key, value),
            group=found['group'] or '',
        )
    family, _, name = key.partition(':')
    if family == CAPABILITIES and name:
        return name, value
    _check_flavor_key(key)
    return Property(key=key, value=value)


def _need(key: str, value: str) -> Need:
    try:
        return Need(value)
    except ValueError:
        choice = ' or '.join(need.value for need in Need)
        raise errors.ConfigError(
            f'{key}={value}: write {choice} after the "="'
        ) from None


def _check_flavor_key(key: str) -> None:
    """Refuse a key that looks like a misspelling of a known key.

    :raises errors.ConfigError: the key is misspelled; the message has the
        right spelling
    """
    family, colon, name = key.partition(':')
    if key == TRAITS_REQUIRED:
        raise errors.ConfigError(
            f'{key} is a property of images: give it as one, or write '
            f'{TRAIT}:NAME={Need.REQUIRED.value} for each trait'
        )
    if family == CAPABILITIES or (key.startswith(TRAIT) and not colon):
        begin = CAPABILITIES if family == CAPABILITIES else TRAIT
        raise errors.ConfigError(f'{key} names nothing: write {begin}:NAME')
    word, right = _meant(family)
    if right is not None and colon:
        group = family.strip()[len(word) :] if right == TRAIT else ''
        group = group if re.fullmatch(SUFFIX, group) else ''
        raise errors.ConfigError(f'{key}: did you mean {right}{group}:{name}?')


def _of_image(key: str, value: str) -> Iterator[TraitRequest | Property]:
    family, colon, name = key.partition(':')
    if key == TRAITS_REQUIRED:
        for trait in value.split(','):
            yield TraitRequest(name=trait.strip(), need=Need.REQUIRED)
    elif family == TRAIT and colon:
        if value != Need.REQUIRED.value:
            raise errors.ConfigError(
                f'image property {key}={value}: an image can only require '
                f'traits, so write {Need.REQUIRED.value} after the "="'
            )
        yield TraitRequest(name=name, need=Need.REQUIRED)
    else:
        _check_image_key(key)
        yield Property(key=key, value=value, of_image=True)


def _check_image_key(key: str) -> None:
    """Refuse a key that looks like a misspelling of a known key.

    :raises errors.ConfigError: the key is misspelled; the message has the
        right spelling
    """
    family, colon, name = key.partition(':')
    word, right = _meant(family)
    if right != TRAIT:
        return
    if colon:
        raise errors.ConfigError(
            f'image property {key}: did you mean {TRAIT}:{name}?'
        )
    if word == key.lower() or 'requir' in key.lower():
        raise errors.ConfigError(
            f'image property {key}: did you mean {TRAITS_REQUIRED}?'
        )


def _meant(family: str) -> tuple[str, str | None]:
    """Return the first word of a key, and the known word it resembles."""
    word = re.split(r'[^A-Za-z]', family.strip(), maxsplit=1)[0].lower()
    for spelling, right in _SPELLINGS.items():
        alike = difflib.SequenceMatcher(None, word, spelling).ratio()
        if alike > _ALIKE or sorted(word) == sorted(spelling):
            return word, right
    return word, None


def _check_once(pairs: Pairs) -> None:
    seen: dict[str, str] = {}
    for key, value in pairs:
        if seen.setdefault(key, value) != value:
            raise errors.ConfigError(
                f'{key} is asked for as {seen[key]} and as {value}: keep one'
            )


def _unique(things: Iterable[_Thing]) -> tuple[_Thing, ...]:
    return tuple(dict.fromkeys(things))
