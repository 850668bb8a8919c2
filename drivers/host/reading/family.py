# SPDX-License-Identifier: Apache-2.0
"""Collects the facts of one family, or of one device, while they are read.

It does I/O through ``HostFiles``. A value that cannot be read makes its fact
unknown and nothing else. A file that does not exist makes a fact unknown, too,
unless the kernel's interface says that a missing file means something; the
modules of the families say so with ``Absent``.
"""

import dataclasses
from collections.abc import Callable

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact, Value

_SHOWN = 60  # characters of a text that cannot be parsed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The value of a fact if its file does not exist.

    :ivar value: the value
    :ivar given: a folder that must exist for this: without it, the host shows
        nothing of the kind at all (a container without /sys); empty if the
        caller knows that it does
    """

    value: Value
    given: str = ''


class Family:
    """The facts of one family, in the making."""

    def __init__(self, name: str, files: HostFiles) -> None:
        self._name = name
        self.files = files
        self._facts: dict[str, Fact] = {}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts so far."""
        return tuple(self._facts.values())

    def device(self, name: str) -> Device:
        """Return the facts so far as those of a device."""
        return Device(family=self._name, name=name, facts=self._facts)

    def value(self, attribute: str) -> Value:
        """Return the value of a fact so far; None if it is unknown."""
        found = self._facts.get(attribute)
        return None if found is None or found.unknown else found.value

    def known(self, attribute: str, value: Value, source: str) -> None:
        """Add a fact that is known."""
        self._add(attribute, value, source)

    def unknown(self, attribute: str, reason: str, source: str) -> None:
        """Add a fact that is unknown."""
        self._add(attribute, None, source, reason)

    def computed(
        self, attribute: str, source: str, compute: Callable[[], Value]
    ) -> None:
        """Add a fact; it is unknown if ``compute`` raises OSError, ValueError."""
        try:
            self._add(attribute, compute(), source)
        except (OSError, ValueError) as exc:
            self._add(attribute, None, source, reason(exc))

    def file(
        self,
        attribute: str,
        path: str,
        parse: Callable[[str], Value] = parsing.line,
        absent: Absent | None = None,
    ) -> None:
        """Add the fact that a file of one value tells."""
        files = self.files
        self.computed(
            attribute,
            path,
            lambda: or_absent(
                files, absent, lambda: parse(files.read(path).strip())
            ),
        )

    def link(self, attribute: str, path: str, absent: Absent) -> None:
        """Add the name that a symbolic link leads to."""
        self.computed(
            attribute,
            path,
            lambda: or_absent(
                self.files, absent, lambda: self.files.link(path)
            ),
        )

    def names(
        self, attribute: str, path: str, absent: Absent | None = None
    ) -> None:
        """Add the names in a folder."""
        self.computed(
            attribute,
            path,
            lambda: or_absent(
                self.files, absent, lambda: tuple(self.files.listed(path))
            ),
        )

    def _add(
        self, attribute: str, value: Value, source: str, unknown: str = ''
    ) -> None:
        self._facts[attribute] = Fact(
            name=f'{self._name}.{attribute}',
            value=value,
            source=source,
            unknown=unknown,
        )


def or_absent(
    files: HostFiles, absent: Absent | None, read: Callable[[], Value]
) -> Value:
    """Return what is read, or the value of a file that does not exist.

    :raises OSError: it cannot be read, or nothing of the kind is there
    """
    try:
        return read()
    except FileNotFoundError:
        if absent is None or (absent.given and not files.exists(absent.given)):
            raise
        return absent.value


def reason(exc: Exception) -> str:
    """Return why a value is unknown, in a few words."""
    if isinstance(exc, FileNotFoundError):
        return 'the host has no such file'
    if isinstance(exc, OSError):
        return exc.strerror or type(exc).__name__
    return parsing.line(str(exc))[:_SHOWN] or type(exc).__name__


def devices(
    family: str,
    path: str,
    files: HostFiles,
    names: Callable[[], list[str]],
    read: Callable[[str], Device | None],
) -> tuple[Device, ...] | Fact:
    """Return the devices of a family, or an unknown fact for the list.

    The list is empty if /sys is there and has no such folder: the kernel then
    has no driver for devices of the kind. A device that ``read`` does not want,
    or that goes away meanwhile, is left out.
    """
    try:
        found = names()
    except FileNotFoundError:
        if files.changed(path) is not None:
            return _unlisted(family, path, 'a device went away meanwhile')
        if files.names('/sys'):
            return ()
        return _unlisted(family, path, 'the host shows no /sys')
    except (OSError, ValueError) as exc:
        return _unlisted(family, path, reason(exc))
    return tuple(
        device for name in found if (device := read(name)) is not None
    )


def _unlisted(family: str, path: str, why: str) -> Fact:
    return Fact(name=f'{family}.devices', value=None, source=path, unknown=why)
