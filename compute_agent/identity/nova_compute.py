# SPDX-License-Identifier: Apache-2.0
"""Signs of a nova-compute that reports this host: its process, its files.

An agent without ``[compute_agent] mode`` asks before it reports a host on which
nova-compute lives. ``cmd/wiring/`` connects this module with the node planner.

When a nova-compute with a driver of compute-agent-nova starts, it writes a file
into its ``state_path``, which names its process by boot and start. It is the
sign that this nova-compute reports no resources. The module reads that file,
and finds the processes of nova-compute by their command lines.
``cycle/node/node_checks.py`` asks once in each cycle, ``doctor`` when
it is run.
"""

import dataclasses
import enum
import json
import os
import pathlib
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from .. import file_trust
from . import compute_id

PROC = pathlib.Path('/proc')
_PROGRAM = 'nova-compute'
_MODULE = 'nova.cmd.compute'
_INTERPRETER = 'python'
_WITH_ARGUMENT = frozenset({'-W', '-X'})  # options of the interpreter


def processes(
    proc: pathlib.Path = PROC, program: str = _PROGRAM, module: str = _MODULE
) -> Iterator[str]:
    """Yield the number of each process of a program that is seen.

    :param program: its name; nova-compute's unless it is given
    :param module: its name for ``python -m``
    """
    try:
        found = [path for path in proc.iterdir() if path.name.isdecimal()]
    except OSError:
        return
    for path in found:
        try:
            line = (path / 'cmdline').read_bytes()
        except OSError:
            continue  # it ended, or this user may not see it
        words = line.decode(errors='replace').split('\0')
        if _is_program(words, program, module):
            yield path.name


def _is_program(words: Sequence[str], program: str, module: str) -> bool:
    """Return True for the program, as itself or run by an interpreter."""
    first, *rest = words
    if not _name(first).startswith(_INTERPRETER):
        return _name(first) == program
    words_left = iter(rest)
    for word in words_left:
        if word == '-m':
            return next(words_left, '') == module
        if word in _WITH_ARGUMENT:
            next(words_left, '')
        elif not word.startswith('-'):
            return _name(word) == program
    return False


def _name(word: str) -> str:
    return word.rpartition('/')[2]


#: The name is also that of the driver in nova.conf.
FILE_NAME = 'compute_agent.LibvirtDriver'
_LARGEST = 4096  # bytes of the file
# Seconds in which nova-compute starts: until then it may write the file.
_STARTS = 120.0
# Only a process that sees the kernel's threads sees the processes of all
# containers.
_KERNEL_THREAD = ('2', 'kthreadd')
# nova's own drivers, as nova.conf names them.
_NOVAS_OWN = frozenset({'libvirt.LibvirtDriver', 'ironic.IronicDriver'})
ADVICE = (
    'to report the host in its place, set [DEFAULT] compute_driver = '
    'compute_agent.LibvirtDriver in nova.conf, restart nova-compute and set '
    '[compute_agent] mode = reporter (docs/in-place-of-nova.md); to add to what '
    'nova-compute reports, set mode = companion; where nova-compute is stopped '
    'for good, set mode = owner'
)


class NovaState(enum.Enum):
    """The state of this host's nova-compute, as far as the agent sees it."""

    SILENT = 'it runs and reports no resources'
    STOPPED = 'it does not run'
    STARTS = 'it starts'
    REPORTS = 'it has not said that it reports nothing'
    UNKNOWN = 'it is not seen'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """The state of nova-compute, and the fact behind it for a message."""

    state: NovaState
    fact: str

    def __str__(self) -> str:
        return f'{self.state.value} ({self.fact})'


