# SPDX-License-Identifier: Apache-2.0
"""The tables of COMPUTE_* traits, by what decides each.

Pure: no I/O, configuration, logging or clock. ``compute_findings.py`` decides
the traits by these tables. A trait that is in no table belongs to another
provider, or describes what nova does and not what the host can do.
"""

from collections.abc import Mapping

from .facts import Place

#: What nova-compute can do with guests of every libvirt host. Source: nova's
#: configuration of compute driver capabilities, which it reports as traits.
ALWAYS = (
    'COMPUTE_ACCELERATORS',
    'COMPUTE_DEVICE_TAGGING',
    'COMPUTE_NET_ATTACH_INTERFACE',
    'COMPUTE_NET_ATTACH_INTERFACE_WITH_TAG',
    'COMPUTE_RESCUE_BFV',
    'COMPUTE_SOCKET_PCI_NUMA_AFFINITY',
    'COMPUTE_TRUSTED_CERTS',
    'COMPUTE_VOLUME_ATTACH_WITH_TAG',
    'COMPUTE_VOLUME_EXTEND',
    'COMPUTE_VOLUME_MULTI_ATTACH',
)

#: What nova-compute cannot do with guests of any libvirt host.
NEVER = (
    'COMPUTE_EPHEMERAL_ENCRYPTION',
    'COMPUTE_EPHEMERAL_ENCRYPTION_LUKS',
    'COMPUTE_SAME_HOST_COLD_MIGRATE',
)

#: The formats of images that nova converts or starts on libvirt.
IMAGE_TYPES: Mapping[str, str] = {
    'aki': 'COMPUTE_IMAGE_TYPE_AKI',
    'ami': 'COMPUTE_IMAGE_TYPE_AMI',
    'ari': 'COMPUTE_IMAGE_TYPE_ARI',
    'iso': 'COMPUTE_IMAGE_TYPE_ISO',
    'ploop': 'COMPUTE_IMAGE_TYPE_PLOOP',
    'qcow2': 'COMPUTE_IMAGE_TYPE_QCOW2',
    'raw': 'COMPUTE_IMAGE_TYPE_RAW',
}

#: The architectures that a guest may have, as libvirt names them.
ARCHITECTURES: Mapping[str, str] = {
    'aarch64': 'COMPUTE_ARCH_AARCH64',
    'mipsel': 'COMPUTE_ARCH_MIPSEL',
    'ppc64le': 'COMPUTE_ARCH_PPC64LE',
    'riscv64': 'COMPUTE_ARCH_RISCV64',
    's390x': 'COMPUTE_ARCH_S390X',
    'x86_64': 'COMPUTE_ARCH_X86_64',
}


def _bus(value: str) -> Place:
    return Place(path='devices/disk', enum='bus', value=value)


def _video(value: str) -> Place:
    return Place(path='devices/video', enum='modelType', value=value)


def _tpm(enum: str, value: str) -> Place:
    return Place(path='devices/tpm', enum=enum, value=value)


#: Values in the domain capabilities of any kind of guest.
PLACES: Mapping[str, Place] = {
    'COMPUTE_FIRMWARE_UEFI': Place(path='os', enum='firmware', value='efi'),
    'COMPUTE_GRAPHICS_MODEL_BOCHS': _video('bochs'),
    'COMPUTE_GRAPHICS_MODEL_CIRRUS': _video('cirrus'),
    'COMPUTE_GRAPHICS_MODEL_GOP': _video('gop'),
    'COMPUTE_GRAPHICS_MODEL_NONE': _video('none'),
    'COMPUTE_GRAPHICS_MODEL_QXL': _video('qxl'),
    'COMPUTE_GRAPHICS_MODEL_VGA': _video('vga'),
    'COMPUTE_GRAPHICS_MODEL_VIRTIO': _video('virtio'),
    'COMPUTE_GRAPHICS_MODEL_VMVGA': _video('vmvga'),
    'COMPUTE_GRAPHICS_MODEL_XEN': _video('xen'),
    'COMPUTE_STORAGE_BUS_FDC': _bus('fdc'),
    'COMPUTE_STORAGE_BUS_IDE': _bus('ide'),
    'COMPUTE_STORAGE_BUS_SATA': _bus('sata'),
    'COMPUTE_STORAGE_BUS_SCSI': _bus('scsi'),
    'COMPUTE_STORAGE_BUS_UML': _bus('uml'),
    'COMPUTE_STORAGE_BUS_USB': _bus('usb'),
    'COMPUTE_STORAGE_BUS_VIRTIO': _bus('virtio'),
    'COMPUTE_STORAGE_BUS_XEN': _bus('xen'),
    'COMPUTE_STORAGE_VIRTIO_FS': Place(
        path='devices/filesystem', enum='driverType', value='virtiofs'
    ),
}

