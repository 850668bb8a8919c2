# SPDX-License-Identifier: Apache-2.0
"""Twenty things that nova-compute's libvirt driver reports wrongly.

Each test describes a recorded host with the whole driver, and fails on nova's
answer: ``make test-planted`` runs it with the fault planted in this driver
(``tests/mutation/planted/nova_libvirt.py``).
"""

import shutil

import pytest
import recorded_hosts

from compute_agent import errors

CPU = 'intel-sapphire-rapids'
GPU = 'gpu-three-cards'
TYPES = '[devices]\nenabled_mdev_types = nvidia-230\n'
NVME = (
    '[pci]\nreport_in_placement = true\n'
    'device_spec = {"vendor_id": "144d", "product_id": "a80a"}\n'
)


PINNED = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
GUEST = f"""<domain type='kvm'>
  <uuid>{PINNED}</uuid>
  <vcpu>2</vcpu>
  <cputune>
    <vcpupin vcpu='0' cpuset='4'/>
    <vcpupin vcpu='1' cpuset='5'/>
  </cputune>
</domain>
"""


class Host:
    """A copy of a recorded host, which a test may change."""

    def __init__(self, folder, case):
        self.folder = folder / 'host'
        self.options = folder / 'nova.conf'
        shutil.copytree(recorded_hosts.HOSTS / case, self.folder)

    def driver(self, options=''):
        self.options.write_text(options)
        return recorded_hosts.driver_on(self.folder, self.options)

    def described(self, options='', before=None):
        """Return the tree that a new driver makes of placement's."""
        libvirt = self.driver(options)
        tree = (
            recorded_hosts.tree_of(before)
            if before
            else recorded_hosts.empty_tree(libvirt)
        )
        recorded_hosts.describe(libvirt, tree)
        return recorded_hosts.plain(tree)

    def replace(self, pattern, old, new):
        """Replace a text in all files of a pattern, which must have it."""
        found = [p for p in self.folder.glob(pattern) if old in p.read_text()]
        assert found
        for path in found:
            path.write_text(path.read_text().replace(old, new))


@pytest.fixture
def host(tmp_path):
    return lambda case: Host(tmp_path, case)


def root(tree):
    return next(iter(tree.values()))


def traits(tree):
    return set(root(tree)['traits'])


def children(tree):
    return set(tree) - {next(iter(tree))}


CAPABILITIES = 'libvirt/domain_capabilities/*.xml'


@pytest.mark.catches('nova 1: SSE3 has a name that libvirt never uses')
def test_1_sse3_is_what_libvirt_calls_pni(host):
    assert 'HW_CPU_X86_SSE3' in traits(host(CPU).described())


@pytest.mark.catches(
    'nova 2: each bus of domain capabilities is a bus of disks'
)
def test_2_redirected_devices_are_no_bus_of_disks(host):
    one = host(CPU)
    one.replace(
        CAPABILITIES,
        '        <value>usb</value>\n        <value>sata</value>\n',
        '        <value>sata</value>\n',
    )
    assert 'COMPUTE_STORAGE_BUS_USB' not in traits(one.described())


@pytest.mark.catches('nova 3: a flag with a minus counts as one with a plus')
def test_3_a_removed_flag_is_absent(host):
    options = '[libvirt]\ncpu_model_extra_flags = -aes\n'
    assert 'HW_CPU_X86_AESNI' not in traits(host(CPU).described(options))


@pytest.mark.catches(
    'nova 4: the features of the host are those of its guests'
)
def test_4_a_flag_of_the_host_that_guests_do_not_get_is_absent(host):
    one = host('intel-mitigations-on')
    assert "<feature name='mpx'/>" in (
        one.folder / 'libvirt/capabilities.xml'
    ).read_text('utf-8')
    assert 'HW_CPU_X86_MPX' not in traits(one.described())


@pytest.mark.catches('nova 5: a model that is not usable counts')
def test_5_a_model_that_is_not_usable_counts_for_nothing(host):
    options = (
        '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem,SapphireRapids\n'
    )
    found = traits(host(CPU).described(options))
    assert 'HW_CPU_X86_SSE42' in found
    assert 'HW_CPU_X86_AMXTILE' not in found


@pytest.mark.catches(
    'nova 6: a machine type that fails takes its architecture with it'
)
def test_6_a_machine_type_that_fails_takes_no_other_with_it(host):
    one = host(CPU)
    (one.folder / 'libvirt/domain_capabilities/x86_64-pc-kvm.xml').unlink()
    found = traits(one.described())
    assert {'COMPUTE_ARCH_X86_64', 'COMPUTE_STORAGE_BUS_SATA'} <= found


