# SPDX-License-Identifier: Apache-2.0
"""Everything that the description of a host read, as a recorded host.

It describes the host once more, from sources that remember their answers. The
options of nova.conf that differ from their defaults become the nova.conf of
the recording, without those that name this host or a connection.

A recorded host is a folder: ``proc/`` and ``sys/`` with files of the kernel,
``libvirt/`` with libvirt's answers (``libvirt_answers.py``), and files for
what is no text of the host: ``file_systems.yaml`` (path → bytes),
``pycpuinfo.json``, and in ``programs/`` the output of each program, in a file
of the program's name. A file is missing if it could not be read.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml
from oslo_config import cfg

from compute_agent import errors
from compute_agent.tree import provider_tree
from compute_agent.virt import driver

from ... import host_files
from ..cpu.findings import ReportedFlags
from ..reading import disk_kind, pycpuinfo, sources
from . import libvirt_answers, redaction

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
    """Return the path, below the recording, for what a program printed."""
    return argv[0].lstrip('/')


class Recorder:
    """The sources of a host, whose answers are remembered."""

    def __init__(self, asked: sources.Sources) -> None:
        self._texts: Texts = {}
        self._libvirt = libvirt_answers.Recording(asked.libvirt)
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


def _programs(asked: sources.Runner, texts: Texts) -> sources.Runner:
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
        """Return when a file or folder was changed; None if it is missing."""
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


NOVA_CONF = 'nova.conf'

_UUID = '00000000-0000-4000-8000-000000000000'
_PRIVATE = frozenset({'connection_uri'})
# Options of the agent that the driver reads, too.
_OF_AGENT = (
    'instances_path',
    'ram_allocation_ratio',
    'reserved_host_cpus',
    'reserved_host_disk_mb',
    'reserved_host_memory_mb',
)

Make = Callable[[sources.Sources], driver.ComputeDriver]


def host_texts(
    asked: sources.Sources,
    make: Make,
    options: str,
    hostnames: Iterable[str],
) -> dict[str, str]:
    """Return path → text of all that a driver on this host reads.

    A description that ends with an error is recorded as far as it came.

    :param options: the text of the recording's nova.conf
    :param hostnames: the names of the host, which are replaced
    """
    recording = Recorder(asked)
    with contextlib.suppress(errors.DriverError):
        _describe(make(recording.sources))
    texts = recording.texts()
    texts[NOVA_CONF] = options
    return redaction.redacted(texts, hostnames)


def _describe(again: driver.ComputeDriver) -> None:
    tree = provider_tree.ProviderTree()
    (name,) = again.get_hypervisor_hostnames().values()
    tree.new_root(name, _UUID)
    again.update_provider_tree(tree, name)


def as_nova_conf(
    conf: cfg.ConfigOpts, groups: Mapping[str, list[cfg.Opt]]
) -> str:
    """Return the options that are not at their defaults, as a nova.conf."""
    agents = {name: conf[name] for name in _OF_AGENT}
    lines = {
        'DEFAULT': [
            f'{name} = {value}'
            for name, value in agents.items()
            if value is not None
        ]
    }
    for group, opts in groups.items():
        values = conf if group == 'DEFAULT' else conf[group]
        lines.setdefault(group, []).extend(
            line
            for opt in opts
            if opt.dest not in _PRIVATE
            for line in _lines(opt, values[opt.dest])
        )
    return '\n'.join(
        '\n'.join([f'[{group}]', *found, ''])
        for group, found in sorted(lines.items())
        if found
    )


def _lines(opt: cfg.Opt, value: Any) -> Iterator[str]:
    if value == opt.default or value is None:
        return
    if isinstance(opt, cfg.ListOpt):
        yield f'{opt.dest} = {", ".join(map(str, value))}'
    elif opt.multi:
        yield from (f'{opt.dest} = {one}' for one in value)
    else:
        yield f'{opt.dest} = {value}'
