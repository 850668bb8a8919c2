# SPDX-License-Identifier: Apache-2.0
"""Hosts whose facts are known: the files of ``tests/host_facts/*.yaml``.

``files`` has folders and files of the host; a text that begins with ``-> `` is
a symbolic link. They are laid over the folder ``base`` of ``tests/hosts``,
which also has libvirt's answers. ``ethtool`` has the offloads of interfaces.
``expected`` has the values of facts, ``unknown`` the beginning of the reason,
``starter`` the names that the starter rules give.
"""

import dataclasses
import errno
import pathlib
import shutil
import typing
from collections.abc import Collection, Mapping

import recorded_libvirt
import yaml

from compute_agent import testing
from drivers import host_files
from drivers.host.facts import rows
from drivers.host.reading import local, reader

TESTS = pathlib.Path(__file__).parents[1]
CASES = sorted((TESTS / 'host_facts').glob('*.yaml'))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recorded:
    """A host in a folder, and what it must show."""

    root: pathlib.Path
    offloads: 'RecordedOffloads'
    expected: Mapping[str, typing.Any]
    unknown: Mapping[str, str]
    starter: Mapping[str, typing.Any]

    def sources(self, events: reader.Events | None = None) -> reader.Sources:
        """Return the sources of its facts; it has no local files."""
        return reader.Sources(
            files=host_files.HostFiles(self.root, 'x86_64'),
            libvirt=recorded_libvirt.Recorded(self.root / 'libvirt'),
            offloads=self.offloads,
            local=local.LocalFacts([]),
            events=events or reader.NoEvents(),
        )

    def rows(self) -> dict[str, rows.Row]:
        """Return name → row of everything that is read of it."""
        found = reader.FactReader(self.sources()).read()
        return {row.name: row for row in rows.of_facts(found)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedOffloads:
    """The offloads of a recorded host's interfaces."""

    of: Mapping[str, list[str]]
    source = 'ethtool'

    def __call__(self, interface: str) -> Collection[str]:
        """Return the offloads of an interface."""
        if interface not in self.of:
            raise OSError(errno.ENODEV, 'No such device')
        return self.of[interface]


def make(case: pathlib.Path, folder: pathlib.Path) -> Recorded:
    """Return the host of a case, made in a folder."""
    said = yaml.safe_load(case.read_text('utf-8'))
    root = folder / case.stem
    if 'base' in said:
        shutil.copytree(TESTS / 'hosts' / said['base'], root)
    else:
        root.mkdir()
    testing.write_host(root, said['files'])
    return Recorded(
        root=root,
        offloads=RecordedOffloads(of=said.get('ethtool', {})),
        expected=said['expected'],
        unknown=said['unknown'],
        starter=said['starter'],
    )
