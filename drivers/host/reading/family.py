# SPDX-License-Identifier: Apache-2.0
"""Collects the facts of one family, or of one device, while they are read.

It does I/O through ``HostFiles``. A value that cannot be read makes its fact
unknown and nothing else. A file that does not exist makes a fact unknown, too,
unless the kernel's interface says that a missing file means something; the
modules of the families say so with ``absent``.
"""

from collections.abc import Callable, Iterable

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact, Value

_SHOWN = 60  # characters of a text that cannot be parsed


class Family:
    """The facts of one family, or of one device, while they are read.

    A path that does not begin with a slash is below ``folder``; without a path,
    it is the name of the fact. ``absent`` is the value of a fact if its file
    does not exist; if it is None, the fact is then unknown. Such a value counts
    only if the folder ``given`` exists: without it, the host shows nothing of
    the kind at all (a container without /sys).

    :ivar folder: the folder of the device, or of the family
    """

    def __init__(self, name: str, files: HostFiles, folder: str = '') -> None:
        self._name = name
        self.files = files
        self.folder = folder
        self._facts: dict[str, Fact] = {}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts so far."""
        return tuple(self._facts.values())

    def device(self, name: str) -> Device:
        """Return the facts so far, as the facts of a device."""
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

    def is_any(
        self, attribute: str, of: str, source: str, reason: str
    ) -> None:
        """Add if another fact has a value that is not empty.

        :param reason: why this fact is unknown while the other fact is unknown
        """
        value = self.value(of)
        if value is None:
            self.unknown(attribute, reason, source)
        else:
            self.known(attribute, bool(value), source)

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
        path: str = '',
        parse: Callable[[str], Value] = parsing.line,
        absent: Value = None,
        given: str = '',
    ) -> None:
        """Add the fact that a file of one value tells."""
        self._found(
            attribute, path, lambda p: parse(self.text(p)), absent, given
        )

    def link(
        self,
        attribute: str,
        path: str = '',
        absent: Value = None,
        given: str = '',
    ) -> None:
        """Add the name that a symbolic link leads to."""
        self._found(attribute, path, self.files.link, absent, given)

    def names(
        self,
        attribute: str,
        path: str = '',
        absent: Value = None,
        given: str = '',
    ) -> None:
        """Add the names in a folder."""
        self._found(
            attribute,
            path,
            lambda p: tuple(self.files.listed(p)),
            absent,
            given,
        )

    def counted(
        self,
        attribute: str,
        path: str,
        counts: Callable[[str], object] = bool,
        absent: Value = None,
        given: str = '',
    ) -> None:
        """Add the number of these names in a folder."""
        self._found(
            attribute,
            path,
            lambda p: sum(1 for name in self.files.listed(p) if counts(name)),
            absent,
            given,
        )

    def text(self, path: str) -> str:
        """Return the content of a file, without blanks around it."""
        return self.files.read(path).strip()

    def texts(
        self,
        paths: Iterable[str],
        parse: Callable[[str], str] = str,
    ) -> tuple[str, ...]:
        """Return the different contents of some files, sorted."""
        return tuple(sorted({parse(self.text(path)) for path in paths}))

    def _found(
        self,
        attribute: str,
        path: str,
        read: Callable[[str], Value],
        absent: Value,
        given: str,
    ) -> None:
        place = path or attribute
        if not place.startswith('/'):
            place = f'{self.folder}/{place}'

        def found() -> Value:
            try:
                return read(place)
            except FileNotFoundError:
                if absent is None or not self.files.exists(
                    given or self.folder
                ):
                    raise
                return absent

        self.computed(attribute, place, found)

    def _add(
        self, attribute: str, value: Value, source: str, unknown: str = ''
    ) -> None:
        self._facts[attribute] = Fact(
            name=f'{self._name}.{attribute}',
            value=value,
            source=source,
            unknown=unknown,
        )


def listed(files: HostFiles, folder: str, given: str) -> list[str]:
    """Return the names in a folder; empty if it does not exist.

    :param given: a folder that the host has if it shows anything of the kind
    :raises OSError: a folder cannot be read, or ``given`` does not exist
    """
    try:
        return files.listed(folder)
    except FileNotFoundError:
        files.listed(given)
        return []


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
    read: Callable[[str, HostFiles], Device | None],
    names: Callable[[], list[str]] | None = None,
) -> tuple[Device, ...] | Fact:
    """Return the devices of a family, or an unknown fact for the list.

    The list is empty if /sys is there and has no such folder: the kernel then
    has no driver for devices of the kind. A device that ``read`` does not want,
    or that goes away meanwhile, is left out.

    :param names: returns the names of the devices; None for those in ``path``
    """
    try:
        found = names() if names else files.listed(path)
    except FileNotFoundError:
        if files.changed(path) is not None:
            return _unlisted(family, path, 'a device went away meanwhile')
        if files.names('/sys'):
            return ()
        return _unlisted(family, path, 'the host shows no /sys')
    except (OSError, ValueError) as exc:
        return _unlisted(family, path, reason(exc))
    read_all = (read(name, files) for name in found)
    return tuple(device for device in read_all if device is not None)


def _unlisted(family: str, path: str, why: str) -> Fact:
    return Fact(name=f'{family}.devices', value=None, source=path, unknown=why)
