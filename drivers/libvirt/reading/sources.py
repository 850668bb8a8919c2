# SPDX-License-Identifier: Apache-2.0
"""The sources of a description: everything that the driver reads of a host.

It does no other I/O than that of the sources it names. ``driver.py`` asks for
the sources of this host; a test gives the driver those of a recorded host.

``Commands`` runs the host's programs. A program gets no shell, a deadline and a
limit on its output. A program that hangs in the kernel cannot be killed, so it
is not started again while it is there. A failure is an error that names the
program.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import threading
import typing
from collections.abc import Callable, Sequence

from oslo_config import cfg

from compute_agent import error_text, errors

from ... import host_files, one_host
from ...libvirt_python import connection
from ...libvirtd import hypervisor
from ..cpu.findings import ReportedFlags
from . import pycpuinfo

DEADLINE = 30.0
_SHOWN = 120  # characters of a program's message
_GRACE = 1.0  # seconds for a killed program to end
_LARGEST = 16 * 1024 * 1024
# Ceph's programs begin a line of their log with its time and thread.
_LOG_PREFIX = re.compile(r'^\d{4}-\d\d-\d\d[T ]\S+ [0-9a-f]+ +-?\d+ +')


#: Runs a program and returns its output; raises DriverError if it fails.
Runner = Callable[[Sequence[str]], str]


class Commands:
    """The programs of this host.

    :param deadline: the seconds that a program may take
    """

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._lock = threading.Lock()
        self._hanging: dict[tuple[str, ...], subprocess.Popen[bytes]] = {}

    def __call__(self, argv: Sequence[str]) -> str:
        """Return what the program prints.

        :raises errors.DriverError: the program failed, or took too long
        """
        key = tuple(argv)
        with self._lock:
            self._check_hanging(key)
            return self._run(key)

    def _check_hanging(self, key: tuple[str, ...]) -> None:
        last = self._hanging.get(key)
        if last is None:
            return
        if last.poll() is None:
            raise errors.DriverError(
                f'{key[0]} still hangs, and cannot be killed'
            )
        _close(self._hanging.pop(key))

    def _run(self, key: tuple[str, ...]) -> str:
        process = _start(key)
        try:
            out, err = process.communicate(timeout=self._deadline)
        except subprocess.TimeoutExpired as exc:
            self._kill(key, process)
            raise errors.DriverError(
                f'{key[0]} did not finish within {self._deadline:g} seconds'
            ) from exc
        if process.returncode:
            raise errors.DriverError(
                f'{key[0]} failed: {_last_line(err) or process.returncode}'
            )
        if len(out) > _LARGEST:
            raise errors.DriverError(f'{key[0]} printed too much')
        return out.decode('utf-8', 'replace')

    def _kill(
        self, key: tuple[str, ...], process: subprocess.Popen[bytes]
    ) -> None:
        process.kill()
        try:
            process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            self._hanging[key] = process


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _start(key: tuple[str, ...]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 (a list, no shell)
            key,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, 'LC_ALL': 'C'},
        )
    except OSError as exc:
        raise errors.DriverError(
            f'{key[0]} cannot be run: {exc.strerror}'
        ) from exc


def _last_line(err: bytes) -> str:
    lines = err.decode('utf-8', 'replace').strip().splitlines()
    last = _LOG_PREFIX.sub('', lines[-1].strip()) if lines else ''
    return error_text.as_line(last)[:_SHOWN]


CACHE_NAME = 'cpuinfo.json'


class Probe(typing.Protocol):
    """py-cpuinfo, or its recorded answer."""

    def reported(self, key: pycpuinfo.Key) -> ReportedFlags:
        """Return the flags that py-cpuinfo reports on the host of this key."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The sources of one host.

    :ivar run: runs programs of the host
    :ivar hostname: the host's name where libvirt does not answer
    """

    libvirt: hypervisor.Hypervisor
    files: host_files.HostFiles
    probe: Probe
    run: Runner
    hostname: str


def of_this_host(conf: cfg.ConfigOpts, uri: str) -> Sources:
    """Return the sources of the host that the agent runs on.

    :param uri: libvirt's
    """
    folder = conf.compute_agent.state_path or conf.state_path
    cache = pathlib.Path(folder, CACHE_NAME)
    return Sources(
        libvirt=connection.Connection(uri),
        files=host_files.HostFiles(),
        probe=pycpuinfo.CachedProbe(cache),
        run=Commands(),
        hostname=one_host.canonical(),
    )
