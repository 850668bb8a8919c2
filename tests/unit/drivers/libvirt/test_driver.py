# SPDX-License-Identifier: Apache-2.0
"""The driver edits the tree of its one host, and decides what it can tell."""

import dataclasses
import logging
import shutil

import pytest
import recorded_hosts
import recorded_libvirt

from compute_agent import errors
from compute_agent.tree import assertion
from compute_agent.virt import driver as contract
from compute_agent.virt.values import finding as virt
from drivers.libvirt import driver
from drivers.libvirt.capabilities import facts
from drivers.libvirt.cpu import guest_cpu
from drivers.libvirt.options import inventory
from drivers.libvirt_python import connection
from drivers.libvirtd import hypervisor

NODE = 'compute1'
CUSTOM_AND_PCI = """
[pci]
report_in_placement = true
[libvirt]
cpu_mode = custom
cpu_models = EPYC
"""
SMT = 'sys/devices/system/cpu/smt/active'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'


@pytest.fixture
def epyc(hosts, tmp_path):
    """A fake host that may be changed."""
    return shutil.copytree(hosts / 'amd-epyc-sev', tmp_path / 'root')


@pytest.fixture
def reserving(nova_conf):
    """Return the settings with one of the options ``reserved_host_*``."""
    return lambda text: inventory.read(
        nova_conf(f'[DEFAULT]\nreserved_host_{text}')
    )


def asserted(tree, kind=assertion.Kind.TRAIT):
    return tree.assertions[UUID, kind][assertion.DRIVER]


def test_the_one_node_is_the_host(make_driver, epyc):
    libvirt = make_driver(epyc)
    assert libvirt.get_available_nodes() == [NODE]
    assert libvirt.node_exists(NODE) is contract.Existence.YES
    assert libvirt.node_exists('other') is contract.Existence.UNKNOWN


def test_it_offers_evidence(make_driver, epyc):
    assert isinstance(make_driver(epyc), virt.Evidence)


def test_evidence_of_another_host_is_refused(make_driver, epyc):
    with pytest.raises(errors.DriverError, match='not other'):
        make_driver(epyc).evidence('other')


def test_traits_are_added_beside_others(make_driver, epyc, tree):
    with tree.asserting('another'):
        tree.add_traits(NODE, 'CUSTOM_RACK_7')
    make_driver(epyc).update_provider_tree(tree, NODE)
    traits = tree.data(NODE).traits
    assert {'CUSTOM_RACK_7', 'HW_CPU_X86_AMD_SVM'} <= traits
    assert asserted(tree).declared
    assert not asserted(tree).exclusive
    assert not asserted(tree).keep


def test_inventory_is_the_whole_set_without_a_ratio(
    make_driver, epyc, tree, reserving
):
    libvirt = make_driver(epyc, settings=reserving('memory_mb = 512'))
    libvirt.update_provider_tree(tree, NODE)
    assert asserted(tree, assertion.Kind.INVENTORY).exclusive
    assert tree.data(NODE).inventory['MEMORY_MB'] == {
        'total': 515557,
        'reserved': 512,
        'min_unit': 1,
        'max_unit': 515557,
        'step_size': 1,
    }


def test_present_and_absent_traits_are_in_the_authority(
    make_driver, epyc, tree
):
    libvirt = make_driver(epyc)
    libvirt.update_provider_tree(tree, NODE)
    assert 'HW_CPU_X86_AVX2' in libvirt.authority
    assert 'HW_CPU_X86_AVX512F' in libvirt.authority
    assert 'HW_CPU_AARCH64_SVE' in libvirt.authority
    assert 'HW_CPU_X86_AMD_SSBD' not in libvirt.authority


def test_a_trait_that_went_unknown_is_held_while_it_is_there(
    make_driver, epyc, tree
):
    (epyc / SMT).unlink()
    tree.update_traits(NODE, ['HW_CPU_HYPERTHREADING'])
    libvirt = make_driver(epyc)
    libvirt.update_provider_tree(tree, NODE)
    assert 'HW_CPU_HYPERTHREADING' in asserted(tree).names
    assert 'HW_CPU_HYPERTHREADING' not in libvirt.authority
    assert 'HW_CPU_X86_AVX512F' not in asserted(tree).names


def test_a_trait_that_was_turned_off_is_decided_again(make_driver, epyc, tree):
    libvirt = make_driver(epyc)
    libvirt.update_provider_tree(tree, NODE)
    (epyc / SMT).write_text('0\n')
    tree.update_traits(NODE, [])
    libvirt.update_provider_tree(tree, NODE)
    assert 'HW_CPU_HYPERTHREADING' not in tree.data(NODE).traits
    assert 'HW_CPU_HYPERTHREADING' in libvirt.authority


