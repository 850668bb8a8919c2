# SPDX-License-Identifier: Apache-2.0
"""Each recorded host has the children that its ``expected.yaml`` says.

Keys of a configuration: ``nova_conf`` is the text of the options. ``before``
are the children in placement, ``children`` those that the driver describes,
without the host's name before theirs. An amount is a total, or TOTAL/RESERVED.
``left`` are children that the driver leaves as they are; any other child of
``before`` must go. ``notes`` and ``faults`` are parts of all its lines.
``config_error`` is the error of the options instead. OWNER_NOVA is on each
child that the driver describes, and not listed.
"""

import shutil

import pytest
import recorded_hosts
import yaml

from compute_agent import errors
from compute_agent.tree import inventory, provider, provider_tree

NODE = 'compute1'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'


def cases():
    for path in sorted(recorded_hosts.HOSTS.glob('*/expected.yaml')):
        kept = yaml.safe_load(path.read_text('utf-8'))
        for one in kept.get('configurations', ()):
            case = path.parent.name
            yield pytest.param(case, one, id=f'{case}: {one["title"]}')


def full(name):
    return f'{NODE}{name}' if name.startswith(':') else f'{NODE}_{name}'


def amounts(inventory):
    return {
        rc: f'{record["total"]}/{record.get("reserved", 0)}'
        for rc, record in inventory.items()
    }


def written(inventory):
    return {
        rc: text if '/' in str(text) else f'{text}/0'
        for rc, text in inventory.items()
    }


def tree_with(before):
    """Return a tree as it is in placement."""
    found = [provider.Provider(uuid=UUID, name=NODE)]
    for name, one in before.items():
        records = {
            rc: dict(
                zip(
                    ('total', 'reserved'),
                    map(int, text.split('/')),
                    strict=True,
                )
            )
            for rc, text in written(one['inventory']).items()
        }
        child = provider.Provider(
            uuid=provider_tree.derived_uuid(UUID, full(name)),
            name=full(name),
            parent_uuid=UUID,
            generation=1,
            traits=frozenset(one['traits']),
            inventories={
                rc: inventory.Inventory.from_record(record)
                for rc, record in records.items()
            },
        )
        found.append(child)
    return provider_tree.ProviderTree.from_providers(found)


def children(tree):
    below = tree.get_provider_uuids(UUID)[1:]
    return {data.name: data for data in map(tree.data, below)}


def contains(lines, parts):
    assert len(lines) == len(parts), lines
    for line, part in zip(sorted(lines), sorted(parts), strict=True):
        assert part in line
        assert '\n' not in line


@pytest.fixture
def driver_on(tmp_path):
    """Return a maker of the driver on a recorded host with these options."""

    def make(host, nova_conf):
        path = tmp_path / 'nova.conf'
        path.write_text(nova_conf)
        return recorded_hosts.driver_on(recorded_hosts.HOSTS / host, path)

    return make


@pytest.mark.parametrize(('host', 'case'), list(cases()))
def test_the_children_are_described(host, case, driver_on):
    if 'config_error' in case:
        with pytest.raises(errors.ConfigError, match=case['config_error']):
            driver_on(host, case['nova_conf'])
        return
    driver = driver_on(host, case['nova_conf'])
    before = case.get('before', {})
    tree = tree_with(before)
    seen = children(tree_with(before))

    driver.update_provider_tree(tree, NODE)

    found = children(tree)
    left = {full(name) for name in case.get('left', ())}
    expected = {full(name): one for name, one in case['children'].items()}
    assert set(found) == left | set(expected)
    for name in left:
        assert found[name] == seen[name]
    for name, one in expected.items():
        traits = found[name].traits
        assert 'OWNER_NOVA' in traits
        assert sorted(traits - {'OWNER_NOVA'}) == one['traits']
        assert amounts(found[name].inventory) == written(one['inventory'])
    contains(tree.notes, case.get('notes', ()))
    contains(tree.faults, case.get('faults', ()))


@pytest.mark.parametrize(('host', 'case'), list(cases()))
def test_each_trait_has_its_evidence(host, case, driver_on):
    if 'config_error' in case or 'before' in case:
        return
    driver = driver_on(host, case['nova_conf'])
    shown = {}
    for one in driver.evidence(NODE):
        if one.provider and one.found.value == 'present':
            assert one.fact
            assert one.sources
            shown.setdefault(one.provider, set()).add(one.trait)
    assert shown == {
        full(name): {'OWNER_NOVA', *one['traits']}
        for name, one in case['children'].items()
    }


# --- the number of TDX guests -------------------------------------------------

TDX = f'{NODE}_intel_tdx'
PASSTHROUGH = '[libvirt]\ncpu_mode = host-passthrough\n'


@pytest.fixture
def without_cgroup(tmp_path):
    """Return a maker of the driver where the kernel counts no TDX guests."""
    folder = tmp_path / 'host'
    shutil.copytree(recorded_hosts.HOSTS / 'encryption-tdx', folder)
    (folder / 'sys/fs/cgroup/misc.capacity').unlink()

    def make(nova_conf):
        path = tmp_path / 'nova.conf'
        path.write_text(nova_conf)
        return recorded_hosts.driver_on(folder, path)

    return make


def test_the_option_counts_tdx_guests_without_the_cgroup(without_cgroup):
    tree = tree_with({})
    driver = without_cgroup(f'{PASSTHROUGH}num_intel_tdx_guests = 7\n')
    driver.update_provider_tree(tree, NODE)
    assert amounts(children(tree)[TDX].inventory) == {
        'MEM_ENCRYPTION_CONTEXT': '7/0'
    }


def test_tdx_guests_that_nothing_counts_are_unknown(without_cgroup):
    tree = tree_with({})
    without_cgroup(PASSTHROUGH).update_provider_tree(tree, NODE)
    assert not children(tree)
    before = {
        'intel_tdx': {
            'inventory': {'MEM_ENCRYPTION_CONTEXT': '5/0'},
            'traits': ['OWNER_NOVA', 'HW_CPU_X86_INTEL_TDX'],
        }
    }
    tree = tree_with(before)
    without_cgroup(PASSTHROUGH).update_provider_tree(tree, NODE)
    assert children(tree) == children(tree_with(before))
    assert 'set [libvirt] num_intel_tdx_guests' in ' '.join(tree.notes)
