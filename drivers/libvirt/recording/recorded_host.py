# SPDX-License-Identifier: Apache-2.0
"""The sources of a recorded host.

It does I/O. The host is a folder: ``proc/`` and ``sys/`` with files of the
kernel, ``libvirt/`` with libvirt's answers (``libvirtd/recorded.py``), and
files for what is no text of the host: ``file_systems.yaml`` (path → bytes),
``pycpuinfo.json``, and in ``programs/`` what the programs print, each in a file
of the program's name. Whatever is not there cannot be read.
"""

import json
import pathlib
from collections.abc import Sequence

import yaml

from compute_agent import errors

from ... import host_files
from ...libvirtd import hypervisor, recorded
from .. import command, sources
from ..cpu import findings, pycpuinfo

LIBVIRT = 'libvirt'
FILE_SYSTEMS = 'file_systems.yaml'
PYCPUINFO = 'pycpuinfo.json'
PROGRAMS = 'programs'
OCTETS = '.hex'  # the ending of a file that is no text
NAME = 'recorded.example'


def sources_of(folder: pathlib.Path) -> sources.Sources:
    """Return the sources of a recorded host."""
    libvirt = recorded.Recorded(folder / LIBVIRT)
    return sources.Sources(
        libvirt=libvirt,
        files=_Files(folder),
        probe=_Probe(folder),
        run=_programs(folder / PROGRAMS),
        hostname=_hostname(libvirt),
    )


def _hostname(libvirt: hypervisor.Hypervisor) -> str:
    try:
        return libvirt.hostname()
    except hypervisor.Unanswered:
        return NAME


def used_by(folder: str) -> str:
    """Return the key of the size of a folder's files."""
    return f'files of {folder}'


def program(argv: Sequence[str]) -> str:
    """Return the path, below their folder, of what a program printed."""
    return argv[0].lstrip('/')


def _programs(folder: pathlib.Path) -> command.Runner:
    def run(argv: Sequence[str]) -> str:
        try:
            return (folder / program(argv)).read_text('utf-8')
        except FileNotFoundError as exc:
            raise errors.DriverError(f'{argv[0]} cannot be run') from exc

    return run


class _Files(host_files.HostFiles):
    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder, machine='unknown')

    def octets(self, path: str, count: int) -> bytes | None:
        """Return the first octets of a file, also of one kept as digits."""
        digits = self.text(path + OCTETS)
        if digits is None:
            return super().octets(path, count)
        return bytes.fromhex(digits)[:count]

    def file_system_bytes(self, path: str) -> int:
        """Return the size that was recorded of the path's file system."""
        return self._size_of(path)

    def used_bytes(self, folder: str, beside: str) -> int:  # noqa: ARG002 (one answer)
        """Return the size that was recorded of a folder's files."""
        return self._size_of(used_by(folder))

    def _size_of(self, key: str) -> int:
        kept = yaml.safe_load(self.text(FILE_SYSTEMS) or '') or {}
        if key not in kept:
            raise errors.DriverError(f'the size of {key} is not recorded')
        return int(kept[key])


class _Probe:
    def __init__(self, folder: pathlib.Path) -> None:
        self._path = folder / PYCPUINFO

    def reported(self, key: pycpuinfo.Key) -> findings.ReportedFlags:  # noqa: ARG002 (one answer)
        """Return the flags that py-cpuinfo reported."""
        try:
            kept = json.loads(self._path.read_text('utf-8'))
        except FileNotFoundError:
            kept = None
        return pycpuinfo.read_answer(kept)
