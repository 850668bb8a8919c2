# SPDX-License-Identifier: Apache-2.0
"""Damaged texts of a host neither break the driver nor remove anything.

Each input is a recorded host with one to three damaged files. The driver
describes it over the tree of the sound host, as placement would have it. It
may raise only ``DriverError``. If the damage cannot be read at all, everything
in the tree is still there. ``make test`` tries a thousand inputs; with
COMPUTE_AGENT_EXAMPLES=10 they are 100,000.
"""

import random
import shutil
from xml.etree import ElementTree as ET

import mutations
import pytest
import recorded_hosts
from examples import examples

from compute_agent import errors

INPUTS = 10_000
# The recording's own files, which no kernel and no libvirt writes, and the
# machine, for which uname stands in.
OURS = {'arch', 'expected.yaml', 'host.yaml', 'nova.conf'}
# The kernel writes nothing into it if it has no such resources.
EMPTY = {'misc.capacity'}
# A device may have several troubles; the first one that is seen marks it.
MARK = 'CUSTOM_RESERVED_'
# Without the file, libvirt has no such device, guest or machine type.
LISTS = {'domain_capabilities', 'domains', 'node_devices'}
CASES = [
    path.name
    for path in sorted(recorded_hosts.HOSTS.iterdir())
    if (path / 'libvirt').is_dir()
    and not {'faults', 'refused'} & set(recorded_hosts.expected(path))
]


class Host:
    """A copy of a recorded host whose files can be damaged and mended.

    :ivar trees: nova.conf → the tree of the sound host
    """

    def __init__(self, case, folder):
        shutil.copytree(recorded_hosts.HOSTS / case, folder)
        self.folder = folder
        self.sound = {
            path: path.read_text('utf-8')
            for path in sorted(folder.rglob('*'))
            if path.is_file() and path.name not in OURS and is_text(path)
        }
        options = recorded_hosts.nova_confs(folder, folder.parent)
        self.trees = {path: self.tree(path) for path in options}

    def tree(self, options):
        libvirt = recorded_hosts.driver_on(self.folder, options)
        tree = recorded_hosts.empty_tree(libvirt)
        recorded_hosts.describe(libvirt, tree)
        return recorded_hosts.plain(tree)

    def damage(self, path, text):
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text.encode('utf-8', 'surrogatepass'))

    def mend(self, paths):
        for path in paths:
            path.write_text(self.sound[path], 'utf-8')


def is_text(path):
    try:
        return path.read_text('utf-8') is not None
    except UnicodeDecodeError:
        return False


def is_unreadable(path, text):
    """Return True if the text tells nothing about what it was about."""
    if text is None:
        return path.parent.name not in LISTS
    if not text.strip():
        return path.name not in EMPTY and path.parent.name != 'domains'
    if path.suffix != '.xml':
        return False
    try:
        ET.fromstring(text)
    except (ET.ParseError, ValueError):
        return True
    return mutations.is_entity(text)


def traits(provider):
    """Return the traits, with one mark for all reasons to reserve it."""
    return {MARK if t.startswith(MARK) else t for t in provider['traits']}


def assert_nothing_removed(before, after):
    for name, provider in before.items():
        assert name in after
        found = after[name]
        assert traits(provider) <= traits(found)
        for rc, record in provider['inventory'].items():
            assert rc in found['inventory'], rc
            assert record['total'] <= found['inventory'][rc]['total']


def described(host, options, seed):
    """Return the tree after the description, None if that is refused."""
    libvirt = recorded_hosts.driver_on(host.folder, options)
    tree = recorded_hosts.tree_of(host.trees[options])
    problem = ''
    try:
        recorded_hosts.describe(libvirt, tree)
    except errors.DriverError as exc:
        problem = str(exc)
    assert '\n' not in problem, seed
    return None if problem else recorded_hosts.plain(tree)


@pytest.mark.parametrize('case', CASES)
def test_damaged_texts_break_nothing_and_remove_nothing(case, tmp_path):
    host = Host(case, tmp_path / 'host')
    for number in range(max(1, examples(INPUTS) // len(CASES))):
        seed = f'{case} {number}'
        rng = random.Random(seed)
        options = rng.choice(sorted(host.trees))
        chosen = rng.sample(sorted(host.sound), rng.choice((1, 1, 1, 2, 3)))
        texts = {
            path: rng.choice(mutations.EVERY)(rng, host.sound[path])
            for path in chosen
        }
        for path, text in texts.items():
            host.damage(path, text)
        try:
            after = described(host, options, seed)
            if after is not None and all(
                is_unreadable(path, text) for path, text in texts.items()
            ):
                assert_nothing_removed(host.trees[options], after)
        except Exception as exc:
            shown = {str(p.relative_to(host.folder)): texts[p] for p in texts}
            exc.add_note(f'{seed} {options.name}: {shown!r}'[:2000])
            raise
        finally:
            host.mend(chosen)


HUGE = str(2**31)
FOUND = [
    ('cpus-shared-and-dedicated', 'proc/meminfo', f'MemTotal: {HUGE}000 kB\n'),
    ('memory-not-touched-yet', 'proc/meminfo', None),
    ('encryption-tdx', 'sys/fs/cgroup/misc.capacity', 'tdx 3a\n'),
    ('encryption-tdx', 'sys/fs/cgroup/misc.capacity', f'tdx {HUGE}\n'),
    ('pci-in-error', 'sys/bus/pci/devices/0000:c5:00.0/power_state', ''),
    ('nic-virtual-functions', 'libvirt/node_devices/net_*', '<device>'),
    ('gpu-three-cards', 'libvirt/node_devices/mdev_*', '<device>'),
]


@pytest.mark.parametrize(('case', 'pattern', 'text'), FOUND)
def test_damage_that_once_removed_something(case, pattern, text, tmp_path):
    host = Host(case, tmp_path / 'host')
    for path in sorted(host.folder.glob(pattern)):
        host.damage(path, text)
        for options in host.trees:
            after = described(host, options, path.name)
            if after is not None:
                assert_nothing_removed(host.trees[options], after)
        host.mend([path])
