# SPDX-License-Identifier: Apache-2.0
"""``drift``: what others changed, and what comes of it, without the driver."""

import contextlib

import pytest

from compute_agent.cmd import drift as drift_command
from compute_agent.plan import intents
from compute_agent.state import state
from drivers.fake import driver as fake

pytestmark = pytest.mark.long

ROOT = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
TRAITS = f'/resource_providers/{ROOT}/traits'


@pytest.fixture
def synced(cli):
    """A node after its first cycle."""
    assert cli.run('sync').code == 0
    return cli


def set_traits(cli, *names):
    """Write the traits as another writer does."""
    cli.others.remove_traits(ROOT, *cli.others.traits(ROOT))
    cli.others.add_traits(ROOT, *names)


def change_vcpu(cli, **fields):
    path = f'/resource_providers/{ROOT}/inventories/VCPU'
    record = {**cli.placement(path), **fields}
    cli.placement(path, 'PUT', record)


def drift(cli, code, *words):
    result = cli.run('drift', *words, '-f', 'json')
    assert result.code == code, result.err
    return {
        (d['kind'], d['name']): (d['change'], d['next_cycle'])
        for node in result.data
        for d in node['drift']
    }


def test_without_changes_there_is_none_and_one_request(synced, sent):
    result = synced.run('drift')
    assert (result.code, result.out) == (0, f'cn1 ({ROOT}): no drift\n')
    assert sent == [f'GET /resource_providers?in_tree={ROOT}']


def test_a_changed_provider_costs_three_more_requests(synced, sent):
    set_traits(synced, 'COMPUTE_NODE', 'OWNER_NOVA', 'HW_CPU_X86_AVX2')
    sent.clear()
    assert drift(synced, 2) == {
        ('trait', 'CUSTOM_GOLD'): ('removed', 'restored')
    }
    assert len(sent) == 4


def test_each_change_has_its_fate_and_the_next_cycle_bears_it_out(synced):
    kept = ('COMPUTE_NODE', 'OWNER_NOVA', 'HW_CPU_X86_AVX2')
    set_traits(synced, *kept, 'CUSTOM_HAND')
    change_vcpu(synced, reserved=2, allocation_ratio=8.0)
    change = {
        ('trait', 'CUSTOM_GOLD'): ('removed', 'restored'),
        ('inventory', 'VCPU'): ('changed', 'restored'),
    }
    hand = ('trait', 'CUSTOM_HAND')
    unsure = ('added', 'depends on the driver')
    assert drift(synced, 2, 'cn1') == {**change, hand: unsure}
    text = synced.run('drift').out
    assert '    -CUSTOM_GOLD: restored, claimed by the driver\n' in text
    assert '~VCPU reserved=0→2 allocation_ratio=4→8: restored' in text
    assert synced.run('sync').code == 0
    there = synced.placement(TRAITS)['traits']
    assert {'CUSTOM_GOLD', 'CUSTOM_HAND'} <= set(there)
    assert drift(synced, 0) == {}


def test_what_a_cycle_left_is_left_alone_until_the_agent_writes(synced):
    known = synced.placement(TRAITS)['traits']
    set_traits(synced, *known, 'CUSTOM_HAND')
    change_vcpu(synced, allocation_ratio=8.0)
    # Only the driver knows if it gives a ratio of its own, as for PCPU.
    assert drift(synced, 2)['inventory', 'VCPU'] == (
        'changed',
        'depends on the driver',
    )
    assert synced.run('sync').code == 0
    assert drift(synced, 2) == {
        ('trait', 'CUSTOM_HAND'): ('added', 'left alone'),
        ('inventory', 'VCPU'): ('changed', 'left alone'),
    }
    synced.describe_node(ROOT, ['HW_CPU_X86_AVX2'])
    assert synced.run('sync').code == 0
    assert drift(synced, 0) == {}


def test_masked_and_unclaimed_names_are_left_alone(synced):
    synced.configure(agent={'masked_traits': 'CUSTOM_GO*'})
    set_traits(synced, 'COMPUTE_NODE', 'OWNER_NOVA', 'HW_CPU_X86_AVX2')
    assert drift(synced, 2) == {
        ('trait', 'CUSTOM_GOLD'): ('removed', 'left alone')
    }


def test_providers_that_come_and_go_are_drift(synced):
    body = {'name': 'theirs', 'uuid': CHILD, 'parent_provider_uuid': ROOT}
    synced.placement('/resource_providers', 'POST', body)
    assert drift(synced, 2) == {('provider', ''): ('added', 'left alone')}
    assert 'the provider is new: left alone' in synced.run('drift').out
    synced.others.delete(CHILD)
    synced.others.delete(ROOT)
    assert drift(synced, 2) == {('provider', ''): ('removed', 'restored')}
    assert synced.run('sync').code == 1  # the node waits for one cycle
    assert drift(synced, 2) == {('provider', ''): ('removed', 'restored')}


def test_no_driver_is_asked_and_nothing_is_written(synced, monkeypatch):
    def asked(*_):
        raise AssertionError('the driver was asked')

    for name in ('get_available_nodes', 'update_provider_tree'):
        monkeypatch.setattr(fake.FakeDriver, name, asked)
    set_traits(synced, 'COMPUTE_NODE')
    before = synced.placement(TRAITS)
    file = (synced.state_path / 'state.sqlite').read_bytes()
    assert drift(synced, 2)
    assert synced.placement(TRAITS) == before
    assert (synced.state_path / 'state.sqlite').read_bytes() == file


def test_a_write_in_progress_is_no_drift(synced, monkeypatch):
    monkeypatch.setattr(drift_command, 'PAUSE', 0)
    creation = intents.Intent(
        node_uuid=ROOT, uuid=ROOT, kind=None, generation=9
    )
    with contextlib.closing(state.State.open(synced.state_path)) as one:
        one.journal.begin(ROOT, [creation], {})
    result = synced.run('drift')
    assert result.code == 1
    assert 'the agent writes to cn1' in result.line


def test_a_node_that_nobody_knows_and_no_node_at_all(cli):
    assert cli.run('drift').out == 'no node is recorded\n'
    unknown = cli.run('drift', 'cn9')
    assert (unknown.code, 'no node cn9' in unknown.line) == (1, True)


def test_placement_that_is_away_is_an_error(synced):
    synced.stop_placement()
    assert synced.run('drift').code == 1
