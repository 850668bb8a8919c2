# SPDX-License-Identifier: Apache-2.0
"""Rules beside nova-compute: what they give is written, and nothing else."""

import functools
import json

import host_facts
import pytest
from agents import NAME, NODE

from compute_agent.cycle.resource_tracker import Status
from compute_agent.ownership.policy import Mode
from compute_agent.virt.values import finding
from drivers.host import driver, rule_files

RULES = """
rules:
- name: storage
  when: block.exists(d, d.transport == 'nvme')
  traits: [CUSTOM_NVME_HOST]
- name: disks
  for_each: block
  when: device.transport == 'nvme' && !device.read_only
  child: '{node}_{device.name}'
  traits: [STORAGE_DISK_SSD]
  inventory: {CUSTOM_DISK_GB: device.size_bytes / 1000000000}
"""
CHILD = f'{NAME}_nvme0n1'


class Host:
    """A recorded host beside nova-compute, and its rules."""

    def __init__(self, tmp_path):
        case = host_facts.TESTS / 'host_facts/disks.yaml'
        self.recorded = host_facts.make(case, tmp_path)
        # Without libvirt's name for it, the host is called as nova calls it.
        (self.recorded.root / 'libvirt/host.yaml').unlink()
        self.folder = tmp_path / 'rules.d'
        self.folder.mkdir()
        self.write(RULES)
        self.driver = driver.HostDriver(
            configured=NAME,
            hostname=NAME,
            of=self.recorded.sources(),
            read_rules=functools.partial(
                rule_files.read,
                str(self.folder),
                driver.WORDS,
                given=True,
                starter=False,
            ),
        )

    def write(self, text):
        (self.folder / 'a.yaml').write_text(text)


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


@pytest.fixture
def companion(agent_factory, operator, host, monkeypatch):
    """Return a companion with the host's rules; the root is nova's."""
    operator.create(NODE, NAME)
    operator.set_inventories({'VCPU': {'total': 8}})
    operator.add_traits('COMPUTE_NODE', 'OWNER_NOVA')
    monkeypatch.setattr(
        host.driver, 'get_nodenames_by_uuid', lambda: {NODE: NAME}
    )
    return agent_factory(host.driver, mode=Mode.COMPANION)


def test_rules_give_traits_to_the_root_and_a_child_for_a_disk(
    companion, operator
):
    companion.done()
    assert operator.traits() == {
        'COMPUTE_NODE',
        'OWNER_NOVA',
        'CUSTOM_NVME_HOST',
    }
    held = operator.holdings()
    assert set(held) == {NAME, CHILD}
    assert held[CHILD]['traits'] == {'STORAGE_DISK_SSD', 'CUSTOM_RULE_DISKS'}
    assert held[CHILD]['inventories']['CUSTOM_DISK_GB']['total'] == 3840


def test_a_quiet_cycle_is_one_request(companion, placement):
    companion.done()
    companion.done()
    placement.clear()
    companion.done()
    assert len(placement.requests) == 1
    assert placement.writes == []


def test_a_rule_that_is_deleted_takes_its_names_along_after_a_reload(
    companion, host, operator
):
    companion.done()
    host.write('rules: []')
    companion.done()
    assert CHILD in operator.holdings()
    host.driver.reload()
    companion.done()
    assert operator.traits() == {'COMPUTE_NODE', 'OWNER_NOVA'}
    assert set(operator.holdings()) == {NAME}


def test_while_the_disks_cannot_be_listed_all_stays(companion, host, operator):
    companion.done()
    before = operator.holdings()
    block = host.recorded.root / 'sys/block'
    for entry in block.iterdir():
        if entry.is_symlink():
            entry.unlink()
    block.rename(block.with_name('hidden'))
    block.write_text('no folder')
    companion.done()
    assert operator.holdings() == before


def test_a_disk_that_is_gone_takes_its_child_along(companion, host, operator):
    companion.done()
    (host.recorded.root / 'sys/block/nvme0n1').unlink()
    companion.done()
    assert set(operator.holdings()) == {NAME}
    assert 'CUSTOM_NVME_HOST' in operator.traits()


def test_two_rules_that_contradict_each_other_are_a_fault(
    companion, host, operator
):
    host.write(
        RULES
        + RULES.replace('name: ', 'name: other-')
        .replace('rules:', '')
        .replace('/ 1000000000', '/ 1000000')
    )
    host.driver.reload()
    (result,) = companion.sync()
    assert result.status is not Status.DONE
    assert 'the rules disks' in result.reason
    assert 'other-disks' in result.reason
    assert operator.holdings()[CHILD]['inventories'] == {}


def test_the_evidence_goes_through_to_rule_and_fact(host):
    (found,) = [
        f
        for f in host.driver.evidence(NAME)
        if f.trait == 'STORAGE_DISK_SSD' and f.found is finding.Found.PRESENT
    ]
    assert found.provider == CHILD
    assert found.fact == 'rule disks for nvme0n1'
    place, *facts = found.sources
    assert place == f'{host.folder}/a.yaml:6'
    assert facts[0] == 'block.transport = "nvme" (/sys/block/nvme0n1)'


def test_saved_facts_of_another_host_are_tried(host, tmp_path):
    path = tmp_path / 'saved.json'
    rows = [
        {'name': 'block.devices', 'value': ['vda']},
        {'name': 'block.vda.transport', 'value': 'virtio'},
        {'name': 'block.vda.read_only', 'value': False},
    ]
    path.write_text(json.dumps(rows))
    found = host.driver.try_rules(NAME, str(path))
    assert [(r.rule, r.device, r.result) for r in found] == [
        ('storage', '', 'does not give'),
        ('disks', 'vda', 'does not give'),
    ]
