# SPDX-License-Identifier: Apache-2.0
"""Operators' provider-config files, seen from placement.

Two weaknesses of nova-compute are here as well: what leaves a file stays in
placement, and a class on a provider that the driver does not rewrite works in
the first run and fails in each one after it.
"""

import os

import pytest
import yaml
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from compute_agent.provider_config import files as provider_config_files
from compute_agent.tree import names

CHILD = '33333333-3333-4333-8333-333333333333'
SHARED = '44444444-4444-4444-8444-444444444444'
SECOND = '55555555-5555-4555-8555-555555555555'
POOL = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
EVERY_ROOT = {'uuid': '$COMPUTE_NODE'}
VCPU = {'VCPU': {'total': 8}}


def describe(tree, node):
    """Some VCPU, and nothing said of any child."""
    tree.update_inventory(node, VCPU)


def entry(who, *traits, **totals):
    """Return an entry as a file has it."""
    records = [{rc: {'total': total}} for rc, total in totals.items()]
    return {
        'identification': who,
        'traits': {'additional': list(traits)},
        'inventories': {'additional': records},
    }


class Files(provider_config_files.ProviderConfigFiles):
    """The agent's files in a folder of the test's."""

    def __init__(self, folder):
        super().__init__(lambda: (str(folder), True))
        self.folder = folder
        folder.mkdir()

    def write(self, name, *entries):
        """Write a file; the next cycle goes by it."""
        content = {
            'meta': {'schema_version': '1.0'},
            'providers': list(entries),
        }
        (self.folder / name).write_text(yaml.safe_dump(content))
        self.reload()

    def remove(self, name):
        (self.folder / name).unlink()
        self.reload()

    def rename(self, name, to):
        (self.folder / name).rename(self.folder / to)
        self.reload()


@pytest.fixture
def files(request, tmp_path):
    made = getattr(request, 'param', Files)
    return made(tmp_path / 'provider_config')


@pytest.fixture
def agent(agent_factory, files):
    return agent_factory(describe, files=files)


@pytest.fixture
def external_child(agent, operator):
    """A child of the node's that another agent made; it has a class."""
    agent.done()
    operator.create(CHILD, 'nic', NODE)
    operator.set_inventories({'SRIOV_NET_VF': {'total': 4}}, CHILD)
    return CHILD


def totals(operator, uuid=NODE):
    return {rc: r['total'] for rc, r in operator.inventories(uuid).items()}


def changes(placement):
    """Return the requests that are no reading."""
    return [r for r in map(str, placement.requests) if not r.startswith('GET')]


# --- what is in a file is in placement ----------------------------------------


def test_the_root_gets_a_file_s_traits_and_classes_and_then_has_them(
    agent, files, operator, placement
):
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_GOLD', CUSTOM_FPGA=2))
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_GOLD'}
    assert totals(operator) == {'VCPU': 8, 'CUSTOM_FPGA': 2}
    placement.requests.clear()
    agent.done()
    assert not changes(placement)


def test_a_total_that_changes_in_the_file_changes_in_placement(
    agent, files, operator
):
    files.write('a.yaml', entry(EVERY_ROOT, CUSTOM_FPGA=2))
    agent.done()
    operator.change_inventory('CUSTOM_FPGA', allocation_ratio=3.0)
    files.write('a.yaml', entry(EVERY_ROOT, CUSTOM_FPGA=5))
    agent.done()
    record = operator.inventories()['CUSTOM_FPGA']
    assert (record['total'], record['allocation_ratio']) == (5, 3.0)


def test_a_change_in_a_file_is_nobody_else_s_and_needs_no_word(
    agent, files, operator
):
    for total, trait, name in (
        (2, 'CUSTOM_A', 'a.yaml'),
        (5, 'CUSTOM_A', 'a.yaml'),
        (5, 'CUSTOM_B', 'b.yaml'),
        (3, 'CUSTOM_A', 'b.yaml'),
    ):
        for path in files.folder.iterdir():
            path.unlink()
        files.write(name, entry(EVERY_ROOT, trait, CUSTOM_FPGA=total))
        for _ in range(2):
            (result,) = agent.done()
            assert not result.notes
        assert totals(operator)['CUSTOM_FPGA'] == total
        assert operator.traits() == {*OWN, trait}


