# SPDX-License-Identifier: Apache-2.0
"""A nova-compute that deploys bare-metal nodes, and an agent that reports them.

nova-compute has the class ``compute_agent.IronicDriver``, the agent its driver
``ironic``, and both the nodes of one shard of a real Ironic. Each write of
nova-compute is looked at: it may create the root of a node, delete that of a
deleted node, and change its own traits, and nothing else but in one race.
"""

import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import uuid

import ironic_cloud
import local_nova
import pytest
import real_nova
import request_log

from demo import ironic_nodes

pytestmark = pytest.mark.long

HERE = pathlib.Path(__file__).parent
# make in-place has a hundred.
NODES = int(os.environ.get('COMPUTE_AGENT_COMPANION_NODES', '30'))
DISABLED = ironic_cloud.DISABLED
NOVA, AGENT = request_log.WRITERS
OF_NOVA = ('COMPUTE_', 'OWNER_NOVA')
REFUSED = 3  # the exit code of deploy_node.py


@pytest.fixture
def cloud(ironic, novas_databases, placement_server, tmp_path):
    """An Ironic without nodes; neither nova-compute nor the agent runs."""
    made = ironic_cloud.IronicCloud(
        ironic, novas_databases, placement_server, tmp_path
    )
    with contextlib.ExitStack() as undo:
        undo.callback(made.requests.save, tmp_path / 'requests.jsonl')
        undo.callback(made.stop)
        yield made


@pytest.fixture
def told(cloud, capsys):
    """Tell what both programs wrote while something happened."""

    @contextlib.contextmanager
    def tell(event):
        mark, place = len(cloud.requests), len(cloud.writes)
        found = collections.Counter()
        yield found
        found.update(
            (one.writer, one.what, one.status) for one in cloud.writes[place:]
        )
        parts = [f'{n} {" ".join(map(str, k))}' for k, n in found.items()]
        reads = collections.Counter(
            one.writer
            for one in cloud.requests.since(mark)
            if not one.is_write
        )
        with capsys.disabled():
            sys.stdout.write(
                f'\n{event}: {", ".join(parts) or "no write"}; reads of nova '
                f'{reads[NOVA]}, of the agent {reads[AGENT]}'
            )

    return tell


def test_many_nodes(cloud, told):
    cloud.enroll(ironic_nodes.racks(NODES + 1))
    others = uuid_of(NODES + 1)
    cloud.ironic.patch(others, shard=ironic_cloud.OTHER_SHARD)
    for number in range(1, NODES, 25):
        cloud.ironic.set_maintenance(uuid_of(number), on=True)
    with told('nova first'):
        alone = nova_is_first(cloud)
    with told('then the agent') as found:
        cloud.agent.start()
        cloud.wait_until_right()
    assert writers(found) == {AGENT}
    nothing_happens(cloud, told, alone)
    nodes_change(cloud, told)
    gone = nodes_go_and_come(cloud, told)
    the_service_is_disabled_and_enabled(cloud, told)
    each_is_restarted(cloud, told)
    novas_writes_are_its_own(cloud, gone)
    assert any(DISABLED in one.changed for one in cloud.writes)
    assert others not in {one.uuid for one in cloud.writes}


def nova_is_first(cloud):
    """Return what nova's log complains of while it is alone."""
    cloud.nova.start()
    cloud.wait(lambda: len(cloud.roots()) == NODES, 'nova creates the roots')
    cloud.wait_for_refreshes(1)
    assert cloud.content() == {
        uuid: ({}, ironic_cloud.NOVAS) for uuid in cloud.expected()
    }
    assert len(cloud.expected()) == NODES
    return cloud.nova.troubles()


def nothing_happens(cloud, told, alone):
    since = len(cloud.nova.log)
    with told('two refreshes of nova') as found:
        cloud.wait_for_refreshes(2)
    assert not found
    assert cloud.nova.troubles(since) <= alone
    assert cloud.is_right()
    assert cloud.requests.conflicts() == []


