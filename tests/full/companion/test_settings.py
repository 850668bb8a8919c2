# SPDX-License-Identifier: Apache-2.0
"""A companion beside a nova-compute with each of the parity run's settings.

The companion has all starter rules, and rules that give what some setting makes
nova report: the two would undo each other if the companion wrote all of it.
``make companion-settings`` runs all cases; CASES chooses.
"""

import os

import cases  # type: ignore[import-not-found]
import pytest
import reported  # type: ignore[import-not-found]
import request_log

pytestmark = pytest.mark.long

# Short of all: nova has a child by the name that a rule gives, and an
# inventory and a trait of the root from a file.
FEW = 'pci-one provider-config'
CHOSEN = os.environ.get('COMPUTE_AGENT_COMPANION_CASES', FEW).split()
RULES = """\
enabled:
- cpu-model
- cpu-x86
- cpu-aarch64
- network-cards
- nvme-disks
- sgx-memory
rules:
- name: of-libvirt
  traits:
  - CUSTOM_GUESTS_OF_{libvirt.hypervisor}
  - CUSTOM_LIBVIRT_{libvirt.version}
  - CUSTOM_MODEL_{libvirt.cpu_model}
- name: of-nova-s-settings
  traits: [CUSTOM_GOLD, CUSTOM_BLUE, HW_PCI_ONE_TIME_USE]
- name: decided-by-nova
  traits:
  - COMPUTE_NODE
  - COMPUTE_MEM_BACKING_FILE
  - COMPUTE_SECURITY_TPM_2_0
  - HW_CPU_X86_AVX2
  - HW_CPU_X86_SSE3
  - HW_CPU_X86_SVM
- name: by-the-name-of-nova-s-child
  child: '{node}_@NAME1@'
  traits: [CUSTOM_GOLD]
  inventory: {CUSTOM_PCI_@ID1@: 4}
- name: of-our-own
  child: '{node}_ours'
  traits: [CUSTOM_GOLD, HW_CPU_X86_AVX2]
  inventory: {CUSTOM_PCI_@ID1@: 4, CUSTOM_LICENSE: 7}
"""
FILE = """\
meta: {{schema_version: '1.0'}}
providers:
- identification: {{name: {child}}}
  traits:
    additional: [CUSTOM_OF_NOVA]
"""
# How the names begin that only nova may add to a provider of its own.
NOVAS = (
    *('COMPUTE_', 'OWNER_'),
    *('HW_CPU_X86_AVX', 'HW_CPU_X86_SSE', 'HW_CPU_X86_SVM'),
)
BY_RULE = 'CUSTOM_RULE_'


@pytest.fixture
def words(host, tmp_path):
    """The words of this host for the cases and the rules."""
    return cases.words(host.libvirtd.uri, tmp_path)


@pytest.mark.parametrize(
    'name', cases.names() if CHOSEN == ['all'] else CHOSEN
)
def test_neither_undoes_the_other(host, words, name, tmp_path):
    case = cases.load(name, words)
    case.write(tmp_path / 'case.conf')
    host.add_to_conf(tmp_path / 'case.conf')
    host.agent.write_rules(rules(words))
    placement = reported.Placement(host.url)
    host.nova.start()
    host.wait(lambda: is_settled(host, case), 'nova reports, or cannot')
    novas = placement.report()
    if not novas:
        nothing_is_written(host)
        return
    host.wait_for_refreshes(1)
    since = len(host.nova.log)
    host.wait_for_refreshes(1)
    alone = host.nova.troubles(since)
    host.start_agent()
    host.wait(lambda: 'CUSTOM_GUESTS_OF_QEMU' in host.traits(), 'rules')
    watched = host.watch()
    if case.reports_nothing:  # nova tries to in each pass, alone as well
        assert watched.troubles <= alone
        assert not any(one.has_changed for one in watched.requests)
    else:
        watched.check()
    both = placement.report()
    for provider, of_nova in novas.items():
        nothing_of_novas_changed(of_nova, both[provider])
    for provider in both.keys() - novas.keys():
        assert any(t.startswith(BY_RULE) for t in both[provider].traits)
        assert 'OWNER_NOVA' not in both[provider].traits


def test_nova_takes_a_child_by_the_name_that_it_gives(host, words, tmp_path):
    """The companion's child is there before nova reports PCI devices."""
    host.agent.write_rules(rules(words))
    child = f'{host.name}_{words["NAME1"]}'
    host.nova.start()
    host.start_agent()
    host.wait(lambda: 'CUSTOM_GOLD' in host.traits(child), 'the child')
    host.wait_for_refreshes(1)
    host.nova.stop()
    cases.load('pci-one', words).write(tmp_path / 'case.conf')
    host.nova.more.append(tmp_path / 'case.conf')
    host.nova.start()
    host.wait(lambda: 'OWNER_NOVA' in host.traits(child), 'nova takes it')
    host.watch().check()
    assert host.inventory(child) == {f'CUSTOM_PCI_{words["ID1"]}': 1}
    host.agent.stop()
    host.agent.run('leave', '--yes')
    assert 'OWNER_NOVA' in host.traits(child)


def test_a_file_of_novas_adds_to_the_companions_child(host, words, tmp_path):
    """Traits only: nova-compute alone fails over inventory that it added so."""
    host.agent.write_rules(rules(words))
    child = f'{host.name}_ours'
    folder = tmp_path / 'novas_files'
    folder.mkdir()
    (folder / 'child.yaml').write_text(FILE.format(child=child))
    conf = tmp_path / 'files.conf'
    conf.write_text(f'[compute]\nprovider_config_location = {folder}\n')
    host.nova.more.append(conf)
    host.nova.start()
    host.start_agent()
    host.wait(
        lambda: 'CUSTOM_OF_NOVA' in host.traits(child),
        'nova adds to the child',
    )
    host.watch().check()
    assert {'CUSTOM_GOLD', 'CUSTOM_OF_NOVA'} <= host.traits(child)
    assert host.inventory(child) == {
        'CUSTOM_LICENSE': 7,
        f'CUSTOM_PCI_{words["ID1"]}': 4,
    }


def rules(words):
    """Return the companion's rules on this host."""
    text = RULES.replace('@NAME1@', words['NAME1'])
    return text.replace('@ID1@', words['ID1'])


def is_settled(host, case):
    """Return True once nova reported the host, or failed to."""
    if not case.reports_nothing:
        return 'COMPUTE_NODE' in host.traits()
    return ' CRITICAL ' in host.nova.log or (
        'Error updating resources for node' in host.nova.log
    )


def nothing_is_written(host):
    host.start_agent()
    host.wait(lambda: host.agent.waits, 'the companion waits')
    host.wait_for_cycles(2)
    assert host.requests.writes(0, request_log.AGENT) == []
    assert host.providers() == {}


def nothing_of_novas_changed(before, now):
    assert now.inventory == before.inventory
    assert now.parent == before.parent
    assert now.traits >= before.traits
    added = now.traits - before.traits
    assert not [one for one in added if one.startswith(NOVAS)]
