# SPDX-License-Identifier: Apache-2.0
"""Remembers what a description reads, as the files of a recorded host.

It does no I/O of its own: each part asks the source that it is given, and
keeps the answer in one mapping, path → text. The host is a folder: ``proc/``
and ``sys/`` with files of the kernel, ``libvirt/`` with libvirt's answers
(``libvirtd/recording.py``), and files for what is no text of the host:
``file_systems.yaml`` (path → bytes), ``pycpuinfo.json``, and in ``programs/``
what the programs print, each in a file of the program's name. Whatever is not
there could not be read.
"""

import json
from collections.abc import Sequence

import yaml

from ... import host_files
from ...libvirtd import recording
from .. import command, disk_kind, sources
from ..cpu import pycpuinfo
from ..cpu.facts import ReportedFlags

LIBVIRT = 'libvirt'
FILE_SYSTEMS = 'file_systems.yaml'
PYCPUINFO = 'pycpuinfo.json'
PROGRAMS = 'programs'
OCTETS = '.hex'  # the ending of a file that is no text

Texts = dict[str, str]


def used_by(folder: str) -> str:
    """Return the key of the size of a folder's files."""
    return f'files of {folder}'


def program(argv: Sequence[str]) -> str:
    """Return the path, below their folder, of what a program printed."""
    return argv[0].lstrip('/')


class Recorder:
    """The sources of a host, whose answers are remembered."""

    def __init__(self, asked: sources.Sources) -> None:
        self._texts: Texts = {}
        self._libvirt = recording.Recording(asked.libvirt)
        self.sources = sources.Sources(
            libvirt=self._libvirt,
            files=_Files(asked.files, self._texts),
            probe=_Probe(asked.probe, self._texts),
            run=_programs(asked.run, self._texts),
            hostname=asked.hostname,
        )

    def texts(self) -> Texts:
        """Return path → text of everything that was read so far."""
        of_libvirt = {
            f'{LIBVIRT}/{path}': text
            for path, text in self._libvirt.texts.items()
        }
        return self._texts | of_libvirt


def _programs(asked: command.Runner, texts: Texts) -> command.Runner:
    def run(argv: Sequence[str]) -> str:
        found = asked(argv)
        texts[f'{PROGRAMS}/{program(argv)}'] = found
        return found

    return run


class _Files(host_files.HostFiles):
    def __init__(self, asked: host_files.HostFiles, texts: Texts) -> None:
        super().__init__()
        self._asked = asked
        self._texts = texts
        self._sizes: dict[str, int] = {}

    def text(self, path: str) -> str | None:
        """Return the content of a file, None if it cannot be read."""
        found = self._asked.text(path)
        if found is not None:
            kept = (
                disk_kind.only_mounts(found)
                if path == disk_kind.MOUNTS
                else found
            )
            # A recorded host has no symbolic links.
            self._texts[path.lstrip('/').replace('/../', '/')] = kept
        return found

    def octets(self, path: str, count: int) -> bytes | None:
        """Return the first octets of a file, None if it cannot be read."""
        found = self._asked.octets(path, count)
        if found is not None:
            kept = path.lstrip('/') + OCTETS
            self._texts[kept] = f'{found.hex()}\n'
        return found

    def real_path(self, path: str) -> str:
        """Return the path without symbolic links, which is not remembered."""
        return self._asked.real_path(path)

    def names(self, path: str) -> list[str] | None:
        """Return the names in a folder, None if it cannot be read."""
        found = self._asked.names(path)
        for name in found or ():
            self._texts[f'{path.lstrip("/")}/{name}/.keep'] = ''
        return found

    def changed(self, path: str) -> int | None:
        """Return when a file or folder was changed, None if there is none."""
        return self._asked.changed(path)

    def machine(self) -> str:
        """Return the kernel's name for this architecture."""
        found = self._asked.machine()
        self._texts[host_files.ARCH.lstrip('/')] = f'{found}\n'
        return found

    def file_system_bytes(self, path: str) -> int:
        """Return the size of the path's file system."""
        return self._sized(path, self._asked.file_system_bytes(path))

    def used_bytes(self, folder: str, beside: str) -> int:
        """Return what the files of a folder take from a file system."""
        found = self._asked.used_bytes(folder, beside)
        return self._sized(used_by(folder), found)

    def _sized(self, key: str, found: int) -> int:
        self._sizes[key] = found
        self._texts[FILE_SYSTEMS] = yaml.safe_dump(self._sizes)
        return found


class _Probe:
    def __init__(self, asked: sources.Probe, texts: Texts) -> None:
        self._asked = asked
        self._texts = texts

    def reported(self, key: pycpuinfo.Key) -> ReportedFlags:
        """Return the flags that py-cpuinfo reports on the host of this key."""
        found = self._asked.reported(key)
        if found.flags is not None:
            answer = {
                'flags': sorted(found.flags),
                'vendor_id_raw': found.vendor,
            }
            text = json.dumps(answer, indent=1)
            self._texts[PYCPUINFO] = f'{text}\n'
        return found
