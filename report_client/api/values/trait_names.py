# SPDX-License-Identifier: Apache-2.0
"""Names of traits: the standard ones, the custom ones, and suggestions.

Pure: no I/O, configuration, logging or clock. The standard traits are those of
the os-traits package that is installed here. Only placement decides which
traits exist.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

import os_traits

from compute_agent import errors
from compute_agent.tree import names

# Similarity from which a name is suggested, from 0 to 1. Standard names share
# long prefixes; a custom name may have two of four letters exchanged.
_CLOSE = 0.8
_CLOSE_CUSTOM = 0.75
_IN_ONE_QUERY = 2000  # characters of names; servers take lines of 4096
_NOT_SYMBOL = re.compile(r'[^A-Z0-9_]+')


@functools.cache
def standard() -> frozenset[str]:
    """Return the traits of the os-traits package that is installed here."""
    return frozenset(os_traits.get_traits())


def is_known_here(name: str) -> bool:
    """Return True if a trait is custom, or in the os-traits installed here."""
    return names.is_custom(name) or name in standard()


def check(name: str) -> str:
    """Return the name of a trait, if it is in the grammar.

    :raises errors.InvalidName: the name is outside the grammar; the message
        suggests a name
    """
    try:
        return names.check_symbol(name, 'trait')
    except errors.InvalidName as exc:
        hint = did_you_mean(name) if isinstance(name, str) else ''
        raise errors.InvalidName(f'{exc}{hint}') from None


def check_all(traits: Iterable[str]) -> frozenset[str]:
    """Return the set of these traits.

    :raises errors.InvalidName: one of them is outside the grammar, or the
        argument is no collection
    """
    return frozenset(check(name) for name in names.check_collection(traits))


def check_custom(name: str, verb: str) -> str:
    """Return the name of a custom trait.

    :param verb: the action, for the message: "add" or "remove"
    :raises errors.InvalidName: the name is that of a standard trait, or is
        outside the grammar of custom traits
    """
    check(name)
    if name in standard():
        raise errors.InvalidName(
            f'cannot {verb} {name}: it is a standard trait, and those come '
            "with placement's os-traits"
        )
    if name == names.CUSTOM_PREFIX:
        raise errors.InvalidName(
            f'cannot {verb} {name}: the name of a custom trait continues '
            f'after {names.CUSTOM_PREFIX}'
        )
    if not names.is_custom(name):
        raise errors.InvalidName(
            f'cannot {verb} {name}: custom traits begin with '
            f"{names.CUSTOM_PREFIX}, and standard ones come with placement's "
            f'os-traits{did_you_mean(name)}'
        )
    return name


def did_you_mean(name: str, among: Iterable[str] = ()) -> str:
    """Return '; did you mean …?', or '' if no name is similar.

    :param among: further names to suggest, besides the standard ones
    """
    found = nearest(name, {*standard(), *among})
    return f'; did you mean {found}?' if found else ''


def nearest(name: str, among: Iterable[str]) -> str | None:
    """Return the most similar of these names, or None.

    A different case or separator counts less than a different letter. The
    prefix ``CUSTOM_`` does not make two names similar. The end of only one name
    means that name: ``AVX512F``.
    """
    spelled = _NOT_SYMBOL.sub('_', name.strip().upper())
    candidates = set(among) - {name}
    if spelled in candidates:
        return spelled
    if spelled != name and names.is_custom(spelled):
        return spelled[: names.MAX_NAME]
    custom = names.is_custom(spelled)
    tails = {
        candidate.removeprefix(names.CUSTOM_PREFIX): candidate
        for candidate in candidates
        if names.is_custom(candidate) is custom
    }
    tail = spelled.removeprefix(names.CUSTOM_PREFIX)
    close = _CLOSE_CUSTOM if custom else _CLOSE
    near = difflib.get_close_matches(tail, sorted(tails), 1, close)
    if near:
        return tails[near[0]]
    ends = [
        one for one in candidates if spelled and one.endswith(f'_{spelled}')
    ]
    return ends[0] if len(ends) == 1 else None


def not_creatable(missing: Iterable[str], *, create: bool) -> list[str]:
    """Return the missing names that cannot be created.

    :param create: True if custom names may be created
    """
    return [n for n in missing if not (create and names.is_custom(n))]


def in_queries(traits: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield names in parts that each fit into one query."""
    part: list[str] = []
    length = 0
    for name in traits:
        if part and length + len(name) > _IN_ONE_QUERY:
            yield part
            part, length = [], 0
        part.append(name)
        length += len(name) + len(',!')
    if part:
        yield part