@pytest.mark.catches('nova 7: the TPM of one machine type counts for all')
def test_7_the_tpm_of_any_machine_type_counts(host):
    one = host(CPU)
    one.replace(
        'libvirt/domain_capabilities/x86_64-pc-*.xml',
        "<tpm supported='yes'>",
        "<tpm supported='no'>",
    )
    found = traits(one.described('[libvirt]\nswtpm_enabled = true\n'))
    assert 'COMPUTE_SECURITY_TPM_2_0' in found


@pytest.mark.catches('nova 8: without enabled types, cards are not looked at')
def test_8_cards_go_when_no_type_is_enabled(host):
    one = host(GPU)
    before = one.described(TYPES)
    assert len(children(before)) == 3
    assert not children(one.described('', before))


@pytest.mark.catches('nova 8: a card that is gone is not looked at')
def test_8_a_card_that_is_gone_goes(host):
    one = host(GPU)
    before = one.described(TYPES)
    (one.folder / 'libvirt/node_devices/pci_0000_86_00_0.xml').unlink()
    gone = children(before) - children(one.described(TYPES, before))
    assert {name[-16:] for name in gone} == {'pci_0000_86_00_0'}


@pytest.mark.catches('nova 9: one unreadable device ends the cycle')
def test_9_one_unreadable_device_does_not_keep_the_host_from_its_amounts(host):
    one = host(GPU)
    before = one.described(TYPES)
    for path in one.folder.glob('libvirt/node_devices/mdev_*.xml'):
        path.write_text('<device>')
    changed = f'{TYPES}[DEFAULT]\nreserved_host_memory_mb = 777\n'
    after = one.described(changed, before)
    assert root(after)['inventory']['MEMORY_MB']['reserved'] == 777
    assert children(after) == children(before)


@pytest.mark.catches('nova 10: a list of devices that fails is empty')
def test_10_a_list_of_devices_that_fails_is_not_an_empty_list(host):
    one = host('nvme-eight')
    before = one.described(NVME)
    assert children(before)
    shutil.rmtree(one.folder / 'libvirt/node_devices')
    assert children(one.described(NVME, before)) == children(before)


@pytest.mark.catches('nova 11: the option says how many TDX guests')
def test_11_tdx_guests_are_not_more_than_the_kernel_allows(host):
    options = (
        '[libvirt]\ncpu_mode = host-passthrough\nnum_intel_tdx_guests = 99\n'
    )
    tree = host('intel-xeon-tdx').described(options)
    (child,) = children(tree)
    assert tree[child]['inventory']['MEM_ENCRYPTION_CONTEXT']['total'] == 31


@pytest.mark.catches('nova 12: a pool has the bytes of the whole cluster')
def test_12_a_pool_of_ceph_is_not_the_raw_cluster(host):
    options = '[libvirt]\nimages_type = rbd\nimages_rbd_pool = vms\n'
    found = root(host(CPU).described(options))['inventory']['DISK_GB']
    raw = 329_853_488_332_800 // 1024**3
    assert found['total'] == 81_920 < raw


@pytest.mark.catches('nova 13: a card beyond max_instances goes as a whole')
def test_13_a_limit_of_devices_drops_no_card_in_use(host):
    one = host(GPU)
    before = one.described(TYPES)
    limited = f'{TYPES}[mdev_nvidia-230]\nmax_instances = 1\n'
    in_use = next(n for n in children(before) if n.endswith('3b_00_0'))
    after = one.described(limited, before)
    assert in_use in after
    assert after[in_use]['inventory']['VGPU']['total'] == 2


@pytest.mark.catches(
    'nova 14: traits of an architecture or a TPM are never removed'
)
@pytest.mark.parametrize(
    'gone',
    [
        'COMPUTE_ARCH_AARCH64',
        'HW_ARCH_AARCH64',
        'COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER',
    ],
)
def test_14_what_the_host_has_no_more_is_removed(gone, host):
    one = host(CPU)
    before = one.described()
    assert gone not in traits(before)
    root(before)['traits'].append(gone)
    assert gone not in traits(one.described('', before))


class Running:
    """A driver that runs on while its host changes."""

    def __init__(self, one, options=''):
        self._libvirt = one.driver(options)
        self._tree = recorded_hosts.empty_tree(self._libvirt)

    def described(self):
        recorded_hosts.describe(self._libvirt, self._tree)
        return recorded_hosts.plain(self._tree)


@pytest.mark.catches('nova 15: the traits of the host are read once')
def test_15_an_upgrade_of_qemu_is_seen_without_a_restart(host):
    one = host(CPU)
    running = Running(one)
    assert 'COMPUTE_STORAGE_BUS_SATA' in traits(running.described())
    one.replace(CAPABILITIES, '<value>sata</value>', '')
    one.replace('libvirt/host.yaml', 'hypervisor: 8.2.2', 'hypervisor: 9.0.0')
    assert 'COMPUTE_STORAGE_BUS_SATA' not in traits(running.described())


