# SPDX-License-Identifier: Apache-2.0
"""Allocations of the host itself go to the devices that the guests have.

Older releases of nova reported VGPU and MEM_ENCRYPTION_CONTEXT on the host.
libvirt tells which guest has which device; what it does not tell waits.
"""

import shutil

import pytest
from agents import NODE
from vgpu_cloud import allocate, allocated

from compute_agent.cycle import resource_tracker
from compute_agent.tree import provider_tree

ROOT = 'compute1'
VGPU = 'VGPU'
CONTEXT = 'MEM_ENCRYPTION_CONTEXT'
CARDS = '[devices]\nenabled_mdev_types = nvidia-230\n'
# On the first card of the recorded host.
FIRST, SECOND = (f'3a2f4d4e-51f4-4a7a-9a3e-51f0c2b7d00{n}' for n in (1, 2))
ONE, OTHER = (f'cccccccc-cccc-4ccc-8ccc-ccccccccccc{n}' for n in range(2))
MDEV = (
    "<devices><hostdev type='mdev'><source><address uuid='{}'/></source>"
    '</hostdev></devices>'
)
SEV_ES = "<launchSecurity type='sev'><policy>0x0005</policy></launchSecurity>"
SEV = "<launchSecurity type='sev'><policy>0x0003</policy></launchSecurity>"


def child(suffix):
    return provider_tree.derived_uuid(NODE, f'{ROOT}_{suffix}')


CARD = child('pci_0000_3b_00_0')


def guest(folder, uuid, content):
    text = f'<domain><uuid>{uuid}</uuid>{content}</domain>'
    (folder / 'libvirt/domains' / f'{uuid}.xml').write_text(text)


@pytest.fixture
def reported_before(placement, agent_factory):
    """Return a function: the host itself has a class, and consumers some."""

    def reported_before(rc, **amounts):
        agent = agent_factory(
            lambda tree, node: tree.update_inventory(
                node, {rc: {'total': 40}, 'VCPU': {'total': 2}}
            ),
            nodes={NODE: ROOT},
        )
        agent.done()
        for name, amount in amounts.items():
            consumer = {'one': ONE, 'other': OTHER}[name]
            allocate(placement, consumer, {NODE: {rc: amount, 'VCPU': 1}})
        return agent.state

    return reported_before


def test_vgpus_go_to_the_card_of_each_guest(
    placement, operator, host, agent_on, reported_before
):
    state = reported_before(VGPU, one=1, other=1)
    folder = host('gpu-three-cards')
    guest(folder, ONE, MDEV.format(FIRST))
    guest(folder, OTHER, MDEV.format(SECOND))
    agent = agent_on(folder, CARDS, state=state)
    agent.done()
    assert allocated(placement, ONE, OTHER) == {
        ONE: {NODE: {'VCPU': 1}, CARD: {VGPU: 1}},
        OTHER: {NODE: {'VCPU': 1}, CARD: {VGPU: 1}},
    }
    assert VGPU not in operator.inventories()
    assert operator.inventories(CARD)[VGPU]['total'] == 16
    placement.clear()
    agent.done()
    agent.done()
    assert not placement.writes


@pytest.mark.parametrize(
    ('content', 'line'),
    [
        (None, f'VGPU stays on the host itself: libvirt knows no guest {ONE}'),
        ('', 'libvirt does not tell which device guest'),
        (MDEV.format(ONE), 'libvirt does not tell which device guest'),
        ('<cputune>', 'VGPU is not moved yet: the guests that have it'),
    ],
)
def test_a_device_that_is_not_known_waits(
    placement, operator, host, agent_on, reported_before, content, line
):
    state = reported_before(VGPU, one=1, other=1)
    folder = host('gpu-three-cards')
    guest(folder, OTHER, MDEV.format(SECOND))
    if content is not None:
        guest(folder, ONE, content)
    before = allocated(placement, ONE, OTHER)
    agent = agent_on(folder, CARDS, state=state)
    (result,) = agent.sync()
    assert result.status is not resource_tracker.Status.DONE
    assert line in result.reason
    assert allocated(placement, ONE, OTHER) == before
    assert operator.inventories()[VGPU]['total'] == 40
    found = placement.get(f'/resource_providers?in_tree={NODE}')
    assert len(found['resource_providers']) == 1
    guest(folder, ONE, MDEV.format(FIRST))
    agent.done()
    assert allocated(placement, ONE)[ONE][CARD] == {VGPU: 1}


def test_the_class_stays_on_the_host_while_libvirt_is_away(
    operator, host, agent_on, reported_before
):
    state = reported_before(VGPU, one=1)
    folder = host('gpu-three-cards')
    shutil.rmtree(folder / 'libvirt/node_devices')
    agent_on(folder, CARDS, state=state).sync()
    record = operator.inventories()[VGPU]
    assert (record['total'], record['reserved']) == (40, 0)


def test_contexts_go_to_the_kind_of_each_guest(
    placement, operator, host, agent_on, reported_before
):
    state = reported_before(CONTEXT, one=1, other=1)
    folder = host('encryption-sev-es')
    guest(folder, ONE, SEV)
    guest(folder, OTHER, SEV_ES)
    agent_on(folder, '', state=state).done()
    assert allocated(placement, ONE, OTHER) == {
        ONE: {NODE: {'VCPU': 1}, child('amd_sev'): {CONTEXT: 1}},
        OTHER: {NODE: {'VCPU': 1}, child('amd_sev_es'): {CONTEXT: 1}},
    }
    assert CONTEXT not in operator.inventories()


def test_a_context_of_another_kind_than_the_host_has_waits(
    placement, operator, host, agent_on, reported_before
):
    state = reported_before(CONTEXT, one=1)
    folder = host('encryption-sev')
    guest(folder, ONE, SEV_ES)
    (result,) = agent_on(folder, '', state=state).sync()
    assert f'{ROOT}_amd_sev_es, which is not reported' in result.reason
    assert operator.inventories()[CONTEXT]['total'] == 40
    assert allocated(placement, ONE)[ONE] == {NODE: {CONTEXT: 1, 'VCPU': 1}}


def test_without_allocations_the_class_moves_at_once(
    operator, host, agent_on, reported_before
):
    state = reported_before(VGPU)
    folder = host('gpu-three-cards')
    shutil.rmtree(folder / 'libvirt/domains')
    agent_on(folder, CARDS, state=state).done()
    assert VGPU not in operator.inventories()
    assert operator.inventories(CARD)[VGPU]['total'] == 16
