# SPDX-License-Identifier: Apache-2.0
"""Every fact that the agent knows, with its type, its source and its limits.

Pure: no I/O, configuration, logging or clock. ``docs/host-facts.md`` has the
same table, and a test compares it with what is read of recorded hosts. Facts of
the family ``local`` have the names that operators give them.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from .fact import Value

# name (of several families, if the fact is the same) | type | unit | source |
# when it is unknown, beside a source that cannot be read
_TABLE = """
block.address | text | PCI address | /sys/block/*, as a real path | never
block.dax | bool | | /sys/block/*/queue/dax | before Linux 4.10
block.discard | bool | | /sys/block/*/queue/discard_max_bytes | never
block.firmware | text | | /sys/block/*/device/firmware_rev, rev | never
block.logical_block_bytes | int | bytes | /sys/block/*/queue/logical_block_size | never
block.model | text | | /sys/block/*/device/model | never
block.multipath | bool | | /sys/block/*/holders/dm-*/dm/uuid | never
block.numa_node | int | -1: no node | /sys/block/*/device/numa_node | the driver does not tell it
block.physical_block_bytes | int | bytes | /sys/block/*/queue/physical_block_size | never
block.read_only | bool | | /sys/block/*/ro | never
block.removable | bool | | /sys/block/*/removable | never
block.rotational | bool | | /sys/block/*/queue/rotational | never
block.scheduler | text | | /sys/block/*/queue/scheduler | never
block.size_bytes | int | bytes | /sys/block/*/size | never
block.transport | text | nvme, scsi, virtio, mmc, … | the kernel's name | never
block.vendor | text | | /sys/block/*/device/vendor | never
block.write_cache | text | write back, write through | /sys/block/*/queue/write_cache | before Linux 4.7
block.wwid | text | | /sys/block/*/wwid, device/wwid | never
block.zoned | text | none, host-aware, host-managed | /sys/block/*/queue/zoned | before Linux 4.10
block.zones | int | 0: not zoned | /sys/block/*/queue/nr_zones | before Linux 4.20
cpu.arch | text | as uname -m | /proc/sys/kernel/arch, uname | never
cpu.bugs | list of text | | /proc/cpuinfo | the kernel lists none on this architecture
cpu.cache_bytes | map of int | l1d, l1i, l2, … → bytes | /sys/devices/system/cpu/cpu0/cache | the kernel knows no caches (guests)
cpu.core_types | list of text | atom, core | /sys/devices/cpu_* | never
cpu.cores | int | cores | /sys/devices/system/cpu/cpu*/topology | never
cpu.family | int | ARM: the architecture | /proc/cpuinfo | the architecture has none
cpu.flags | list of text | features of every processor | /proc/cpuinfo | the kernel lists none (ppc64le)
cpu.frequency_base_khz | int | kHz | …/cpufreq/policy0/base_frequency | the driver does not tell it
cpu.frequency_driver | text | | …/cpufreq/policy0/scaling_driver | never
cpu.frequency_governors | list of text | | …/cpufreq/policy*/scaling_governor | never
cpu.frequency_max_khz | int | kHz | …/cpufreq/policy0/cpuinfo_max_freq | there is no frequency driver
cpu.frequency_min_khz | int | kHz | …/cpufreq/policy0/cpuinfo_min_freq | there is no frequency driver
cpu.idle_driver | text | | …/cpuidle/current_driver | never
cpu.idle_states | list of text | POLL, C1, … | /sys/devices/system/cpu/cpu0/cpuidle | never
cpu.isolated | list of int | processors | /sys/devices/system/cpu/isolated | never
cpu.microcode | text | | /proc/cpuinfo | the architecture has none
cpu.model | int | ARM: the part | /proc/cpuinfo | the architecture has none
cpu.model_name | text | | /proc/cpuinfo | the kernel does not tell it (ARM)
cpu.offline | list of int | processors | /sys/devices/system/cpu/offline | never
cpu.online | list of int | processors | /sys/devices/system/cpu/online | never
cpu.present | list of int | processors | /sys/devices/system/cpu/present | never
cpu.pstate | text | active, passive, off | …/intel_pstate/status | never
cpu.smt | bool | | /sys/devices/system/cpu/smt/active | never
cpu.sockets | int | | /sys/devices/system/cpu/cpu*/topology | never
cpu.stepping | int | ARM: the revision | /proc/cpuinfo | the architecture has none
cpu.threads | int | processors online | /sys/devices/system/cpu/online | never
cpu.threads_per_core | int | | /sys/devices/system/cpu/cpu*/topology | never
cpu.tickless | list of int | processors | /sys/devices/system/cpu/nohz_full | never
cpu.turbo | bool | | …/intel_pstate/no_turbo, …/cpufreq/boost | the driver has no switch for it
cpu.vendor | text | ARM: the implementer | /proc/cpuinfo | the kernel does not tell it
cpu.vulnerabilities | map of text | weakness → state | /sys/devices/system/cpu/vulnerabilities | before Linux 4.15
cpu.vulnerable | list of text | weaknesses without a mitigation | /sys/devices/system/cpu/vulnerabilities | before Linux 4.15
dmi.bios_date | text | | /sys/class/dmi/id/bios_date | the machine has no SMBIOS
dmi.bios_release | text | | /sys/class/dmi/id/bios_release | the machine has no SMBIOS
dmi.bios_vendor | text | | /sys/class/dmi/id/bios_vendor | the machine has no SMBIOS
dmi.bios_version | text | | /sys/class/dmi/id/bios_version | the machine has no SMBIOS
dmi.board_name | text | | /sys/class/dmi/id/board_name | the machine has no SMBIOS
dmi.board_vendor | text | | /sys/class/dmi/id/board_vendor | the machine has no SMBIOS
dmi.board_version | text | | /sys/class/dmi/id/board_version | the machine has no SMBIOS
dmi.chassis_type | text | SMBIOS's number | /sys/class/dmi/id/chassis_type | the machine has no SMBIOS
dmi.chassis_vendor | text | | /sys/class/dmi/id/chassis_vendor | the machine has no SMBIOS
dmi.ec_firmware_release | text | | /sys/class/dmi/id/ec_firmware_release | the machine has no SMBIOS
dmi.product_family | text | | /sys/class/dmi/id/product_family | the machine has no SMBIOS
dmi.product_name | text | | /sys/class/dmi/id/product_name | the machine has no SMBIOS
dmi.product_sku | text | | /sys/class/dmi/id/product_sku | the machine has no SMBIOS
dmi.product_version | text | | /sys/class/dmi/id/product_version | the machine has no SMBIOS
dmi.sys_vendor | text | | /sys/class/dmi/id/sys_vendor | the machine has no SMBIOS
gpu.boot_vga | bool | | /sys/bus/pci/devices/*/boot_vga | never
gpu, pci.class | text | six hexadecimal digits | /sys/bus/pci/devices/*/class | never
gpu, pci.device | text | hexadecimal | /sys/bus/pci/devices/*/device | never
gpu, pci.driver | text | empty: none | /sys/bus/pci/devices/*/driver | never
gpu, pci.iommu_group | text | empty: none | /sys/bus/pci/devices/*/iommu_group | never
gpu, pci.iommu_type | text | DMA, DMA-FQ, identity; empty: none | /sys/bus/pci/devices/*/iommu_group/type | never
gpu, pci.is_virtual_function | bool | | /sys/bus/pci/devices/*/physfn | never
gpu.mdev_types | list of text | | /sys/bus/pci/devices/*/mdev_supported_types | never
gpu.memory_bytes | int | bytes | /sys/bus/pci/devices/*/mem_info_vram_total | the driver is not amdgpu
gpu, pci.numa_node | int | -1: no node | /sys/bus/pci/devices/*/numa_node | the kernel has no NUMA
gpu, pci.physical_function | text | PCI address | /sys/bus/pci/devices/*/physfn | never
gpu, pci.revision | text | hexadecimal | /sys/bus/pci/devices/*/revision | never
gpu, pci.sriov_total_vfs | int | functions | /sys/bus/pci/devices/*/sriov_totalvfs | never
gpu, pci.sriov_vfs | int | functions | /sys/bus/pci/devices/*/sriov_numvfs | never
gpu, pci.subsystem_device | text | hexadecimal | /sys/bus/pci/devices/*/subsystem_device | never
gpu, pci.subsystem_vendor | text | hexadecimal | /sys/bus/pci/devices/*/subsystem_vendor | never
gpu, pci.vendor | text | hexadecimal | /sys/bus/pci/devices/*/vendor | never
iommu.enabled | bool | | /sys/class/iommu | never
iommu.groups | int | | /sys/kernel/iommu_groups | never
iommu.types | list of text | DMA, DMA-FQ, identity | /sys/kernel/iommu_groups/*/type | before Linux 5.11
iommu.units | list of text | | /sys/class/iommu | never
iommu.vfio | bool | vfio-pci is there | /sys/bus/pci/drivers | never
kernel.apparmor | bool | | /sys/module/apparmor/parameters/enabled | never
kernel.build | text | | /proc/sys/kernel/version | never
kernel.builtin_modules | list of text | | /lib/modules/RELEASE/modules.builtin | the distribution installs no such file
kernel.clock_source | text | | …/clocksource0/current_clocksource | never
kernel.command_line | map of text | parameter → value | /proc/cmdline | never
kernel.command_line_text | text | | /proc/cmdline | never
kernel.config | map of text | option without CONFIG_ → value | /boot/config-RELEASE, /proc/config.gz | the distribution installs no such file
kernel.kvm | bool | | /sys/class/misc | never
kernel.kvm_amd_nested | bool | | /sys/module/kvm_amd/parameters/nested | never
kernel.kvm_intel_nested | bool | | /sys/module/kvm_intel/parameters/nested | never
kernel.modules | list of text | loaded modules | /proc/modules | the kernel has no modules
kernel.realtime | bool | | /sys/kernel/realtime | never
kernel.release | text | as uname -r | /proc/sys/kernel/osrelease | never
kernel.security_modules | list of text | | /sys/kernel/security/lsm | securityfs is not mounted
kernel.selinux | text | enforcing, permissive, disabled | /sys/fs/selinux/enforce | never
kernel.tainted | int | the kernel's bits | /proc/sys/kernel/tainted | never
kernel.version_major | int | | /proc/sys/kernel/osrelease | never
kernel.version_minor | int | | /proc/sys/kernel/osrelease | never
kernel.version_patch | int | | /proc/sys/kernel/osrelease | never
libvirt.cpu_model | text | | libvirt capabilities | libvirt does not answer
libvirt.cpu_vendor | text | | libvirt capabilities | libvirt does not answer
libvirt.guest_architectures | list of text | | libvirt capabilities | libvirt does not answer
libvirt.guest_types | list of text | kvm, qemu, … | libvirt capabilities | libvirt does not answer
libvirt.hypervisor | text | QEMU, … | libvirt | libvirt does not answer
libvirt.hypervisor_version | text | | libvirt | libvirt does not answer
libvirt.iommu | bool | | libvirt capabilities | libvirt does not answer
libvirt.migration_transports | list of text | | libvirt capabilities | libvirt does not answer
libvirt.security_models | list of text | | libvirt capabilities | libvirt does not answer
libvirt.version | text | | libvirt | libvirt does not answer
mdev_type.available | int | devices | /sys/class/mdev_bus/*/mdev_supported_types/*/available_instances | never
mdev_type.description | text | | …/mdev_supported_types/*/description | never
mdev_type.device_api | text | vfio-pci, vfio-ccw, … | …/mdev_supported_types/*/device_api | never
mdev_type.instances | int | devices | …/mdev_supported_types/*/devices | never
mdev_type.parent | text | PCI address, … | /sys/class/mdev_bus | never
mdev_type.type | text | | …/mdev_supported_types | never
mdev_type.type_name | text | | …/mdev_supported_types/*/name | never
memory.bytes | int | bytes | /proc/meminfo | never
memory.corrected_errors | int | errors since boot | /sys/devices/system/edac/mc/mc*/ce_count | no EDAC driver tells
memory.cxl_devices | int | devices | /sys/bus/cxl/devices | never
memory.ecc | bool | | /sys/devices/system/edac/mc/mc*/dimm*/dimm_edac_mode | no EDAC driver tells
memory.ecc_modes | list of text | SECDED, … | /sys/devices/system/edac/mc/mc*/dimm*/dimm_edac_mode | no EDAC driver tells
memory.huge_page_bytes | int | bytes, of the default | /proc/meminfo | the kernel has no huge pages
memory.huge_pages | map of int | KiB of a page → pages | /sys/kernel/mm/hugepages | never
memory.ksm | bool | | /sys/kernel/mm/ksm/run | never
memory.numa_balancing | bool | | /proc/sys/kernel/numa_balancing | never
memory.numa_bytes | map of int | node → bytes | /sys/devices/system/node/node*/meminfo | the kernel has no NUMA
memory.numa_cpus | map of lists | node → processors | /sys/devices/system/node/node*/cpulist | the kernel has no NUMA
memory.numa_distances | map of lists | node → distances | /sys/devices/system/node/node*/distance | the kernel has no NUMA
memory.numa_huge_pages | map of maps | node → KiB of a page → pages | /sys/devices/system/node/node*/hugepages | the kernel has no NUMA
memory.numa_nodes | list of int | nodes online | /sys/devices/system/node/online | the kernel has no NUMA
memory.nvdimm_regions | int | regions | /sys/bus/nd/devices | never
memory.nvdimms | int | modules | /sys/bus/nd/devices | never
memory.swap_bytes | int | bytes | /proc/meminfo | never
memory.transparent_huge_pages | text | always, madvise, never | /sys/kernel/mm/transparent_hugepage/enabled | never
memory.types | list of text | Registered-DDR5, … | /sys/devices/system/edac/mc/mc*/dimm*/dimm_mem_type | no EDAC driver tells
memory.uncorrected_errors | int | errors since boot | /sys/devices/system/edac/mc/mc*/ue_count | no EDAC driver tells
net.address | text | PCI address, virtio0, … | /sys/class/net/*/device | never
net.clocks | list of text | ptp0, … | /sys/class/net/*/device/ptp | never
net.driver | text | empty: none | /sys/class/net/*/device/driver | never
net.is_virtual_function | bool | | /sys/class/net/*/device/physfn | never
net.mtu | int | octets | /sys/class/net/*/mtu | never
net.numa_node | int | -1: no node | /sys/class/net/*/device/numa_node | the device does not tell it
net.offloads | list of text | gro, gso, lro, ntuple, rx, rxhash, rxvlan, sg, tso, tx, txvlan | ethtool | the kernel does not tell it
net.physical_function | text | PCI address | /sys/class/net/*/device/physfn | never
net.port_name | text | p0, pf0vf1, … | /sys/class/net/*/phys_port_name | the driver has none
net.rdma | list of text | RDMA devices | /sys/class/net/*/device/infiniband | never
net.rx_queues | int | queues | /sys/class/net/*/queues | never
net.speed_mbps | int | Mbit/s | /sys/class/net/*/speed | the link is down, or the driver does not tell it
net.sriov_total_vfs | int | functions | /sys/class/net/*/device/sriov_totalvfs | never
net.sriov_vfs | int | functions | /sys/class/net/*/device/sriov_numvfs | never
net.state | text | up, down, … | /sys/class/net/*/operstate | never
net.switch_id | text | | /sys/class/net/*/phys_switch_id | the driver has none
net.tx_queues | int | queues | /sys/class/net/*/queues | never
net.type | int | 1: Ethernet, 32: InfiniBand | /sys/class/net/*/type | never
nova.images_type | text | default, raw, qcow2, flat, ploop, lvm, rbd | the option [libvirt] images_type | never
os.id | text | debian, … | /etc/os-release, /usr/lib/os-release | never
os.id_like | text | | /etc/os-release, /usr/lib/os-release | never
os.name | text | | /etc/os-release, /usr/lib/os-release | never
os.version_id | text | | /etc/os-release, /usr/lib/os-release | never
pci.link_width | int | lanes | /sys/bus/pci/devices/*/current_link_width | no PCI Express
pci.max_link_speed_gts | float | GT/s | /sys/bus/pci/devices/*/max_link_speed | no PCI Express
pci.max_link_width | int | lanes | /sys/bus/pci/devices/*/max_link_width | no PCI Express
security.efi | bool | booted by UEFI | /sys/firmware/efi | never
security.encrypted_guests | map of int | kind → guests | /sys/fs/cgroup/misc.capacity | the kernel counts none
security.fips | bool | | /proc/sys/crypto/fips_enabled | never
security.lockdown | text | none, integrity, confidentiality | /sys/kernel/security/lockdown | securityfs is not mounted
security.protected_virtualization | bool | IBM Z | /sys/firmware/uv/prot_virt_host | never
security.random_generator | text | empty: none | /sys/class/misc/hw_random/rng_current | never
security.secure_boot | bool | | the variable SecureBoot in /sys/firmware/efi/efivars | efivarfs is not mounted
security.sev | bool | KVM can run such guests | /sys/module/kvm_amd/parameters/sev | kvm_amd is not loaded
security.sev_es | bool | KVM can run such guests | /sys/module/kvm_amd/parameters/sev_es | kvm_amd is not loaded
security.sev_snp | bool | KVM can run such guests | /sys/module/kvm_amd/parameters/sev_snp | kvm_amd is not loaded
security.sgx | bool | | cpu.flags | cpu.flags is unknown
security.sgx_bytes | map of int | node → bytes | /sys/devices/system/node/node*/x86/sgx_total_bytes | before Linux 5.17
security.tdx | bool | KVM can run such guests | /sys/module/kvm_intel/parameters/tdx | kvm_intel is not loaded
security.tpm | bool | | /sys/class/tpm | never
security.tpm_version | int | 0: no TPM | /sys/class/tpm/tpm0/tpm_version_major | before Linux 5.6
usb.class | text | two hexadecimal digits | /sys/bus/usb/devices/*/bDeviceClass | never
usb.interface_classes | list of text | two hexadecimal digits | /sys/bus/usb/devices/*/bInterfaceClass | never
usb.manufacturer | text | | /sys/bus/usb/devices/*/manufacturer | never
usb.product | text | hexadecimal | /sys/bus/usb/devices/*/idProduct | never
usb.product_name | text | | /sys/bus/usb/devices/*/product | never
usb.speed_mbps | float | Mbit/s | /sys/bus/usb/devices/*/speed | never
usb.vendor | text | hexadecimal | /sys/bus/usb/devices/*/idVendor | never
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One fact that the agent knows.

    :ivar type: text, bool, int, float, a list of them, or a map from text
    :ivar unit: the unit, or what the value says; may be empty
    :ivar source: what it is read from
    :ivar unknown: when it is unknown, beside a source that cannot be read
    """

    name: str
    type: str
    unit: str
    source: str
    unknown: str


def _entries(line: str) -> Iterator[Entry]:
    names, kind, unit, source, unknown = map(str.strip, line.split('|'))
    families, _, attribute = names.partition('.')
    for family in families.split(', '):
        yield Entry(
            name=f'{family}.{attribute}',
            type=kind,
            unit=unit,
            source=source,
            unknown=unknown,
        )


#: Name → fact, sorted.
ENTRIES: Mapping[str, Entry] = {
    entry.name: entry
    for entry in sorted(
        (e for line in _TABLE.strip().splitlines() for e in _entries(line)),
        key=lambda entry: entry.name,
    )
}

_PLAIN: Mapping[str, type] = {
    'text': str,
    'bool': bool,
    'int': int,
    'float': float,
    'lists': tuple,
    'maps': Mapping,
}


def fits(entry: Entry, value: Value) -> bool:
    """Return True if the value is of the type of the fact."""
    kind, _, item = entry.type.partition(' of ')
    if kind == 'list':
        return isinstance(value, tuple) and _all(value, item)
    if kind == 'map':
        return isinstance(value, Mapping) and _all(value.values(), item)
    return type(value) is _PLAIN[kind]


def _all(values: Iterable[Value], kind: str) -> bool:
    return all(isinstance(value, _PLAIN[kind]) for value in values)