class NovaMarker:
    """Tells if the nova-compute of this host reports it.

    :param directories: where nova's ``state_path`` may be; those of the uuid
        of the host
    :param hosts: returns the roots of this host that were found by name
    :param drivers: the value of ``[DEFAULT] compute_driver`` in the agent's
        configuration, which has nova.conf in it
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        hosts: Callable[[], Collection[str]],
        *,
        drivers: Sequence[str] = (),
        proc: pathlib.Path = PROC,
    ) -> None:
        self._directories = directories
        self._hosts = hosts
        self._novas_own = sorted(_NOVAS_OWN.intersection(drivers))
        self._proc = proc
        self._in_files: Collection[str] = ()
        self._sign = Sign(state=NovaState.UNKNOWN, fact='')

    def begin(self) -> None:
        """Look at the file and the processes, for a cycle."""
        self._in_files = compute_id.uuid_files(self._directories)
        self._sign = look(self._directories, self._proc)

    def is_of_host(self, uuid: str) -> bool:
        """Return True for the root of this host."""
        return uuid in self._in_files or uuid in self._hosts()

    def is_silent(self, uuid: str) -> bool:
        """Return True if no nova-compute reports the root, for certain.

        That is known of the root of this host only.
        """
        is_silent = self._sign.state is NovaState.SILENT
        return is_silent and self.is_of_host(uuid)

    def reason_to_wait(self, uuid: str) -> str:
        """Return why nothing of the root with this uuid is written, or ''."""
        is_of_host = self.is_of_host(uuid)
        if is_of_host and self._sign.state is NovaState.REPORTS:
            return (
                f'nova-compute reports this host itself ({self._sign.fact}), '
                'so this agent has stepped back and writes nothing of it; '
                f'{ADVICE}'
            )
        if is_of_host and self._sign.state is NovaState.STARTS:
            return (
                f'nova-compute starts ({self._sign.fact}); nothing is written '
                'until it has said whether it reports this host'
            )
        if self._novas_own and not self.is_silent(uuid):
            return (
                'nova.conf gives nova-compute the driver '
                f'{", ".join(self._novas_own)}, which reports the node itself; '
                'nothing is written until [DEFAULT] compute_driver is '
                'compute_agent.LibvirtDriver or compute_agent.IronicDriver'
            )
        return ''


def look(
    directories: Sequence[pathlib.Path],
    proc: pathlib.Path = PROC,
) -> Sign:
    """Return the sign that the file and the processes give now."""
    found = [_read_marker(d / FILE_NAME) for d in dict.fromkeys(directories)]
    markers = [one for one in found if isinstance(one, _Marker)]
    unread = '; '.join(one for one in found if isinstance(one, str) and one)
    novas = set(processes(proc))
    # A process that the file names is nova-compute, whatever its name is.
    started = {
        number: at
        for number in (*novas, *(one.process for one in markers))
        if (at := _started(proc, number))  # it may have ended
    }
    for number, at in started.items():
        for one in markers:
            if at == one.started:
                return Sign(
                    state=NovaState.SILENT,
                    fact=f'process {number}, by {one.path}',
                )
    unmarked = {n: at for n, at in started.items() if n in novas}
    if unmarked:
        return _unmarked(proc, unmarked, unread)
    if _sees_all(proc):
        fact = 'no process of it among all of this host'
        return Sign(state=NovaState.STOPPED, fact=fact)
    newest = min(markers, key=lambda one: one.age, default=None)
    fact = unread or f'neither its process nor its file {FILE_NAME}'
    if newest is not None:
        fact = f'it wrote {newest.path} {newest.age / 60:.0f} minutes ago'
    return Sign(state=NovaState.UNKNOWN, fact=fact)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    """A file of nova-compute.

    :ivar process: its number, in the container of nova-compute
    :ivar started: the boot, and the clock ticks from it to the process's start
    :ivar age: seconds since nova-compute wrote it
    """

    path: pathlib.Path
    process: str
    started: tuple[str, str]
    age: float


def _unmarked(
    proc: pathlib.Path, started: Mapping[str, tuple[str, str]], unread: str
) -> Sign:
    """Return the sign of processes if none of them wrote the file."""
    up = _number((_read(proc / 'uptime').split() or ['0'])[0])
    tick = os.sysconf('SC_CLK_TCK')
    age = {n: up - _number(at) / tick for n, (_, at) in started.items()}
    number = min(age, key=lambda n: age[n])
    # In a container, the time since the boot may be that of the container.
    if 0 <= age[number] < _STARTS:
        return Sign(state=NovaState.STARTS, fact=f'process {number}')
    why = unread or (
        "it runs nova's own driver, or waits for its conductor (its log says "
        'so)'
    )
    return Sign(
        state=NovaState.REPORTS, fact=f'process {number} has no file: {why}'
    )


def _read_marker(path: pathlib.Path) -> _Marker | str | None:
    """Return nova-compute's file, why it is not read, or None if missing."""
    try:
        opened = os.open(path, file_trust.READ_FLAGS)
    except FileNotFoundError:
        return None
    except OSError as exc:
        return f'{path} is not read: {file_trust.why_unread(exc)}'
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            return f'{path} is not read: it is not a regular file'
        if file_trust.others_may_write(found):
            return f'{path} is not read: others may write to it'
        text = os.read(opened, _LARGEST)
    finally:
        os.close(opened)
    try:
        said = json.loads(text)
        process = str(int(said['process']))
        started = (str(said['boot_id']), str(said['started']))
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{path} is not nova-compute's"
    age = max(0.0, time.time() - found.st_mtime)
    return _Marker(path=path, process=process, started=started, age=age)