#: Values that also need the TPM that swtpm emulates; of the host's own
#: architecture.
EMULATED_TPM = _tpm('backendModel', 'emulator')
TPM: Mapping[str, Place] = {
    'COMPUTE_SECURITY_TPM_1_2': _tpm('backendVersion', '1.2'),
    'COMPUTE_SECURITY_TPM_2_0': _tpm('backendVersion', '2.0'),
    'COMPUTE_SECURITY_TPM_CRB': _tpm('model', 'tpm-crb'),
    'COMPUTE_SECURITY_TPM_TIS': _tpm('model', 'tpm-tis'),
}
TPM_SECRETS: Mapping[str, str] = {
    'deployment': 'COMPUTE_SECURITY_TPM_SECRET_SECURITY_DEPLOYMENT',
    'host': 'COMPUTE_SECURITY_TPM_SECRET_SECURITY_HOST',
    'user': 'COMPUTE_SECURITY_TPM_SECRET_SECURITY_USER',
}

#: Places that say it of the host's own architecture; one is enough. The second
#: one exists since libvirt 12.1.
SECURE_BOOT = (
    Place(path='os/loader', enum='secure', value='yes'),
    Place(path='os/firmwareFeatures', enum='secureBoot', value='yes'),
)

#: Memory that a guest can share with virtiofsd.
SHARED_MEMORY = (
    Place(path='memoryBacking', enum='sourceType', value='memfd'),
    Place(path='memoryBacking', enum='sourceType', value='file'),
)

#: Devices of QEMU; one is enough. libvirt lists neither network interfaces nor
#: sound devices. Sources: ``-device help`` of QEMU 7.2 to 10.0, and the models
#: in libvirt's formatdomain.
DEVICES: Mapping[str, tuple[str, ...]] = {
    'COMPUTE_NET_VIF_MODEL_E1000': ('e1000',),
    'COMPUTE_NET_VIF_MODEL_E1000E': ('e1000e',),
    'COMPUTE_NET_VIF_MODEL_IGB': ('igb',),
    'COMPUTE_NET_VIF_MODEL_LAN9118': ('lan9118',),
    'COMPUTE_NET_VIF_MODEL_NE2K_PCI': ('ne2k_pci',),
    'COMPUTE_NET_VIF_MODEL_PCNET': ('pcnet',),
    'COMPUTE_NET_VIF_MODEL_RTL8139': ('rtl8139',),
    'COMPUTE_NET_VIF_MODEL_SPAPR_VLAN': ('spapr-vlan',),
    'COMPUTE_NET_VIF_MODEL_VIRTIO': ('virtio-net-pci', 'virtio-net-ccw'),
    'COMPUTE_NET_VIF_MODEL_VMXNET3': ('vmxnet3',),
    'COMPUTE_SOUND_MODEL_AC97': ('AC97',),
    'COMPUTE_SOUND_MODEL_ES1370': ('ES1370',),
    'COMPUTE_SOUND_MODEL_ICH6': ('intel-hda',),
    'COMPUTE_SOUND_MODEL_ICH9': ('ich9-intel-hda',),
    'COMPUTE_SOUND_MODEL_SB16': ('sb16',),
    'COMPUTE_SOUND_MODEL_USB': ('usb-audio',),
    'COMPUTE_SOUND_MODEL_VIRTIO': ('virtio-sound-pci',),
    'COMPUTE_USB_MODEL_NEC_XHCI': ('nec-usb-xhci',),
    'COMPUTE_USB_MODEL_QEMU_XHCI': ('qemu-xhci',),
    'COMPUTE_VIOMMU_MODEL_INTEL': ('intel-iommu',),
    'COMPUTE_VIOMMU_MODEL_VIRTIO': ('virtio-iommu-pci',),
}

#: The releases of libvirt and of QEMU that a trait needs. Sources: libvirt's
#: news, and for the packed virtqueue QEMU's of 4.2.
RELEASES: Mapping[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    'COMPUTE_NET_VIF_MODEL_IGB': ((9, 3, 0), (8, 0, 0)),
    'COMPUTE_NET_VIRTIO_PACKED': ((6, 3, 0), (4, 2, 0)),
    'COMPUTE_SECURITY_STATELESS_FIRMWARE': ((8, 6, 0), (0, 0, 0)),
    'COMPUTE_SOUND_MODEL_VIRTIO': ((10, 4, 0), (8, 2, 0)),
    'COMPUTE_VIOMMU_MODEL_VIRTIO': ((8, 3, 0), (0, 0, 0)),
}

#: Traits of guests with x86 processors that need libvirt 8.7.
ADDRESS_SPACES = (
    'COMPUTE_ADDRESS_SPACE_EMULATED',
    'COMPUTE_ADDRESS_SPACE_PASSTHROUGH',
)
ADDRESS_SPACE_SINCE = (8, 7, 0)
