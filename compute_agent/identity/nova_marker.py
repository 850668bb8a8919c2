# SPDX-License-Identifier: Apache-2.0
"""The sign that the nova-compute of this host reports no resources.

A nova-compute with a driver of compute-agent-nova writes a file into its
``state_path`` when it starts, which names its process by boot and start. This
module reads the file and looks at the processes.
``cycle/planning/reporter_checks.py`` asks before each plan of a reporter.
"""

import dataclasses
import enum
import json
import os
import pathlib
import time
from collections.abc import Collection, Sequence

from . import compute_id, nova_compute

FILE_NAME = 'compute_agent_reports'
_PROC = pathlib.Path('/proc')
# Seconds in which nova-compute starts: until then it may write the file.
_STARTS = 120.0
# Only who sees the kernel's threads sees the processes of all containers.
_KERNEL_THREAD = ('2', 'kthreadd')
_ADVICE = (
    'for this agent to report it, restart nova-compute with [DEFAULT] '
    'compute_driver = compute_agent.LibvirtDriver (docs/in-place-of-nova.md); '
    'to add to what nova-compute reports, set [compute_agent] mode = companion'
)


class Finding(enum.Enum):
    """The result of a look at this host."""

    SILENT = 'nova-compute runs and reports no resources'
    STOPPED = 'nova-compute does not run'
    STARTS = 'nova-compute starts'
    REPORTS = 'nova-compute reports the host'
    UNKNOWN = 'it is not known whether nova-compute reports the host'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A finding, and the fact behind it for a message."""

    finding: Finding
    fact: str

    def __str__(self) -> str:
        return f'{self.finding.value} ({self.fact})'


class NovaMarker:
    """Tells if the nova-compute of this host reports it.

    :param directories: where nova's ``state_path`` may be; those of the uuid
        of the host
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        proc: pathlib.Path = _PROC,
    ) -> None:
        self._directories = directories
        self._proc = proc
        self._uuids: Collection[str] = ()
        self._sign = Sign(finding=Finding.UNKNOWN, fact='')

    def begin(self) -> None:
        """Look at the file and the processes, for a cycle."""
        self._uuids = compute_id.uuid_files(self._directories)
        self._sign = look(self._directories, self._proc)

    def is_silent(self, uuid: str) -> bool:
        """Return True if no nova-compute reports the root, for certain.

        That is known of the root of this host only.
        """
        return uuid in self._uuids and self._sign.finding is Finding.SILENT

    def reason_to_wait(self, uuid: str) -> str:
        """Return why nothing of the root with this uuid is written, or ''."""
        sign = self._sign
        if uuid not in self._uuids:
            return ''
        match sign.finding:
            case Finding.REPORTS:
                return (
                    f'nova-compute reports this host itself ({sign.fact}), so '
                    'this agent has stepped back and writes nothing of it; '
                    f'{_ADVICE}'
                )
            case Finding.STARTS:
                return (
                    f'nova-compute starts ({sign.fact}); nothing is written '
                    'until it has said whether it reports this host'
                )
        return ''


def look(
    directories: Sequence[pathlib.Path], proc: pathlib.Path = _PROC
) -> Sign:
    """Return the sign that the file and the processes give now."""
    found = _newest(directories)
    started = {n: _started(proc, n) for n in nova_compute.processes(proc)}
    for number, at in started.items():
        if found is not None and at == found.started:
            return Sign(
                finding=Finding.SILENT,
                fact=f'process {number}, by {found.path}',
            )
    if started:
        return _unmarked(proc, started)
    if _sees_all(proc):
        return Sign(finding=Finding.STOPPED, fact='no process of it is seen')
    if found is None:
        fact = f'neither its process nor its file {FILE_NAME} is seen'
    else:
        fact = (
            'its process is not seen; it wrote '
            f'{found.path} {found.age / 60:.0f} minutes ago'
        )
    return Sign(finding=Finding.UNKNOWN, fact=fact)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Marker:
    """A file of nova-compute.

    :ivar started: when its process was started, as the kernel counts
    :ivar age: seconds since nova-compute wrote it
    """

    path: pathlib.Path
    started: tuple[str, str]
    age: float


def _unmarked(proc: pathlib.Path, started: dict[str, tuple[str, str]]) -> Sign:
    """Return the sign of processes of which none wrote the file."""
    up = _number((_read(proc / 'uptime').split() or ['0'])[0])
    tick = os.sysconf('SC_CLK_TCK')
    youngest = {n: up - _number(at) / tick for n, (_, at) in started.items()}
    number = min(youngest, key=lambda n: youngest[n])
    if youngest[number] < _STARTS:
        return Sign(finding=Finding.STARTS, fact=f'process {number}')
    return Sign(
        finding=Finding.REPORTS,
        fact=f'process {number} runs without a driver of compute-agent-nova',
    )


def _newest(directories: Sequence[pathlib.Path]) -> _Marker | None:
    found = []
    for path in dict.fromkeys(d / FILE_NAME for d in directories):
        try:
            touched = path.stat().st_mtime
            said = json.loads(path.read_text('utf-8'))
            started = (str(said['boot_id']), str(said['started']))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not there, not readable, or not nova-compute's
        age = max(0.0, time.time() - touched)
        found.append(_Marker(path=path, started=started, age=age))
    return min(found, key=lambda one: one.age, default=None)


def _started(proc: pathlib.Path, number: str) -> tuple[str, str]:
    """Return the boot, and the clock ticks from it to the process's start."""
    boot = _read(proc / 'sys' / 'kernel' / 'random' / 'boot_id').strip()
    # The name of the program comes before, in brackets, with any character.
    rest = _read(proc / number / 'stat').rpartition(')')[2].split()
    return boot, rest[19] if len(rest) > 19 else ''


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
