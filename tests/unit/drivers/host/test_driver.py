# SPDX-License-Identifier: Apache-2.0
"""The host driver names its node as nova does, and gives it no traits."""

import host_facts as recorded_hosts
import pytest
import recorded_libvirt

from compute_agent import errors
from compute_agent.tree import provider_tree
from compute_agent.virt import driver as contract
from compute_agent.virt.values import finding, host_facts
from drivers.host import driver, rule_files

ROOT = '3b0b4a5e-62a1-4b6f-9df5-6a7b1f6b9f10'


@pytest.fixture
def host(tmp_path):
    case = recorded_hosts.TESTS / 'host_facts/aarch64.yaml'
    return recorded_hosts.make(case, tmp_path)


def _driver(host, configured=''):
    return driver.HostDriver(
        configured=configured,
        hostname='cn1',
        of=host.sources(),
        read_rules=rule_files.RuleSet,
    )


def test_the_node_has_the_names_of_nova(host):
    of_libvirt = recorded_libvirt.Recorded(host.root / 'libvirt').hostname()
    made = _driver(host, 'cn1-service')
    assert made.get_available_nodes() == ['cn1-service']
    assert made.get_hypervisor_hostnames() == {'cn1-service': of_libvirt}
    for name in ('cn1-service', of_libvirt):
        assert made.node_exists(name) is contract.Existence.YES
    assert made.node_exists('cn2') is contract.Existence.UNKNOWN


def test_without_libvirt_and_option_the_host_s_own_name_is_the_node_s(host):
    (host.root / 'libvirt/host.yaml').unlink()
    made = _driver(host)
    assert made.get_available_nodes() == ['cn1']
    assert made.get_hypervisor_hostnames() == {'cn1': 'cn1'}


def test_without_rules_it_declares_no_traits(host):
    tree = provider_tree.ProviderTree()
    tree.new_root('cn1', ROOT)
    _driver(host).update_provider_tree(tree, 'cn1')
    assert tree.data('cn1').traits == set()
    assert tree.data('cn1').inventory == {}


def test_each_fact_is_evidence_without_a_trait(host):
    found = {f.fact: f for f in _driver(host).evidence('cn1')}
    assert found['cpu.arch'].found is finding.Found.PRESENT
    assert found['cpu.arch'].trait is None
    assert found['cpu.model_name'].found is finding.Found.UNKNOWN
    assert found['cpu.model_name'].reason
    with pytest.raises(errors.DriverError, match='this host is cn1, not cn2'):
        _driver(host).evidence('cn2')


def test_it_lists_its_facts(host):
    made = _driver(host)
    assert isinstance(made, host_facts.HostFacts)
    rows = {row.name: row for row in made.host_facts().rows}
    assert rows['cpu.arch'].value == 'aarch64'


class Heard:
    """Events of devices that remember what the driver does with them."""

    def __init__(self):
        self.calls = []

    def start(self, wake):
        self.calls.append(wake)

    def close(self):
        self.calls.append('closed')


def test_events_of_devices_wake_the_agent_until_the_driver_is_closed(host):
    heard = Heard()
    made = driver.HostDriver(
        configured='',
        hostname='cn1',
        of=host.sources(),
        read_rules=rule_files.RuleSet,
        heard=heard,
    )
    assert heard.calls == []
    made.subscribe(print)
    made.close()
    assert heard.calls == [print, 'closed']
