# SPDX-License-Identifier: Apache-2.0
"""Which traits are standard, which names are custom, and which are meant.

Pure: no I/O, configuration, logging or clock. Standard traits are those of the
os-traits that is installed here; placement has the last word on what exists.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Sequence

import os_traits

from compute_agent import errors
from compute_agent.tree import names

_CLOSE = 0.8  # standard names share long beginnings
_CLOSE_CUSTOM = 0.75  # takes two letters of four exchanged
_NOT_SYMBOL = re.compile(r'[^A-Z0-9_]+')


@functools.cache
def standard() -> frozenset[str]:
    """Return the traits of the os-traits that is installed here."""
    return frozenset(os_traits.get_traits())


def is_known_here(name: str) -> bool:
    """Whether a trait is custom, or of the os-traits installed here."""
    return names.is_custom(name) or name in standard()


def check(name: str) -> str:
    """Return a name in the grammar of traits.

    :raises errors.InvalidName: it is outside, with the name that may be meant
    """
    try:
        return names.check_symbol(name, 'trait')
    except errors.InvalidName as exc:
        hint = did_you_mean(name) if isinstance(name, str) else ''
        raise errors.InvalidName(f'{exc}{hint}') from None


def check_custom(name: str, verb: str) -> str:
    """Return the name of a custom trait.

    :param verb: what would be done with it, for the message
    :raises errors.InvalidName: it is a standard one, or no name at all
    """
    check(name)
    if name in standard():
        raise errors.InvalidName(
            f'{name} is a standard trait, and no one can {verb} those: they '
            "come with placement's os-traits"
        )
    if name == names.CUSTOM_PREFIX:
        raise errors.InvalidName(
            f'{name} is not a name one can {verb}: something must follow '
            f'{names.CUSTOM_PREFIX}'
        )
    if not names.is_custom(name):
        raise errors.InvalidName(
            f'{name} is not a name one can {verb}: custom traits begin with '
            f'{names.CUSTOM_PREFIX}{did_you_mean(name)}'
        )
    return name


def did_you_mean(name: str, among: Iterable[str] = ()) -> str:
    """Return '; did you mean …?', or '' where nothing comes near.

    :param among: names that may be meant, besides the standard ones
    """
    found = nearest(name, {*standard(), *among})
    return f'; did you mean {found}?' if found else ''


def nearest(name: str, among: Iterable[str]) -> str | None:
    """Return the name among these that this one is nearly, or None.

    Another case or another separator is nearer than another letter; the
    ``CUSTOM_`` that two names share does not make them alike.
    """
    spelled = _NOT_SYMBOL.sub('_', name.strip().upper())
    candidates = set(among) - {name}
    if spelled in candidates:
        return spelled
    if spelled != name and names.is_custom(spelled):
        return spelled[: names.MAX_NAME]
    custom = names.is_custom(spelled)
    tails = {
        one.removeprefix(names.CUSTOM_PREFIX): one
        for one in candidates
        if names.is_custom(one) is custom
    }
    tail = spelled.removeprefix(names.CUSTOM_PREFIX)
    close = _CLOSE_CUSTOM if custom else _CLOSE
    near = difflib.get_close_matches(tail, sorted(tails), 1, close)
    return tails[near[0]] if near else None


def not_to_be_created(missing: Sequence[str], *, create: bool) -> list[str]:
    """Return those of these that stand in the way.

    :param create: whether custom ones are to be created
    """
    return [n for n in missing if not (create and names.is_custom(n))]


def create_hint(missing: Sequence[str]) -> str:
    """Return which of these --create would create, as the end of a line."""
    custom = [name for name in missing if names.is_custom(name)]
    if not custom:
        return ''
    if len(custom) < len(missing):
        return f'; --create creates {", ".join(custom)}'
    return f'; --create creates {"it" if len(custom) == 1 else "them"}'
