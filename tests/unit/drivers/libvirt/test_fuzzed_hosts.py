# SPDX-License-Identifier: Apache-2.0
"""Damaged texts of a host neither break the driver nor remove anything.

Each input is a recorded host with one to three damaged files. The driver
describes it over the tree of the sound host, as placement would have it. It
may raise only ``DriverError``. If the damage cannot be read at all, everything
in the tree is still there. ``make test`` tries a thousand inputs; with
COMPUTE_AGENT_EXAMPLES=20 they are 100,000.
"""

import random
import shutil
from xml.etree import ElementTree as ET

import mutations
import pytest
import recorded_hosts
from examples import examples

from compute_agent import errors

INPUTS = 5000
# The recording's own files, which no kernel and no libvirt writes, and the
# machine, for which uname stands in.
OURS = {'arch', 'expected.yaml', 'host.yaml', 'nova.conf'}
LISTS = {'node_devices', 'domains'}
CASES = [
    path.name
    for path in sorted(recorded_hosts.HOSTS.iterdir())
    if (path / 'libvirt').is_dir()
]


class Host:
    """A copy of a recorded host whose files can be damaged and mended."""

    def __init__(self, case, folder):
        shutil.copytree(recorded_hosts.HOSTS / case, folder)
        self.folder = folder
        self.sound = {
            path: path.read_text('utf-8')
            for path in sorted(folder.rglob('*'))
            if path.is_file() and path.name not in OURS
        }
        libvirt = recorded_hosts.driver_on(folder)
        tree = recorded_hosts.empty_tree(libvirt)
        recorded_hosts.describe(libvirt, tree)
        self.tree = recorded_hosts.plain(tree)

    def damage(self, path, text):
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text.encode('utf-8', 'surrogatepass'))

    def mend(self, paths):
        for path in paths:
            path.write_text(self.sound[path], 'utf-8')


def is_unreadable(path, text):
    """Return True if the text tells nothing about what it was about."""
    if text is None:
        return path.parent.name not in LISTS
    if not text.strip():
        return path.parent.name != 'domains'
    if path.suffix != '.xml':
        return False
    try:
        ET.fromstring(text)
    except (ET.ParseError, ValueError):
        return True
    return mutations.is_entity(text)


def assert_nothing_removed(before, after):
    for name, provider in before.items():
        assert name in after
        found = after[name]
        assert set(provider['traits']) <= set(found['traits'])
        for rc, record in provider['inventory'].items():
            assert rc in found['inventory'], rc
            assert record['total'] <= found['inventory'][rc]['total']


def described(host, seed):
    """Return the tree after the description, None if that is refused."""
    libvirt = recorded_hosts.driver_on(host.folder)
    tree = recorded_hosts.tree_of(host.tree)
    try:
        recorded_hosts.describe(libvirt, tree)
    except errors.DriverError as exc:
        assert str(exc), seed
        assert '\n' not in str(exc), seed
        return None
    return recorded_hosts.plain(tree)


@pytest.mark.parametrize('case', CASES)
def test_damaged_texts_break_nothing_and_remove_nothing(case, tmp_path):
    host = Host(case, tmp_path / 'host')
    for number in range(max(1, examples(INPUTS) // len(CASES))):
        seed = f'{case} {number}'
        rng = random.Random(seed)
        chosen = rng.sample(sorted(host.sound), rng.choice((1, 1, 1, 2, 3)))
        texts = {
            path: rng.choice(mutations.EVERY)(rng, host.sound[path])
            for path in chosen
        }
        for path, text in texts.items():
            host.damage(path, text)
        try:
            after = described(host, seed)
            if after is not None and all(
                is_unreadable(path, text) for path, text in texts.items()
            ):
                assert_nothing_removed(host.tree, after)
        except Exception as exc:
            shown = {str(p.relative_to(host.folder)): texts[p] for p in texts}
            exc.add_note(f'{seed}: {shown!r}'[:2000])
            raise
        finally:
            host.mend(chosen)
