# SPDX-License-Identifier: Apache-2.0
"""With a nova.conf whose host is a service name, nova's node is found."""

import pytest

from drivers import one_host

pytestmark = pytest.mark.long

UUID = 'aaaaaaaa-1111-4111-8111-111111111111'
OTHER = 'bbbbbbbb-1111-4111-8111-111111111111'
NODE = 'cn1.example'  # as libvirt names the host
SERVICE = 'service-7'
SAID = (
    f'[DEFAULT] host is {SERVICE}, which is the name of a service: the node is '
    f'{NODE}, as placement, libvirt and nova-compute name it'
)


@pytest.fixture
def nova(cli, monkeypatch):
    """A nova.conf, and nova's compute_id in its state_path."""
    monkeypatch.setattr(one_host, 'canonical', lambda: NODE)
    cli.configure(compute_driver='libvirt', host=SERVICE)
    cli.state_path.mkdir()
    (cli.state_path / 'compute_id').write_text(UUID)
    return cli


def create(cli, name, uuid=UUID):
    """Create a provider as nova-compute does."""
    cli.others.create(uuid, name)


def names(cli):
    return list(cli.providers().items())


@pytest.mark.catches("the name of nova's service becomes the node's name")
def test_the_node_has_the_name_that_nova_gave_it(nova):
    create(nova, NODE)
    planned = nova.run('plan')
    assert planned.code == 2
    assert planned.out.startswith(f'{NODE} ({UUID})')
    assert planned.err.count(SAID) == 1
    assert nova.run('sync').code == 0
    assert names(nova) == [(NODE, UUID)]
    assert nova.run('plan').code == 0
    assert NODE in nova.run('explain', 'COMPUTE_NODE').out


def test_a_provider_of_nova_under_another_uuid_is_not_doubled(nova):
    """The compute_id of nova was not found, so this host has a new uuid."""
    create(nova, NODE, OTHER)
    synced = nova.run('sync')
    assert synced.code == 1
    assert f'belongs to provider {OTHER} in placement' in synced.out
    assert '"compute-agent approve" shows what waits' in synced.out
    assert names(nova) == [(NODE, OTHER)]


def test_a_node_that_the_agent_named_keeps_its_name(nova):
    assert nova.run('sync').code == 0
    assert names(nova) == [(SERVICE, UUID)]
    create(nova, NODE, OTHER)
    shown = nova.run('plan')
    assert (shown.code, shown.err) == (0, '')
    assert shown.out.startswith(f'{SERVICE} ({UUID})')


def test_the_agent_has_its_own_state_and_nova_s_compute_id(nova):
    create(nova, NODE)
    own = nova.folder / 'own'
    nova.configure(
        agent={'state_path': own}, compute_driver='libvirt', host=SERVICE
    )
    assert nova.run('sync').code == 0
    assert names(nova) == [(NODE, UUID)]
    assert [path.name for path in nova.state_path.iterdir()] == ['compute_id']
    assert (own / 'state.sqlite').exists()
    assert not (own / 'compute_id').exists()


def test_the_difference_costs_one_request(nova, requests_mock):
    requests_mock.real_http = True
    create(nova, NODE)
    nova.run('sync')
    before = len(requests_mock.request_history)
    nova.run('plan')
    asked = [r.query for r in requests_mock.request_history[before:]]
    assert asked == [f'uuid={UUID}', f'in_tree={UUID}']


def test_a_third_name_is_refused_and_nova_s_name_is_advised_first(nova):
    create(nova, 'cn1-before')
    nova.others.add_traits(UUID, 'OWNER_NOVA')
    refused = nova.run('plan')
    assert refused.code == 1
    first, _, last = refused.line.partition('[DEFAULT] host = cn1-before')
    assert 'two hosts have the same compute_id' in first
    assert last.startswith(
        ', which nova-compute or another agent may use, or give'
    )
    assert 'resource provider rename' not in refused.line
