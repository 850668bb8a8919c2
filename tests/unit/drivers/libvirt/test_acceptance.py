# SPDX-License-Identifier: Apache-2.0
"""Each configuration of a hypervisor that has to be right has a proof.

A proof is ``hosts/FOLDER``, ``hosts/FOLDER: TITLE`` of a configuration in its
``expected.yaml``, ``parity/CASE``, or a test as ``FILE::FUNCTION`` below
``tests/``. Each is checked to exist.
"""

import pathlib
import re

import pytest
import yaml

TESTS = pathlib.Path(__file__).parents[3]
DEVICES = 'functional/libvirt/test_devices.py'
LIBVIRT = 'unit/drivers/libvirt'
CHILDREN = f'{LIBVIRT}/reading/test_recorded_children.py'
COMPUTE = f'{LIBVIRT}/capabilities/test_compute_traits.py'
GUEST_CPU = f'{LIBVIRT}/cpu/test_guest_cpu.py'
LIBVIRTD = 'full/libvirt/test_cycles.py'
TDX = 'hosts/encryption-tdx'
GPUS = 'hosts/gpu-three-cards'
NICS = 'hosts/nic-virtual-functions'

PROOFS = {
    'a flat KVM host': ['hosts/intel-sapphire-rapids', 'parity/default'],
    'shared and dedicated processors': [
        'hosts/cpus-shared-and-dedicated',
        'parity/cpus-shared-dedicated',
    ],
    'dedicated processors only': [
        'hosts/cpus-dedicated-only',
        'parity/cpus-dedicated-only',
    ],
    'power management with processors turned off': [
        'hosts/cpus-powered-down',
        'hosts/cpus-powered-down-with-libvirt',
        'hosts/cpus-powered-down-by-hand',
    ],
    'memory in files': ['hosts/memory-in-files', 'parity/file-backed-memory'],
    'a pool of Ceph': ['hosts/disk-in-ceph', 'hosts/disk-in-ceph-that-fails'],
    'persistent memory': ['hosts/pmem', 'hosts/pmem-namespace-missing'],
    'two types on three cards, one with max_instances': [
        (
            f'{GPUS}: two types on three cards, max_instances of one does not '
            'count the other'
        ),
        f'{GPUS}: two types, each for its cards, one with a class of its own',
    ],
    'max_instances': [
        (
            f'{GPUS}: max_instances never drops the card in use, and cuts the '
            'last one'
        ),
        f'{GPUS}: max_instances is less than there is already',
    ],
    'mediated devices of VFs': [
        'hosts/gpu-sriov-mdev: a provider for each VF'
    ],
    'eight NVMe drives': ['hosts/nvme-eight: each drive is a provider'],
    'eight VFs without a physical network': [
        f'{NICS}: the VFs are units of their PF'
    ],
    'eight VFs of a physical network': [
        f"{NICS}: the VFs of a physical network are neutron's",
        'parity/pci-physnet',
    ],
    'a PF as a whole': [f'{NICS}: a PF as a whole, with its NUMA node'],
    'a device for one use, free and used': [
        'hosts/nvme-eight: for one use; used, used before, and free'
    ],
    'live_migratable': [
        f'{NICS}: the address of a PF selects its VFs too',
        'parity/pci-live-migratable',
    ],
    'VFs of two classes on one PF': [
        f'{NICS}: VFs of two classes on one PF are refused'
    ],
    'remote_managed with a serial number and without': [
        f'{NICS}: remote_managed needs the serial number of the card',
        (
            f'{LIBVIRT}/reading/test_remote_ports.py::'
            'test_an_entry_has_to_select_a_device_with_a_serial_number'
        ),
    ],
    'SEV': ['hosts/encryption-sev: contexts of SEV only'],
    'SEV and SEV-ES': [
        (
            'hosts/encryption-sev-es: contexts of SEV and of SEV-ES, on a '
            'provider each'
        )
    ],
    'SEV and SEV-SNP, which hides SEV-ES': [
        'hosts/encryption-sev-snp: contexts of SEV and of SEV-SNP'
    ],
    'TDX by the cgroup': [f"{TDX}: the kernel's number"],
    'TDX by the option': [
        f'{TDX}: the option is smaller',
        f'{CHILDREN}::test_the_option_counts_tdx_guests_without_the_cgroup',
    ],
    'TDX without either': [
        f'{CHILDREN}::test_tdx_guests_that_nothing_counts_are_unknown'
    ],
    'swtpm on and off': ['parity/swtpm', 'parity/default'],
    'a libvirt that tells no release of the TPM': [
        f'{COMPUTE}::test_a_tpm_without_a_release_is_unknown'
    ],
    'secure boot on q35 only': [
        f'{COMPUTE}::test_one_machine_type_that_has_it_is_enough',
        'hosts/qemu-four-emulators',
    ],
    'virt_type qemu with four emulators': [
        'hosts/qemu-four-emulators',
        f'{COMPUTE}::test_an_architecture_is_present_if_its_guests_can_start',
    ],
    'host-passthrough on aarch64': [
        f'{GUEST_CPU}::test_on_aarch64_the_kernel_lists_what_kvm_guests_get',
        'hosts/aarch64-neoverse-v2',
    ],
    'models of which one is not usable': [
        f'{GUEST_CPU}::test_models_that_are_not_usable_count_for_nothing',
        'parity/cpu-custom-two',
    ],
    'a flag with a minus': [
        f'{GUEST_CPU}::test_a_removed_flag_is_absent',
        'parity/cpu-host-model-minus',
    ],
    'libvirt away in the middle': [
        f'{LIBVIRTD}::test_without_libvirtd_nothing_changes',
        f'{DEVICES}::test_a_listing_that_fails_leaves_the_children',
    ],
    'a device that is gone, with an allocation and without': [
        f'{DEVICES}::test_a_device_that_is_gone_goes_unless_a_guest_has_it'
    ],
    'enabled_mdev_types without types': [
        f'{GPUS}: the types were taken out of nova.conf, and the cards go',
        (
            f'{DEVICES}::'
            'test_types_taken_out_of_nova_conf_take_their_children_away'
        ),
    ],
}


def titles(folder):
    path = TESTS / 'hosts' / folder / 'expected.yaml'
    data = yaml.safe_load(path.read_text())
    return {one['title'] for one in data.get('configurations', ())}


def exists(proof):
    if '::' in proof:
        path, function = proof.split('::')
        text = (TESTS / path).read_text()
        return re.search(rf'^def {function}\(', text, re.MULTILINE) is not None
    kind, name = proof.split('/')
    if kind == 'parity':
        return (TESTS / 'parity' / 'cases' / f'{name}.yaml').is_file()
    folder, _, title = name.partition(': ')
    if title:
        return title in titles(folder)
    return (TESTS / 'hosts' / folder / 'expected.yaml').is_file()


@pytest.mark.parametrize('configuration', PROOFS)
def test_each_configuration_has_its_proofs(configuration):
    proofs = PROOFS[configuration]
    assert proofs
    assert [proof for proof in proofs if not exists(proof)] == []


@pytest.mark.parametrize(
    'proof',
    [
        'hosts/nowhere',
        'parity/nothing',
        f'{TDX}: a title of none',
        f'{COMPUTE}::test_nothing',
    ],
)
def test_a_proof_that_is_not_there_is_noticed(proof):
    assert not exists(proof)