def nodes_change(cloud, told):
    """The agent writes to the one provider, and nova to none."""
    ironic, uuid = cloud.ironic, uuid_of(12)
    changes = {
        'another resource class': lambda: ironic.patch(
            uuid, resource_class='platinum'
        ),
        'one more trait': lambda: ironic.add_trait(uuid, 'CUSTOM_NEW'),
        'one trait less': lambda: ironic.remove_trait(uuid, 'CUSTOM_NVME'),
        'maintenance': lambda: ironic.set_maintenance(uuid, on=True),
        'no maintenance': lambda: ironic.set_maintenance(uuid, on=False),
    }
    assert 'CUSTOM_NVME' in cloud.traits(uuid)
    for event, change in changes.items():
        place = len(cloud.writes)
        with told(event) as found:
            change()
            cloud.wait_until_right()
        assert writers(found) == {AGENT}
        assert {one.uuid for one in cloud.writes[place:]} <= {uuid, ''}
    assert cloud.inventory(uuid) == {'CUSTOM_PLATINUM': (1, 0)}
    with told('then a refresh of nova') as found:
        cloud.wait_for_refreshes(1)
    assert not found
    assert cloud.is_right()
    assert cloud.requests.conflicts() == []


def nodes_go_and_come(cloud, told):
    """Return the uuids of the deleted nodes."""
    place = len(cloud.writes)
    new = [node(NODES + 2 + number) for number in range(3)]
    gone = [uuid_of(23), new[0].uuid, new[1].uuid, uuid_of(24)]

    with told('a node is deleted'):
        cloud.ironic.delete(gone[0])
        cloud.wait_until_right()
    with told('a node is enrolled'):
        cloud.enroll(new[:1])
        cloud.wait_until_right()
    with told('then a refresh of nova') as found:
        cloud.wait_for_refreshes(1)
    assert not found
    cloud.nova.stop()
    with told('a node is enrolled while nova is away'):
        cloud.enroll(new[1:2])
        cloud.wait_for_cycles(2)
    assert gone[2] not in cloud.content()
    with told('a node is deleted while nova is away'):
        cloud.ironic.delete(gone[3])
        cloud.wait_for_cycles(2)
    with told('nova is back'):
        cloud.nova.start()
        cloud.wait_until_right()
    with told('then a refresh of nova') as found:
        cloud.wait_for_refreshes(1)
    assert not found
    assert cloud.is_right()
    with told('two nodes are deleted'):
        cloud.ironic.delete(gone[1])
        cloud.ironic.delete(gone[2])
        cloud.wait_until_right()
    cloud.agent.stop()
    with told('a node is enrolled while the agent is away'):
        cloud.enroll(new[2:])
        cloud.wait(
            lambda: cloud.traits(new[2].uuid) == ironic_cloud.NOVAS,
            'nova creates its root',
        )
    with told('the agent is back'):
        cloud.agent.start()
        cloud.wait_until_right()
        cloud.wait_for_refreshes(1)
    assert cloud.is_right()
    for one in cloud.writes[place:]:
        assert one.uuid in {*gone, new[2].uuid, ''}
    return gone


def the_service_is_disabled_and_enabled(cloud, told):
    """nova's trait comes and goes, and no other.

    While nova disables the nodes, the agent gives each another trait. One of
    the two then meets the other's change now and then, and tries again.
    """
    with told('the service is disabled, and traits are added'):
        cloud.nova.disable_service(disabled=True)
        for uuid in cloud.expected():
            cloud.ironic.add_trait(uuid, 'CUSTOM_MORE')
        cloud.wait_until_right({DISABLED})
    with told('the service is enabled') as found:
        cloud.nova.disable_service(disabled=False)
        cloud.wait_until_right()
    assert writers(found) == {NOVA}
    with told('then a refresh of nova') as found:
        cloud.wait_for_refreshes(1)
    assert not found
    assert cloud.is_right()


def each_is_restarted(cloud, told):
    with told('nova is restarted') as found:
        cloud.nova.stop()
        cloud.nova.start()
        cloud.wait_for_refreshes(1)
    assert not found
    with told('the agent is restarted') as found:
        cloud.agent.stop()
        cloud.agent.start()
        cloud.wait_for_cycles(2)
    assert not found
    assert cloud.is_right()


def novas_writes_are_its_own(cloud, gone):
    """nova wrote no inventory, and no trait of another than its own."""
    for one in (one for one in cloud.writes if one.writer == NOVA):
        assert one.what in {'POST root', 'PUT traits', 'DELETE root'}, one
        assert one.what != 'DELETE root' or one.uuid in gone, one
        assert all(trait.startswith(OF_NOVA) for trait in one.changed), one
    agents = {one.what for one in cloud.writes if one.writer == AGENT}
    assert not agents & {'POST root', 'DELETE root'}


def writers(found):
    return {writer for writer, *_ in found}


def node(number):
    return ironic_nodes.racks(number)[-1]


def uuid_of(number):
    return node(number).uuid