def _started(proc: pathlib.Path, number: str) -> tuple[str, str] | None:
    """Return when a process was started, None if it has ended."""
    boot = _read(proc / 'sys' / 'kernel' / 'random' / 'boot_id').strip()
    # The name of the program comes before, in brackets, with any character.
    rest = _read(proc / number / 'stat').rpartition(')')[2].split()
    return (boot, rest[19]) if len(rest) > 19 else None


def _sees_all(proc: pathlib.Path) -> bool:
    number, name = _KERNEL_THREAD
    return _read(proc / number / 'comm').strip() == name


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text('utf-8', errors='replace')
    except OSError:
        return ''


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


_BOTH = (
    'nova-compute runs on this host (process {}) and may report it to placement '
    f'too, so that each undoes changes of the other; {ADVICE}'
)
_SILENT = (
    'nova-compute runs on this host and reports no resources ({}): set '
    '[compute_agent] mode = reporter'
)


class NovaCompute:
    """Looks for a nova-compute that reports this host.

    :param directories: where the uuid of this host is kept: the agent's
        directory first, then those where nova may have written it
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        proc: pathlib.Path = PROC,
    ) -> None:
        self._directories = directories
        self._proc = proc
        self._note: str | None = None

    def reason_to_wait(self, uuid: str) -> str:
        """Return why the root with this uuid is not created now, or ''.

        The processes and files are read at each call, because a person may
        stop nova-compute. A root that is not of this host does not wait.
        """
        files = compute_id.uuid_files(self._directories)
        if uuid not in files:
            return ''
        number = next(processes(self._proc), '')
        signs = [
            *([f'it runs as process {number}'] if number else []),
            *self._novas_file(uuid, files[uuid]),
        ]
        if not signs:
            return ''
        return (
            f'nova-compute lives on this host ({", and ".join(signs)}), and '
            'creates the root provider itself; nothing is written until you '
            f'decide which of the two reports the host: {ADVICE}'
        )

    def note(self) -> str:
        """Return a line about a nova-compute that ran when the agent began."""
        if self._note is None:
            number = next(processes(self._proc), '')
            sign = look(self._directories, self._proc)
            if sign.state is NovaState.SILENT:
                self._note = _SILENT.format(sign.fact)
            else:
                self._note = _BOTH.format(number) if number else ''
        return self._note

    def _novas_file(self, uuid: str, file: str) -> list[str]:
        """Return nova-compute's sign in a file that is not this agent's."""
        own = self._directories[0]
        if compute_id.known_host_uuid([own]) == uuid:
            return []
        return [f'the uuid of the host is in its file {file}']