def test_a_child_that_the_driver_makes_gets_its_own_in_the_same_cycle(
    agent, files, operator
):
    def with_child(tree, node):
        describe(tree, node)
        if not tree.exists('gpu'):
            tree.new_child('gpu', node, uuid=CHILD)
        tree.update_inventory('gpu', {'VGPU': {'total': 1}})

    agent.driver.describe = with_child
    files.write('a.yaml', entry({'name': 'gpu'}, 'CUSTOM_BIG', CUSTOM_X=1))
    for _ in range(3):
        agent.done()
        assert operator.traits(CHILD) == {names.OWNER_NOVA, 'CUSTOM_BIG'}
        assert totals(operator, CHILD) == {'VGPU': 1, 'CUSTOM_X': 1}


def test_a_driver_that_claims_all_traits_leaves_those_of_files(
    agent, files, operator
):
    def exclusive(tree, node):
        describe(tree, node)
        tree.update_traits(node, ['HW_CPU_X86_AVX'])

    agent.driver.describe = exclusive
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_GOLD'))
    for _ in range(3):
        agent.done()
        assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'CUSTOM_GOLD'}


def test_two_nodes_get_what_is_for_every_root_but_where_one_has_its_own(
    agent_factory, files, operator, caplog
):
    nodes = {NODE: NAME, SECOND: 'node-2'}
    agent = agent_factory(describe, nodes=nodes, files=files, workers=2)
    files.write(
        'a.yaml',
        entry(EVERY_ROOT, 'CUSTOM_PLAIN', CUSTOM_X=1),
        entry({'name': 'node-2'}, 'CUSTOM_GOLD'),
    )
    for _ in range(3):
        agent.done()
        assert operator.traits(NODE) == {*OWN, 'CUSTOM_PLAIN'}
        assert operator.traits(SECOND) == {*OWN, 'CUSTOM_GOLD'}
        assert totals(operator, SECOND) == {'VCPU': 8}
    assert 'node-2' not in ''.join(
        r.message for r in caplog.records if r.levelname == 'WARNING'
    )


def test_an_entry_of_no_provider_is_said_once_in_many_cycles(
    agent, files, caplog
):
    files.write('a.yaml', entry({'name': 'nowhere'}, 'CUSTOM_A'))
    for _ in range(3):
        agent.done()
    warnings = [r for r in caplog.records if r.levelname == 'WARNING']
    (one,) = warnings
    assert f'{files.folder}/a.yaml:' in one.message
    assert 'nowhere' in one.message


def test_a_sharing_provider_of_another_gets_the_entry_and_keeps_the_rest(
    agent, files, operator
):
    agent.done()
    operator.create(SHARED, 'nfs')
    operator.set_inventories({'DISK_GB': {'total': 100}}, SHARED)
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=SHARED)
    operator.set_aggregates(POOL, uuid=SHARED)
    operator.set_aggregates(POOL)
    files.write('a.yaml', entry({'name': 'nfs'}, 'CUSTOM_FAST'))
    (result,) = agent.done()
    shares = 'MISC_SHARES_VIA_AGGREGATE'
    assert [n for n in result.notes if 'nfs' in n] == []
    assert operator.traits(SHARED) == {shares, 'CUSTOM_FAST'}
    files.remove('a.yaml')
    agent.done()
    assert operator.traits(SHARED) == {shares}


# --- who has it already -------------------------------------------------------


def test_a_class_of_the_driver_stands_the_rest_is_done_and_the_node_failed(
    agent, files, operator
):
    def with_fpga(tree, node):
        tree.update_inventory(node, {**VCPU, 'CUSTOM_FPGA': {'total': 1}})

    agent.driver.describe = with_fpga
    files.write(
        'a.yaml', entry(EVERY_ROOT, 'CUSTOM_A', CUSTOM_FPGA=7, CUSTOM_X=2)
    )
    for _ in range(2):
        result = agent.cycle()
        assert result.status is Status.FAILED
        assert 'CUSTOM_FPGA at' in result.reason
        assert totals(operator) == {'VCPU': 8, 'CUSTOM_FPGA': 1, 'CUSTOM_X': 2}
        assert 'CUSTOM_A' in operator.traits()


