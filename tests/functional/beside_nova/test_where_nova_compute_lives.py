# SPDX-License-Identifier: Apache-2.0
"""On a host where nova-compute lives, an agent asks before it reports it."""

import pytest
from agents import NODE

from compute_agent.cycle.resource_tracker import Status
from compute_agent.ownership.policy import Mode
from drivers import one_host

pytestmark = pytest.mark.long

UUID = 'aaaaaaaa-1111-4111-8111-111111111111'
NAME = 'cn1.example'  # as libvirt names the host


@pytest.fixture
def nova(cli, monkeypatch):
    """nova's compute_id, which is not in the agent's own directory."""
    monkeypatch.setattr(one_host, 'canonical', lambda: NAME)
    cli.state_path.mkdir()
    (cli.state_path / 'compute_id').write_text(UUID)
    configure(cli)
    return cli


def configure(cli, **agent):
    own = {'state_path': cli.folder / 'own', **agent}
    cli.configure(compute_driver='libvirt', host='service', agent=own)


def names(cli):
    return list(cli.providers().items())


@pytest.mark.catches('an owner creates the root where nova-compute runs')
def test_a_missing_root_waits_until_a_person_decides(nova):
    planned = nova.run('plan')
    assert planned.code == 1
    assert 'nova-compute lives on this host' in planned.out + planned.err
    synced = nova.run('sync')
    assert synced.code == 1
    assert 'set mode = companion' in synced.out
    assert names(nova) == []


@pytest.mark.parametrize(
    ('agent', 'words'),
    [({'mode': 'owner'}, ()), ({}, ('--yes',))],
    ids=['the mode', 'a yes'],
)
def test_a_person_s_decision_lets_it_go_on(nova, agent, words):
    configure(nova, **agent)
    assert nova.run('sync', *words).code == 0
    assert names(nova) == [('service', UUID)]
    configure(nova)
    assert nova.run('sync').code == 0


def test_a_companion_finds_the_root_by_libvirt_s_name(nova):
    """The libvirt driver itself is for owners: it sets the root's inventory."""
    (nova.state_path / 'compute_id').unlink()
    configure(nova, mode='companion')
    waiting = nova.run('plan')
    assert waiting.code == 1
    assert f'placement has no root provider {NAME}' in waiting.line
    nova.placement('/resource_providers', 'POST', {'name': NAME, 'uuid': UUID})
    planned = nova.run('sync')
    assert planned.code == 1
    assert planned.out.startswith(f'{NAME} ({UUID}): failed')
    assert "which is nova-compute's alone" in planned.out
    files = [path.name for path in nova.folder.rglob('compute_id*')]
    assert files == []


@pytest.mark.parametrize('mode', ['companion', 'reporter'])
def test_a_file_that_an_owner_wrote_before_does_not_matter(nova, mode):
    """It was without mode before, and made an identity of its own."""
    own = nova.folder / 'own'
    own.mkdir()
    (own / 'compute_id').write_text(UUID.replace('a', 'c'))
    nova.placement('/resource_providers', 'POST', {'name': NAME, 'uuid': UUID})
    configure(nova, mode=mode)
    planned = nova.run('plan')
    assert f'{NAME} ({UUID})' in planned.out + planned.err
    assert planned.err.count(f'{own}/compute_id does not have the uuid') == 1
    row = next(
        one
        for one in nova.run('doctor', '-f', 'json').data
        if one['check'] == 'compute_id'
    )
    assert row['outcome'] == 'warning'
    assert row['fix'] == f'remove {own}/compute_id'


def root(operator):
    operator.create(NODE, 'node-1')
    operator.add_traits('COMPUTE_NODE', 'OWNER_NOVA')


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


def test_a_root_of_nova_s_without_inventory_asks_too(agent_factory, operator):
    root(operator)
    agent = agent_factory(describe, takes_over=False)
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert '[compute_agent] mode = companion' in result.reason
    assert operator.inventories() == {}
    agent_factory(describe, state=agent.state, takes_over=True).done()
    agent_factory(describe, state=agent.state, takes_over=False).done()


def test_the_mode_answers_for_a_root_without_inventory(
    agent_factory, operator
):
    root(operator)
    agent_factory(describe, takes_over=False, mode=Mode.OWNER).done()
    assert 'VCPU' in operator.inventories()