def test_sev_on_the_root_is_removed_whoever_put_it_there(
    make_driver, epyc, tree
):
    libvirt = make_driver(epyc)
    libvirt.update_provider_tree(tree, NODE)
    assert 'HW_CPU_X86_AMD_SEV' not in asserted(tree).names
    assert 'HW_CPU_X86_AMD_SEV' in libvirt.authority


def test_without_any_source_the_traits_are_kept(make_driver, hosts, tree):
    libvirt = make_driver(hosts / 'broken-no-flags')
    libvirt.update_provider_tree(tree, NODE)
    assert asserted(tree).keep
    assert 'HW_ARCH_X86_64' in asserted(tree).names
    assert 'HW_CPU_X86_AVX' not in libvirt.authority


def test_a_kept_answer_cannot_assert_what_the_kernel_denies(
    make_driver, epyc, tree
):
    answer = {'flags': ['avx2', 'avx512f'], 'vendor_id_raw': 'AuthenticAMD'}
    make_driver(epyc, answer).evidence(NODE)
    libvirt = make_driver(epyc)
    libvirt.update_provider_tree(tree, NODE)
    (found,) = [
        f for f in libvirt.evidence(NODE) if f.trait == 'HW_CPU_X86_AVX512F'
    ]
    assert found.sources == ('py-cpuinfo',)
    assert found.reason.endswith('but the kernel does not')
    assert 'HW_CPU_X86_AVX512F' not in tree.data(NODE).traits


@pytest.mark.parametrize(
    'path', ['proc/meminfo', 'sys/devices/system/cpu/online']
)
def test_an_unreadable_count_leaves_the_tree_as_it_was(
    make_driver, epyc, tree, path
):
    (epyc / path).unlink()
    with pytest.raises(errors.DriverError, match=f'/{path}'):
        make_driver(epyc).update_provider_tree(tree, NODE)
    assert not tree.assertions


def test_reserving_too_much_leaves_the_tree_as_it_was(
    make_driver, epyc, tree, reserving
):
    libvirt = make_driver(epyc, settings=reserving('cpus = 3'))
    with pytest.raises(errors.DriverError, match='reserved_host_cpus'):
        libvirt.update_provider_tree(tree, NODE)
    assert not tree.assertions


def test_a_node_that_is_not_in_the_tree_is_the_trees_error(
    make_driver, epyc, tree
):
    with pytest.raises(errors.TreeError, match='other'):
        make_driver(epyc).update_provider_tree(tree, 'other')


@pytest.mark.parametrize(
    ('virt_type', 'lines'), [('kvm', 0), ('qemu', 0), ('lxc', 1)]
)
def test_guests_that_libvirt_does_not_describe_are_named_once(
    nova_conf, caplog, virt_type, lines
):
    conf = nova_conf(f'[libvirt]\nvirt_type = {virt_type}')
    with caplog.at_level(logging.WARNING):
        libvirt = driver.LibvirtDriver.from_conf(conf)
    libvirt.close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == lines
    assert all('[libvirt] virt_type is lxc' in line for line in said)


def test_traits_that_libvirt_does_not_tell_are_neither_added_nor_removed(
    make_driver, epyc, tree
):
    tree.update_traits(NODE, ['HW_CPU_X86_AVX512F', 'COMPUTE_ARCH_X86_64'])
    wanted = facts.GuestOptions(
        cpu=guest_cpu.CpuOptions(mode='custom', models=('Nehalem',))
    )
    libvirt = make_driver(epyc, wanted=wanted)
    libvirt.update_provider_tree(tree, NODE)
    traits = tree.data(NODE).traits
    assert {'HW_CPU_X86_AVX512F', 'COMPUTE_ARCH_X86_64'} <= traits
    assert not {'HW_CPU_X86_AVX2', 'COMPUTE_ARCH_AARCH64'} & traits
    unknown = {'HW_CPU_X86_AVX512F', 'HW_CPU_X86_AVX2', 'COMPUTE_ARCH_X86_64'}
    assert not unknown & set(libvirt.authority)
    assert 'COMPUTE_SECURITY_TPM_2_0' in libvirt.authority


def test_py_cpuinfo_is_not_asked_if_libvirt_decides(hosts, tmp_path):
    """Its answer takes more than a second."""
    asked = recorded_hosts.sources_of(hosts / 'amd-epyc-zen5')

    class Probe:
        def reported(self, key):
            raise AssertionError('py-cpuinfo is asked')

    libvirt = driver.LibvirtDriver.on_host(
        recorded_hosts.configuration(),
        dataclasses.replace(asked, probe=Probe()),
    )
    (name,) = libvirt.get_hypervisor_hostnames().values()
    found = {f.trait: f.sources for f in libvirt.evidence(name)}
    assert found['HW_CPU_X86_AVX512F'] == (
        'domainCapabilities/cpu/mode[host-model]',
    )


