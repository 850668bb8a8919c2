# SPDX-License-Identifier: Apache-2.0
"""Names that may be names of the same host.

Pure: no I/O, configuration, logging or clock. A host has several names: with
its domain and without, in upper and lower case. Two names with different
domains are two hosts.
"""

import ipaddress
from collections.abc import Iterable

from ..tree import names


def key(name: str) -> str:
    """Return the host name in lower case without its domain.

    Similar names have the same key. An address and a uuid are their own keys.
    """
    plain = _plain(name)
    if names.is_uuid(plain) or _is_address(plain):
        return plain
    return plain.partition('.')[0] or plain


def are_similar(one: str, other: str) -> bool:
    """Return True if both names may be names of the same host."""
    if key(one) != key(other):
        return False
    one, other = _plain(one), _plain(other)
    return one == other or '.' not in one or '.' not in other


class Index:
    """A collection of names, to look up those similar to another name."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_key: dict[str, list[str]] = {}
        for name in known:
            self._by_key.setdefault(key(name), []).append(name)

    def similar(self, name: str) -> list[str]:
        """Return the names that may be names of the same host."""
        found = self._by_key.get(key(name), ())
        return [other for other in found if are_similar(name, other)]


def _plain(name: str) -> str:
    return name.rstrip('.').casefold()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