def test_a_class_that_the_driver_takes_over_passes_without_a_gap(
    agent, files, operator
):
    files.write('a.yaml', entry(EVERY_ROOT, CUSTOM_FPGA=7))
    agent.done()
    agent.driver.describe = lambda tree, node: tree.update_inventory(
        node, {**VCPU, 'CUSTOM_FPGA': {'total': 1}}
    )
    assert agent.cycle().status is Status.FAILED
    assert totals(operator)['CUSTOM_FPGA'] == 1
    files.remove('a.yaml')
    agent.done()
    assert totals(operator)['CUSTOM_FPGA'] == 1


def test_what_nova_compute_put_there_is_taken_as_it_is_and_stays_after(
    agent, files, operator
):
    agent.done()
    operator.add_traits('CUSTOM_GOLD')
    operator.change_inventory('CUSTOM_FPGA', total=2)
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_GOLD', CUSTOM_FPGA=2))
    agent.done()
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_OTHER'))
    (result,) = agent.done()
    assert {'CUSTOM_GOLD', 'CUSTOM_OTHER'} <= operator.traits()
    kept = [n for n in result.notes if 'no longer has' in n]
    assert len(kept) == 2
    (result,) = agent.done()
    assert not [n for n in result.notes if 'no longer has' in n]


# --- what leaves a file leaves placement --------------------------------------


def test_a_name_that_leaves_its_file_leaves_placement(agent, files, operator):
    files.write(
        'a.yaml',
        entry(EVERY_ROOT, 'CUSTOM_A', 'CUSTOM_B', CUSTOM_X=1, CUSTOM_Y=1),
    )
    agent.done()
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_B', CUSTOM_Y=1))
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_B'}
    assert totals(operator) == {'VCPU': 8, 'CUSTOM_Y': 1}


def test_an_entry_that_leaves_its_file_leaves_placement(
    external_child, agent, files, operator
):
    root = entry(EVERY_ROOT, 'CUSTOM_A')
    files.write('a.yaml', root, entry({'uuid': CHILD}, 'CUSTOM_B', CUSTOM_X=1))
    agent.done()
    assert operator.traits(CHILD) == {'CUSTOM_B'}
    files.write('a.yaml', root)
    agent.done()
    assert operator.traits(CHILD) == set()
    assert totals(operator, CHILD) == {'SRIOV_NET_VF': 4}
    assert 'CUSTOM_A' in operator.traits()


def test_a_file_that_goes_takes_along_what_it_gave_and_no_more(
    agent, files, operator
):
    agent.done()
    operator.add_traits('CUSTOM_BY_HAND')
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A', CUSTOM_X=1))
    files.write('b.yaml', entry({'name': 'nowhere'}, 'CUSTOM_N'))
    agent.done()
    files.remove('a.yaml')
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_BY_HAND'}
    assert totals(operator) == {'VCPU': 8}


def test_a_restarted_agent_notices_what_went_meanwhile(
    agent_factory, files, operator, tmp_path
):
    first = agent_factory(describe, files=files, state=tmp_path / 'state')
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A', CUSTOM_X=1))
    first.done()
    files.remove('a.yaml')
    first.state.close()
    agent_factory(describe, files=files, state=tmp_path / 'state').done()
    assert operator.traits() == OWN
    assert totals(operator) == {'VCPU': 8}


def test_a_file_under_another_name_is_no_change(
    agent, files, operator, placement
):
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A', CUSTOM_X=1))
    agent.done()
    files.rename('a.yaml', 'b.yaml')
    placement.requests.clear()
    agent.done()
    assert not changes(placement)
    files.remove('b.yaml')
    agent.done()
    assert operator.traits() == OWN