def test_it_is_made_from_novas_options(nova_conf, tmp_path):
    conf = nova_conf(f'[DEFAULT]\nhost = compute7\nstate_path = {tmp_path}')
    libvirt = driver.LibvirtDriver.from_conf(conf)
    assert libvirt.get_available_nodes() == ['compute7']


def test_the_amounts_of_a_host_in_placement_stay_while_they_are_unreadable(
    make_driver, epyc, seen
):
    (epyc / 'proc/meminfo').unlink()
    tree = seen({'MEMORY_MB': {'total': 4096}, 'VCPU': {'total': 9}})
    make_driver(epyc).update_provider_tree(tree, NODE)
    totals = {rc: r['total'] for rc, r in tree.data(NODE).inventory.items()}
    assert totals['MEMORY_MB'] == 4096
    assert totals['VCPU'] == 2
    assert tree.faults == ['/proc/meminfo cannot be read']


class Restarting(recorded_libvirt.Recorded):
    """A recorded libvirt that may be away."""

    away: type[hypervisor.Unanswered] | None = None

    def _check(self):
        if self.away:
            raise self.away('libvirt does not answer')

    def hostname(self):
        self._check()
        return super().hostname()

    def memory_mib(self):
        self._check()
        return super().memory_mib()


@pytest.fixture
def restarting(hosts):
    """A host whose libvirt may be away, and the driver on it."""
    libvirt = Restarting(hosts / 'amd-epyc-zen5' / 'libvirt')
    return libvirt, driver.LibvirtDriver.on_host(
        recorded_hosts.configuration(),
        dataclasses.replace(
            recorded_hosts.sources_of(hosts / 'amd-epyc-zen5'),
            libvirt=libvirt,
            hostname='short',
        ),
    )


def test_a_host_keeps_the_name_that_libvirt_gave_it(restarting):
    libvirt, described = restarting
    told = described.get_hypervisor_hostnames()
    libvirt.away = hypervisor.Unanswered
    assert described.get_hypervisor_hostnames() == told
    assert 'short' not in told.values()


def test_a_host_whose_libvirt_never_answers_has_its_own_name(restarting):
    libvirt, described = restarting
    libvirt.away = hypervisor.Unsupported
    assert list(described.get_hypervisor_hostnames().values()) == ['short']


def test_memory_stays_while_libvirt_is_away(restarting, seen, hosts):
    libvirt, described = restarting
    libvirt.away = hypervisor.Unanswered
    first = seen({'MEMORY_MB': {'total': 4096}})
    described.update_provider_tree(first, UUID)
    assert first.data(UUID).inventory['MEMORY_MB']['total'] == 4096
    assert not first.faults

    libvirt.away = None
    libvirt.memory_mib = lambda: (libvirt._check(), 9_000_000)[1]
    second = seen({'MEMORY_MB': {'total': 4096}})
    described.update_provider_tree(second, UUID)
    libvirt.away = hypervisor.Unanswered
    third = seen({'MEMORY_MB': {'total': 4096}})
    described.update_provider_tree(third, UUID)
    for tree in (second, third):
        assert tree.data(UUID).inventory['MEMORY_MB']['total'] == 9_000_000
    assert not third.faults


@pytest.mark.parametrize(
    ('text', 'named'),
    [
        ('[libvirt]\ncpu_mode = host-model', ''),
        ('[devices]\nenabled_mdev_types = nvidia-35', 'enabled_mdev_types'),
        (
            CUSTOM_AND_PCI,
            '[pci] report_in_placement, [libvirt] cpu_mode = custom',
        ),
        ('[libvirt]\nnuma = nested', '[libvirt] numa = nested'),
        (
            '[pci]\ndevice_spec = {"remote_managed": "true"}',
            '[pci] device_spec with remote_managed',
        ),
    ],
)
def test_options_that_need_libvirt_are_named_where_its_binding_is_missing(
    nova_conf, caplog, monkeypatch, text, named
):
    monkeypatch.setattr(connection, 'BINDING', 'no_such_binding')
    driver.LibvirtDriver.from_conf(nova_conf(text)).close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == bool(named)
    assert all(named in line and 'no_such_binding' in line for line in said)


def test_until_libvirt_told_its_name_a_host_has_none(restarting):
    libvirt, described = restarting
    libvirt.away = hypervisor.Unanswered
    assert list(described.get_hypervisor_hostnames().values()) == ['']
    assert described.get_available_nodes() == ['short']
    libvirt.away = None
    assert '' not in described.get_hypervisor_hostnames().values()
