# SPDX-License-Identifier: Apache-2.0
"""The sources of a recorded host.

It does I/O. ``drivers/libvirt/recording/raw_evidence.py`` describes the files.
Whatever is not there cannot be read.
"""

import json
import pathlib
from collections.abc import Sequence

import recorded_libvirt
import yaml

from compute_agent import errors
from drivers import host_files
from drivers.libvirt.cpu.findings import ReportedFlags
from drivers.libvirt.reading import pycpuinfo, sources
from drivers.libvirt.recording import raw_evidence
from drivers.libvirtd import hypervisor

NAME = 'recorded.example'


def sources_of(folder: pathlib.Path) -> sources.Sources:
    """Return the sources of a recorded host."""
    libvirt = recorded_libvirt.Recorded(folder / raw_evidence.LIBVIRT)
    return sources.Sources(
        libvirt=libvirt,
        files=_Files(folder),
        probe=_Probe(folder),
        run=_programs(folder / raw_evidence.PROGRAMS),
        hostname=_hostname(libvirt),
    )


def _hostname(libvirt: hypervisor.Hypervisor) -> str:
    try:
        return libvirt.hostname()
    except hypervisor.Unanswered:
        return NAME


def _programs(folder: pathlib.Path) -> sources.Runner:
    def run(argv: Sequence[str]) -> str:
        try:
            return (folder / raw_evidence.program(argv)).read_text('utf-8')
        except FileNotFoundError as exc:
            raise errors.DriverError(f'{argv[0]} cannot be run') from exc

    return run


class _Files(host_files.HostFiles):
    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder, machine='unknown')

    def octets(self, path: str, count: int) -> bytes | None:
        """Return the first octets of a file, also of one kept as digits."""
        digits = self.text(path + raw_evidence.OCTETS)
        if digits is None:
            return super().octets(path, count)
        return bytes.fromhex(digits)[:count]

    def file_system_bytes(self, path: str) -> int:
        """Return the size that was recorded of the path's file system."""
        return self._size_of(path)

    def used_bytes(self, folder: str, beside: str) -> int:
        """Return the size that was recorded of a folder's files."""
        return self._size_of(raw_evidence.used_by(folder))

    def _size_of(self, key: str) -> int:
        kept = yaml.safe_load(self.text(raw_evidence.FILE_SYSTEMS) or '') or {}
        if key not in kept:
            raise errors.DriverError(f'the size of {key} is not recorded')
        return int(kept[key])


class _Probe:
    def __init__(self, folder: pathlib.Path) -> None:
        self._path = folder / raw_evidence.PYCPUINFO

    def reported(self, key: pycpuinfo.Key) -> ReportedFlags:
        """Return the flags that py-cpuinfo reported."""
        try:
            kept = json.loads(self._path.read_text('utf-8'))
        except FileNotFoundError:
            kept = None
        return pycpuinfo.read_answer(kept)
