# SPDX-License-Identifier: Apache-2.0
"""Whatever the files of a host contain, a fact is unknown or of its type."""

import pathlib
import random

import host_facts as recorded_hosts
import pytest

from drivers.host.facts import catalogue

GARBAGE = [
    b'',
    b'\n',
    b'\0' * 64,
    b'\xff\xfe',
    b'9' * 5000,
    b'-1',
    b'nan',
    b'inf kB',
    b'0-99999999999',
    b'[]',
    b'[[x]]',
    b'a:b:c\n\n:\n=\n',
    b'hugepages 0x 0x',
    '\u0661\u0662'.encode(),
]


def _each_is_unknown_or_fits(host):
    for row in host.rows().values():
        family, _, rest = row.name.partition('.')
        attribute = rest.rpartition('.')[2]
        if attribute == 'devices' or row.unknown:
            assert row.unknown or isinstance(row.value, tuple)
            continue
        entry = catalogue.ENTRIES[f'{family}.{attribute}']
        assert catalogue.fits(entry, row.value), row


@pytest.mark.parametrize('case', recorded_hosts.CASES, ids=lambda p: p.stem)
@pytest.mark.parametrize('seed', range(2))
def test_garbage_makes_facts_unknown(case, seed, tmp_path):
    host = recorded_hosts.make(case, tmp_path)
    chosen = random.Random(f'{case.stem} {seed}')
    for path in sorted(host.root.rglob('*')):
        if 'libvirt' in path.parts or not path.is_file():
            continue
        if path.is_symlink() or chosen.random() < 0.2:
            continue
        path.write_bytes(chosen.choice(GARBAGE))
    _each_is_unknown_or_fits(host)


def test_a_nul_in_the_kernel_s_release_ends_it(tmp_path):
    """The release is a part of paths."""
    host = recorded_hosts.make(recorded_hosts.CASES[0], tmp_path)
    release = host.root / 'proc/sys/kernel/osrelease'
    release.parent.mkdir(parents=True, exist_ok=True)
    release.write_bytes(b'6.1.0\0x\n')
    _each_is_unknown_or_fits(host)


@pytest.mark.parametrize('case', recorded_hosts.CASES, ids=lambda p: p.stem)
def test_folders_in_place_of_files_make_facts_unknown(case, tmp_path):
    host = recorded_hosts.make(case, tmp_path)
    files = [p for p in host.root.rglob('*') if p.is_file()]
    for path in files:
        if 'libvirt' not in path.parts and path.exists():
            path.unlink()
            path.mkdir()
    _each_is_unknown_or_fits(host)


@pytest.mark.parametrize('case', recorded_hosts.CASES, ids=lambda p: p.stem)
def test_links_that_loop_make_facts_unknown(case, tmp_path):
    host = recorded_hosts.make(case, tmp_path)
    for path in sorted(host.root.rglob('*')):
        if path.is_file() and 'libvirt' not in path.parts:
            path.unlink()
            path.symlink_to(pathlib.Path(path.name))
    _each_is_unknown_or_fits(host)
