# SPDX-License-Identifier: Apache-2.0
"""Two hosts made from one image have one uuid, and that is said."""

import pytest
from agents import Clock, Driver
from keystoneauth1 import adapter, session, token_endpoint

from compute_agent.cmd.wiring.agent_settings import Settings
from compute_agent.cmd.wiring.building import build_agent
from compute_agent.cycle import resource_tracker
from compute_agent.state import state
from compute_agent.virt import drivers
from report_client.http import placement as placement_api

Status = resource_tracker.Status
UUID = '11111111-1111-4111-8111-111111111111'


class Host(Driver):
    """A host that finds its uuid in compute_id; a test may rename it."""

    def __init__(self, name):
        super().__init__(_describe)
        self.name = name

    def get_available_nodes(self):
        return [self.name]

    def get_nodenames_by_uuid(self):
        return {}


def _describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 4}})


@pytest.fixture
def start(placement, tmp_path):
    """Start the agent of a host in a directory with the same compute_id."""
    states = []

    def start(name, directory, clock=None):
        folder = tmp_path / directory
        if not folder.exists():
            folder.mkdir(mode=0o755)
            (folder / 'compute_id').write_text(UUID)
        made = session.Session(
            auth=token_endpoint.Token(placement.url, 'admin'),
            session=placement.session,
        )
        service = placement_api.Placement(
            adapter.Adapter(made, service_type='placement'), 'placement'
        )
        states.append(state.State.open(folder, 'test'))
        return build_agent(
            Settings(identity_directories=[folder]),
            drivers=drivers.Drivers.only(Host(name)),
            service=service,
            state=states[-1],
            clock=clock or Clock(),
        )

    yield start
    for each in states:
        each.close()


def done(agent):
    (result,) = agent.tracker.sync()
    assert result.status is Status.DONE, result


def refused(agent):
    (result,) = agent.tracker.sync()
    assert result.status is Status.FAILED
    return result.reason


def rename(placement, name):
    body = {'name': name, 'parent_provider_uuid': None}
    placement.put(f'/resource_providers/{UUID}', body)


@pytest.mark.catches('a cloned host is advised to rename the provider')
def test_a_clone_is_not_advised_to_rename_the_provider(
    placement, start, tmp_path
):
    clock = Clock()
    one = start('one', 'one', clock)
    done(one)
    done(one)
    two = start('two', 'two', clock)
    for _ in range(2):
        why = refused(two)
        assert 'two hosts have the same compute_id' in why
        assert f'delete {tmp_path}/two/compute_id on one of them' in why
        assert 'resource provider rename' not in why
    rename(placement, 'two')  # the operator did it all the same
    done(two)
    done(two)
    clock.now += 300  # a name alone changes no generation
    why = refused(one)
    assert 'two hosts have the same compute_id' in why
    assert f'delete {tmp_path}/one/compute_id on one of them' in why
    assert 'resource provider rename' not in why
    rename(placement, 'one')
    done(one)
    clock.now += 300
    assert 'two hosts have the same compute_id' in refused(two)


def test_a_host_that_was_renamed_gets_the_advice(placement, start):
    one = start('one', 'one')
    done(one)
    done(one)
    again = start('new-name', 'one')
    for _ in range(2):
        assert f'"compute-agent resource provider rename {UUID}"' in refused(
            again
        )
    rename(placement, 'new-name')
    done(again)


def test_a_copy_without_compute_id_is_another_host(
    placement, start, operator, tmp_path
):
    one = start('one', 'one')
    done(one)
    (tmp_path / 'two').mkdir(mode=0o755)
    done(start('two', 'two'))
    done(one)
    assert set(operator.holdings()) == {'one', 'two'}
