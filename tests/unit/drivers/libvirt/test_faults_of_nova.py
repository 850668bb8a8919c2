# SPDX-License-Identifier: Apache-2.0
"""Twenty things that nova-compute's libvirt driver reports wrongly.

Each test describes a recorded host with the whole driver, and fails on nova's
answer. The nineteenth, the move of pinned guests' allocations to PCPU, is in
``libvirtd/test_guests.py``: it needs no database of nova's, only the guests'
XML.
"""

import shutil

import pytest
import recorded_hosts

CPU = 'intel-sapphire-rapids'
GPU = 'gpu-three-cards'
TYPES = '[devices]\nenabled_mdev_types = nvidia-230\n'
NVME = (
    '[pci]\nreport_in_placement = true\n'
    'device_spec = {"vendor_id": "144d", "product_id": "a80a"}\n'
)


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


def test_1_sse3_is_what_libvirt_calls_pni(host):
    assert 'HW_CPU_X86_SSE3' in traits(host(CPU).described())


def test_2_redirected_devices_are_no_bus_of_disks(host):
    one = host(CPU)
    one.replace(
        CAPABILITIES,
        '        <value>usb</value>\n        <value>sata</value>\n',
        '        <value>sata</value>\n',
    )
    assert 'COMPUTE_STORAGE_BUS_USB' not in traits(one.described())


def test_3_a_removed_flag_is_absent(host):
    options = '[libvirt]\ncpu_model_extra_flags = -aes\n'
    assert 'HW_CPU_X86_AESNI' not in traits(host(CPU).described(options))


def test_4_a_flag_of_the_host_that_guests_do_not_get_is_absent(host):
    one = host('intel-mitigations-on')
    assert "<feature name='mpx'/>" in (
        one.folder / 'libvirt/capabilities.xml'
    ).read_text('utf-8')
    assert 'HW_CPU_X86_MPX' not in traits(one.described())


def test_5_a_model_that_is_not_usable_counts_for_nothing(host):
    options = (
        '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem,SapphireRapids\n'
    )
    found = traits(host(CPU).described(options))
    assert 'HW_CPU_X86_SSE42' in found
    assert 'HW_CPU_X86_AMXTILE' not in found


def test_6_a_machine_type_that_fails_takes_no_other_with_it(host):
    one = host(CPU)
    (one.folder / 'libvirt/domain_capabilities/x86_64-pc-kvm.xml').unlink()
    found = traits(one.described())
    assert {'COMPUTE_ARCH_X86_64', 'COMPUTE_STORAGE_BUS_SATA'} <= found


def test_7_the_tpm_of_any_machine_type_counts(host):
    one = host(CPU)
    one.replace(
        'libvirt/domain_capabilities/x86_64-pc-*.xml',
        "<tpm supported='yes'>",
        "<tpm supported='no'>",
    )
    found = traits(one.described('[libvirt]\nswtpm_enabled = true\n'))
    assert 'COMPUTE_SECURITY_TPM_2_0' in found


def test_8_cards_go_when_no_type_is_enabled(host):
    one = host(GPU)
    before = one.described(TYPES)
    assert len(children(before)) == 3
    assert not children(one.described('', before))


def test_9_one_unreadable_device_does_not_keep_the_host_from_its_amounts(host):
    one = host(GPU)
    before = one.described(TYPES)
    for path in one.folder.glob('libvirt/node_devices/mdev_*.xml'):
        path.write_text('<device>')
    changed = f'{TYPES}[DEFAULT]\nreserved_host_memory_mb = 777\n'
    after = one.described(changed, before)
    assert root(after)['inventory']['MEMORY_MB']['reserved'] == 777
    assert children(after) == children(before)


def test_10_a_list_of_devices_that_fails_is_not_an_empty_list(host):
    one = host('nvme-eight')
    before = one.described(NVME)
    assert children(before)
    shutil.rmtree(one.folder / 'libvirt/node_devices')
    assert children(one.described(NVME, before)) == children(before)


def test_11_tdx_guests_are_not_more_than_the_kernel_allows(host):
    options = (
        '[libvirt]\ncpu_mode = host-passthrough\nnum_intel_tdx_guests = 99\n'
    )
    tree = host('intel-xeon-tdx').described(options)
    (child,) = children(tree)
    assert tree[child]['inventory']['MEM_ENCRYPTION_CONTEXT']['total'] == 31


def test_12_a_pool_of_ceph_is_not_the_raw_cluster(host):
    options = '[libvirt]\nimages_type = rbd\nimages_rbd_pool = vms\n'
    found = root(host(CPU).described(options))['inventory']['DISK_GB']
    raw = 329_853_488_332_800 // 1024**3
    assert found['total'] == 81_920 < raw


def test_13_a_limit_of_devices_drops_no_card_in_use(host):
    one = host(GPU)
    before = one.described(TYPES)
    limited = f'{TYPES}[mdev_nvidia-230]\nmax_instances = 1\n'
    in_use = next(n for n in children(before) if n.endswith('3b_00_0'))
    after = one.described(limited, before)
    assert after[in_use]['inventory']['VGPU']['total'] == 2


def test_14_an_architecture_that_went_is_removed(host):
    one = host(CPU)
    before = one.described()
    gone = {'COMPUTE_ARCH_AARCH64', 'HW_ARCH_AARCH64'}
    root(before)['traits'] += gone
    assert not gone & traits(one.described('', before))


def test_15_a_module_parameter_that_changed_is_seen_without_a_restart(host):
    one = host('amd-epyc-snp')
    libvirt = one.driver()
    tree = recorded_hosts.empty_tree(libvirt)
    recorded_hosts.describe(libvirt, tree)
    assert children(recorded_hosts.plain(tree))
    (one.folder / 'sys/module/kvm_amd/parameters/sev').write_text('N\n')
    recorded_hosts.describe(libvirt, tree)
    assert not children(recorded_hosts.plain(tree))


def test_16_what_libvirt_tells_is_not_guessed_from_its_release(host):
    one = host(CPU)
    one.replace(CAPABILITIES, '        <value>virtiofs</value>\n', '')
    assert 'COMPUTE_STORAGE_VIRTIO_FS' not in traits(one.described())


def test_17_devices_that_this_emulator_lacks_are_absent(host):
    found = traits(host('intel-mitigations-on').described())
    assert 'COMPUTE_NET_VIF_MODEL_E1000E' in found
    assert 'COMPUTE_NET_VIF_MODEL_RTL8139' not in found
    assert 'COMPUTE_SOUND_MODEL_AC97' not in found


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


def test_20_a_ratio_that_nobody_configured_is_operators(host):
    one = host(CPU)
    before = one.described()
    inventory = root(before)['inventory']
    assert all('allocation_ratio' not in r for r in inventory.values())
