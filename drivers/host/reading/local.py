# SPDX-License-Identifier: Apache-2.0
"""The facts that an operator's scripts write into folders.

It does I/O. The files are read and never run. A file that others could have
written, or that is no regular file, is refused with a line; the rest is read.
While a file is refused, ``local`` may have facts that are not listed. A fact
that has expired, or that no file gives, does not exist.
"""

import dataclasses
import datetime as dt
import os
from collections.abc import Callable, Iterator, Sequence

from compute_agent import file_trust, yaml_file

from ..facts import local_file
from ..facts.fact import Fact

LARGEST = 64 * 1024  # bytes of a file, as in node-feature-discovery
MOST = 256  # files of a folder

Clock = Callable[[], dt.datetime]
_Key = tuple[int, int, int, int, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The facts of all files.

    :ivar faults: a line for each file or fact that was left out
    :ivar incomplete: the first file or folder that was refused, so that facts
        may be missing; empty if none was
    """

    facts: tuple[Fact, ...]
    faults: tuple[str, ...]
    incomplete: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """One reading of a file: its facts, or a line about its fault."""

    key: _Key
    facts: tuple[local_file.LocalFact, ...] = ()
    fault: str = ''


def now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)


class LocalFacts:
    """The facts in the files of some folders.

    :param clock: tells the time, for facts that expire
    """

    def __init__(self, folders: Sequence[str], clock: Clock = now) -> None:
        self._folders = folders
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    def read(self) -> Answer:
        """Return the facts; if two files have a name, the first file counts.

        If a file has a name twice, its last line counts.
        """
        faults: list[str] = []
        twice: list[str] = []
        kept: dict[str, _Kept] = {}
        found: dict[str, Fact] = {}
        at = self._clock()
        for path in self._paths(faults):
            kept[path] = reading = self._read(path)
            if reading.fault:
                faults.append(reading.fault)
            valid = {
                fact.name: fact
                for fact in reading.facts
                if fact.expires is None or at < fact.expires
            }
            for fact in valid.values():
                _add(found, fact, path, twice)
        self._kept = kept
        return Answer(
            facts=tuple(found.values()),
            faults=(*faults, *twice),
            incomplete=faults[0] if faults else '',
        )

    def _paths(self, faults: list[str]) -> Iterator[str]:
        for folder in self._folders:
            try:
                problem = file_trust.distrust(os.stat(folder), folder)  # noqa: PTH116 (as below)
                names = sorted(os.listdir(folder))  # noqa: PTH208
            except FileNotFoundError:
                continue
            except OSError as exc:
                faults.append(f'{folder} cannot be read: {exc.strerror}')
                continue
            if problem:
                faults.append(f'{folder} is not read: {problem}')
                continue
            shown = [name for name in names if not name.startswith('.')]
            if len(shown) > MOST:
                faults.append(
                    f'{folder} has more than {MOST} files; only the first '
                    f'{MOST} by name are read'
                )
            yield from (f'{folder}/{name}' for name in shown[:MOST])

    def _read(self, path: str) -> _Kept:
        """Return the facts of a file; a file that did not change is kept."""
        try:
            descriptor = file_trust.open_file(path)
        except OSError as exc:
            return _Kept(
                key=(0,) * 5, fault=_refused(path, file_trust.why_unread(exc))
            )
        try:
            return self._opened(path, descriptor)
        finally:
            os.close(descriptor)

    def _opened(self, path: str, descriptor: int) -> _Kept:
        status = os.fstat(descriptor)
        key = (
            status.st_ino,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_size,
            status.st_mode,
        )
        before = self._kept.get(path)
        if before is not None and before.key == key:
            return before
        problem = file_trust.distrust_file(status, path, LARGEST)
        if problem:
            return _Kept(key=key, fault=_refused(path, problem))
        try:
            content = _content(descriptor)
            text = content.decode('utf-8')
            return _Kept(key=key, facts=local_file.parse(text, path))
        except yaml_file.FileError as exc:
            return _Kept(key=key, fault=str(exc))
        except UnicodeDecodeError:
            return _Kept(key=key, fault=_refused(path, 'it is not UTF-8'))
        except OSError as exc:
            return _Kept(
                key=(0,) * 5, fault=_refused(path, file_trust.why_unread(exc))
            )


def _add(
    found: dict[str, Fact],
    fact: local_file.LocalFact,
    path: str,
    twice: list[str],
) -> None:
    name = f'local.{fact.name}'
    if name in found:
        twice.append(
            f'{path}: {name} is left out, because {found[name].source} has it, '
            'too; remove it from one of them'
        )
        return
    found[name] = Fact(name=name, value=fact.value, source=path)


def _content(descriptor: int) -> bytes:
    """Return the content; a file that grew meanwhile is cut."""
    with os.fdopen(descriptor, 'rb', closefd=False) as file:
        return file.read(LARGEST)


def _refused(path: str, why: str) -> str:
    return f'{path} is not read: {why}'