def test_what_two_files_give_goes_with_the_second(agent, files, operator):
    files.write('a.yaml', entry({'uuid': NODE}, 'CUSTOM_A'))
    files.write('b.yaml', entry({'name': NAME}, 'CUSTOM_A'))
    result = agent.cycle()
    assert 'two entries match it' in result.reason
    files.remove('a.yaml')
    agent.done()
    assert 'CUSTOM_A' in operator.traits()
    files.remove('b.yaml')
    agent.done()
    assert operator.traits() == OWN


def test_what_is_for_every_root_goes_where_a_root_gets_its_own(
    agent, files, operator
):
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A'))
    agent.done()
    files.write('b.yaml', entry({'uuid': NODE}, 'CUSTOM_B'))
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_B'}


# --- unknown is not empty -----------------------------------------------------


def test_a_directory_that_cannot_be_read_removes_nothing(
    agent_factory, agent, files, operator, monkeypatch
):
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A', CUSTOM_X=1))
    agent.done()

    def refuse(path):
        raise OSError(5, 'Input/output error', str(path))

    monkeypatch.setattr(os, 'listdir', refuse)
    with pytest.raises(errors.ConfigError, match='Input/output error'):
        files.reload()
    agent.done()
    default = provider_config_files.ProviderConfigFiles(
        lambda: (str(files.folder), False)
    )
    agent_factory(describe, files=default, state=agent.state).done()
    assert operator.traits() == {*OWN, 'CUSTOM_A'}
    assert totals(operator) == {'VCPU': 8, 'CUSTOM_X': 1}


def test_a_mistake_at_the_first_reading_ends_the_cycle_before_it_begins(
    agent, files, placement
):
    (files.folder / 'a.yaml').write_text('meta: {}')
    placement.requests.clear()
    for look in (agent.sync, agent.plan):
        with pytest.raises(errors.ConfigError, match=r'a\.yaml:1'):
            look()
    assert not placement.requests


# --- what nova-compute does instead -------------------------------------------


class AsNovaHasIt(Files):
    """What nova-compute does with the same files, told in our terms.

    It adds, and knows nothing of what it added before; a class that is on the
    provider already is taken for the driver's.
    """

    def merge(self, tree, node_uuid, record):
        del record
        every = [self._entries.every_root] if self._entries.every_root else []
        for one in [*every, *self._entries.explicit]:
            who = one.uuid or one.name or node_uuid
            there = set(tree.data(who).inventory) & set(one.inventories)
            if there:
                tree.fault(f'{sorted(there)} are owned by the virt driver')
                return
            tree.declare_traits(who, *one.traits)
            for rc, record_ in one.inventories.items():
                tree.declare_inventory(who, {rc: record_})


EITHER = pytest.mark.parametrize(
    'files',
    [
        pytest.param(Files, id='ours'),
        pytest.param(
            AsNovaHasIt,
            id='as nova has it',
            marks=pytest.mark.xfail(strict=True, raises=AssertionError),
        ),
    ],
    indirect=True,
)


@EITHER
@pytest.mark.parametrize('who', [{'uuid': CHILD}, {'name': 'nic'}])
def test_an_external_child_gets_its_own_in_every_run(
    external_child, agent, files, operator, who
):
    files.write('a.yaml', entry(who, 'CUSTOM_NET', CUSTOM_BANDWIDTH=10))
    for _ in range(4):
        agent.done()
        assert operator.traits(CHILD) == {'CUSTOM_NET'}
        assert totals(operator, CHILD) == {
            'SRIOV_NET_VF': 4,
            'CUSTOM_BANDWIDTH': 10,
        }


@EITHER
def test_what_leaves_a_file_leaves_an_external_child(
    external_child, agent, files, operator
):
    files.write('a.yaml', entry({'uuid': CHILD}, 'CUSTOM_NET', CUSTOM_B=1))
    agent.cycle()
    files.write('a.yaml')
    agent.cycle()
    assert operator.traits(CHILD) == set()
    assert totals(operator, CHILD) == {'SRIOV_NET_VF': 4}


@EITHER
def test_a_trait_that_leaves_a_file_leaves_the_root(agent, files, operator):
    files.write('a.yaml', entry(EVERY_ROOT, 'CUSTOM_A'))
    agent.done()
    files.write('a.yaml')
    agent.done()
    assert operator.traits() == OWN