@pytest.mark.catches('nova 15: the devices of the host are read once')
def test_15_a_module_parameter_that_changed_is_seen_without_a_restart(host):
    one = host('amd-epyc-snp')
    running = Running(one)
    assert children(running.described())
    (one.folder / 'sys/module/kvm_amd/parameters/sev').write_text('N\n')
    assert not children(running.described())


@pytest.mark.catches('nova 15: the devices of the host are read once')
def test_15_a_device_that_was_plugged_in_is_seen_without_a_restart(host):
    one = host('nvme-eight')
    path = min(one.folder.glob('libvirt/node_devices/pci_*.xml'))
    text = path.read_text()
    path.unlink()
    running = Running(one, NVME)
    assert len(children(running.described())) == 7
    path.write_text(text)
    assert len(children(running.described())) == 8


@pytest.mark.catches(
    'nova 16: the release of libvirt tells that there is virtiofs'
)
def test_16_what_libvirt_tells_is_not_guessed_from_its_release(host):
    one = host(CPU)
    one.replace(CAPABILITIES, '        <value>virtiofs</value>\n', '')
    assert 'COMPUTE_STORAGE_VIRTIO_FS' not in traits(one.described())


@pytest.mark.catches(
    'nova 16: only the loader tells that there is secure boot'
)
def test_16_secure_boot_without_a_secure_loader_is_seen(host):
    one = host('aarch64-neoverse-v2')
    assert 'COMPUTE_SECURITY_UEFI_SECURE_BOOT' not in traits(one.described())
    one.replace(
        CAPABILITIES,
        '  </os>',
        "<firmwareFeatures supported='yes'><enum name='secureBoot'>"
        '<value>yes</value></enum></firmwareFeatures></os>',
    )
    assert 'COMPUTE_SECURITY_UEFI_SECURE_BOOT' in traits(one.described())


@pytest.mark.catches(
    'nova 17: each emulator has all network interfaces and sound devices'
)
def test_17_devices_that_this_emulator_lacks_are_absent(host):
    found = traits(host('intel-mitigations-on').described())
    assert 'COMPUTE_NET_VIF_MODEL_E1000E' in found
    assert 'COMPUTE_NET_VIF_MODEL_RTL8139' not in found
    assert 'COMPUTE_SOUND_MODEL_AC97' not in found


@pytest.mark.catches(
    'nova 18: the traits of PCI devices are replaced as a whole'
)
def test_18_a_trait_that_an_operator_put_on_a_device_stays(host):
    one = host('nvme-eight')
    before = one.described(NVME)
    name = min(children(before))
    before[name]['traits'].append('CUSTOM_GOLD')
    libvirt = one.driver(NVME)
    tree = recorded_hosts.placed(before)
    recorded_hosts.describe(libvirt, tree)
    assert 'CUSTOM_GOLD' in recorded_hosts.plain(tree)[name]['traits']
    assert 'CUSTOM_GOLD' not in libvirt.authority


@pytest.mark.catches(
    "nova 19: only nova's database tells which guests are pinned"
)
def test_19_the_xml_of_guests_tells_which_are_pinned(host):
    one = host('cpus-shared-and-dedicated')
    (one.folder / 'libvirt/domains').mkdir()
    (one.folder / 'libvirt/domains/guest.xml').write_text(GUEST)
    libvirt = one.driver(
        '[compute]\ncpu_shared_set = 0-1\ncpu_dedicated_set = 2-7\n'
    )
    (name,) = libvirt.get_hypervisor_hostnames().values()
    tree = recorded_hosts.placed(
        {name: {'inventory': {'VCPU': {'total': 8}}, 'traits': []}}
    )
    having = {'resources': {'VCPU': 2}}
    allocations = {PINNED: {'allocations': {recorded_hosts.UUID: having}}}
    with pytest.raises(errors.ReshapeNeeded):
        libvirt.update_provider_tree(tree, name)
    libvirt.update_provider_tree(tree, name, allocations)
    assert having['resources'] == {'VCPU': 0, 'PCPU': 2}


@pytest.mark.catches('nova 20: ratios are written over')
def test_20_a_ratio_that_nobody_configured_is_operators(host):
    one = host(CPU)
    before = one.described()
    inventory = root(before)['inventory']
    assert all('allocation_ratio' not in r for r in inventory.values())


@pytest.mark.catches(
    'nova 20: an amount that is reserved no more stays reserved'
)
def test_20_an_amount_that_is_reserved_no_more_is_offered(host):
    one = host(CPU)
    before = one.described('[DEFAULT]\nreserved_host_cpus = 1\n')
    assert root(before)['inventory']['VCPU']['reserved'] == 1
    after = one.described('', before)
    assert root(after)['inventory']['VCPU']['reserved'] == 0