@pytest.mark.parametrize('first', [NOVA, AGENT])
def test_a_conflict_heals(cloud, told, first):
    """Both want to write. Placement gets one write, and then the other."""
    second = AGENT if first == NOVA else NOVA
    (known,) = ironic_nodes.racks(1)
    cloud.enroll([known])
    cloud.nova.start()
    cloud.agent.start()
    cloud.wait_until_right()
    cloud.wait_for_refreshes(1)

    uuid = known.uuid
    done = {
        NOVA: lambda: DISABLED in cloud.traits(uuid),
        AGENT: lambda: 'CUSTOM_MORE' in cloud.traits(uuid),
    }
    with told('the service is disabled, and a trait added') as found:
        with one_after_the_other(cloud, first, 'PUT traits', uuid, done):
            cloud.nova.disable_service(disabled=True)
            cloud.ironic.add_trait(uuid, 'CUSTOM_MORE')
        cloud.wait_until_right({DISABLED})
    assert found[second, 'PUT traits', 409] == 1
    with told('then a refresh of nova') as found:
        cloud.wait_for_refreshes(1)
    assert not found
    assert len(cloud.requests.conflicts()) == 1
    novas_writes_are_its_own(cloud, [])


@contextlib.contextmanager
def one_after_the_other(cloud, first, what, uuid, done):
    """Hold back such a write of both, and let the first end its work then.

    :param done: writer → tells if it has ended its work
    """
    second = AGENT if first == NOVA else NOVA
    with cloud.held(second, what, uuid) as second_came:
        with cloud.held(first, what, uuid) as first_came:
            yield
            cloud.wait(first_came, f'{first} sends its write')
            cloud.wait(second_came, f'{second} sends its write')
        cloud.wait(done[first], f'{first} has written')


def test_nova_tells_ironic_what_a_request_asked_for(cloud, told):
    """So ``node stage`` is for an Ironic whose nodes nova does not deploy."""
    traits = ['CUSTOM_GPU', 'CUSTOM_NVME', 'HW_CPU_X86_VMX']
    fields = {'traits': traits, 'shard': ironic_cloud.SHARD}
    node, other = (cloud.ironic.available(n, **fields) for n in ('n1', 'n2'))
    cloud.nova.start()
    cloud.agent.start()
    cloud.wait_until_right()
    cloud.wait_for_refreshes(1)

    staged = {
        'trait:CUSTOM_NVME': 'required',
        'capabilities:boot_mode': 'bios',
    }
    cloud.agent.run(
        'node', 'stage', 'n1',
        *(f'--property={key}={value}' for key, value in staged.items()),
    )  # fmt: skip
    assert cloud.ironic.node(node)['instance_info']['traits'] == [
        'CUSTOM_NVME'
    ]
    wanted = {
        'trait:CUSTOM_GPU': 'required',
        'trait:CUSTOM_GONE': 'forbidden',
        'capabilities:boot_mode': 'uefi',
        'resources:CUSTOM_GOLD': '1',
    }
    with told('nova deploys a node') as found:
        deploy(cloud, node, wanted, {'trait:HW_CPU_X86_VMX': 'required'})
        cloud.wait_until_right()
        cloud.wait_for_refreshes(2)
    assert writers(found) == {AGENT}
    assert cloud.inventory(node) == {'CUSTOM_GOLD': (1, 1)}
    seen = cloud.ironic.node(node)
    assert seen['provision_state'] == 'active'
    info = seen['instance_info']
    assert info['traits'] == ['CUSTOM_GPU', 'HW_CPU_X86_VMX']
    assert json.loads(info['capabilities']) == {'boot_mode': 'uefi'}

    # Ironic does not know a trait that only placement has.
    refused = deploy(cloud, other, {'trait:COMPUTE_NODE': 'required'})
    assert 'missing traits COMPUTE_NODE' in refused
    assert cloud.ironic.node(other)['instance_info'] == {}
    cloud.wait_until_right()
    novas_writes_are_its_own(cloud, [])


def deploy(cloud, node, extra_specs, image=()):
    """Have nova's driver deploy an instance; return why it did not."""
    told = {
        'instance': str(uuid.uuid4()),
        'host': real_nova.SERVICE,
        'node': node,
        'extra_specs': extra_specs,
        'image': dict(image),
    }
    files = [f'--config-file={file}' for file in cloud.nova.files]
    done = subprocess.run(
        [
            str(local_nova.PROGRAMS / 'python'), '-W', 'ignore',
            str(HERE / 'deploy_node.py'), *files, json.dumps(told),
        ],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode in {0, REFUSED}, done.stderr
    return done.stderr if done.returncode else ''
