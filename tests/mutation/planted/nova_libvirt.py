# SPDX-License-Identifier: Apache-2.0
"""Faults of nova-compute's libvirt driver, planted in this one.

The number of a fault is that of the tests in ``test_faults_of_nova.py``; each
of the twenty has a defect here, and some have two.
"""

import dataclasses
import json

import recorded_libvirt
from planted.catalogue import plant

from compute_agent import errors
from compute_agent.virt.values import finding
from drivers.libvirt.capabilities import (
    compute_findings,
    facts,
    nova_traits,
    votes,
)
from drivers.libvirt.cpu import cpu_traits, guest_cpu
from drivers.libvirt.devices import (
    child,
    mdev,
    memory_encryption,
    names,
    node_devices,
    placing,
)
from drivers.libvirt.inventory import amounts, disk
from drivers.libvirt.reading import (
    children,
    guest_source,
    guests,
    root_inventory,
    root_traits,
)
from drivers.libvirt.reshapes import moves
from drivers.libvirtd import hypervisor

_RATIOS = {'VCPU': 4.0, 'MEMORY_MB': 1.0, 'DISK_GB': 1.0}


@plant(cpu_traits.rows, 'nova 1: SSE3 has a name that libvirt never uses')
def _(rows, of_family):
    for row in rows(of_family):
        if row.trait == 'HW_CPU_X86_SSE3':
            yield cpu_traits.Row(row.trait, *3 * [('sse3',)])
        else:
            yield row


@plant(
    facts.Place.found,
    'nova 2: each bus of domain capabilities is a bus of disks',
)
def _(found, self, root):
    if self.enum != 'bus':
        return found(self, root)
    enums = root.iterfind(".//enum[@name='bus']/value")
    is_any = self.value in {value.text for value in enums}
    return finding.Found.PRESENT if is_any else finding.Found.ABSENT


@plant(
    guest_cpu.with_flags,
    'nova 3: a flag with a minus counts as one with a plus',
)
def _(with_flags, cpu, options, offered):
    names = tuple(flag.lstrip('+-') for flag in options.flags)
    return with_flags(cpu, dataclasses.replace(options, flags=names), offered)


@plant(
    guest_source.GuestSource._host_mode,
    'nova 4: the features of the host are those of its guests',
)
def _(_host_mode, self, _name, _options):
    return guest_source._of_cpu(self.host_cpu, 'capabilities', None)


@plant(guest_cpu.unusable, 'nova 5: a model that is not usable counts')
def _(_unusable, cpu, _why, *, surely):
    return cpu


@plant(
    guests.GuestReader._kinds,
    'nova 6: a machine type that fails takes its architecture with it',
)
def _(kinds, self, described):
    found = list(kinds(self, described))
    failed = {kind.request.arch for kind in found if kind.root is None}
    return (kind for kind in found if kind.request.arch not in failed)


@plant(
    compute_findings._by_tpm,
    'nova 7: the TPM of one machine type counts for all',
)
def _(by_tpm, known):
    return by_tpm(dataclasses.replace(known, kinds=known.own[:1]))


@plant(
    children.ChildProviders._of_devices,
    'nova 8: without enabled types, cards are not looked at',
)
def _(of_devices, self, root, reported, versions):
    found = of_devices(self, root, reported, versions)
    types = self._settings.types
    if types.by_address or types.default:
        return found
    return found + child.Children(unknown_kinds={child.Kind.MDEV: ''})


@plant(mdev.children, 'nova 8: a card that is gone is not looked at')
def _(mdev_children, root, devices, types, reported):
    found = mdev_children(root, devices, types, reported)
    known = {one.name for one in found.known}
    gone = {
        name
        for name in set(reported) - known
        if names.kind(root, name) is child.Kind.MDEV
    }
    return found + child.Children(unknown=dict.fromkeys(gone, ''))


@plant(node_devices.read, 'nova 9: one unreadable device ends the cycle')
def _(read, documents):
    found = read(documents)
    for reason in found.unreadable.values():
        raise errors.DriverError(reason)
    return found


@plant(
    recorded_libvirt.Recorded.node_devices,
    'nova 10: a list of devices that fails is empty',
)
def _(node_devices, self):
    try:
        return node_devices(self)
    except hypervisor.Unanswered:
        return {}


@plant(
    memory_encryption.children,
    'nova 11: the option says how many TDX guests',
)
def _(encryption_children, root, facts):
    if facts.tdx_guests is not None:
        files = {**facts.files, memory_encryption.CAPACITY: None}
        facts = dataclasses.replace(facts, files=files)
    return encryption_children(root, facts)


@plant(disk.pool_gib, 'nova 12: a pool has the bytes of the whole cluster')
def _(_pool_gib, answer, _pool):
    return json.loads(answer)['stats']['total_bytes'] // disk.BYTES_PER_GIB


@plant(mdev._child, 'nova 13: a card beyond max_instances goes as a whole')
def _(mdev_child, root, parent, enabled, limits, reported):
    offered = parent.offered(enabled.id)
    free = 0 if offered is None else offered.available
    limit = enabled.max_instances
    if limit is not None and parent.count(enabled.id) + free > limit:
        return child.Children()
    return mdev_child(root, parent, enabled, limits, reported)


@plant(
    root_traits.RootTraits.read,
    'nova 14: traits of an architecture or a TPM are never removed',
)
def _(read, self):
    kept = ('COMPUTE_ARCH_', 'HW_ARCH_', 'COMPUTE_SECURITY_TPM_SECRET_')
    found = read(self)
    return dataclasses.replace(
        found,
        findings=tuple(
            dataclasses.replace(one, found=finding.Found.UNKNOWN)
            if (one.trait or '').startswith(kept)
            and one.found is finding.Found.ABSENT
            else one
            for one in found.findings
        ),
    )


def _once(part, says):
    """Plant that a method's first answer is the one for the process."""

    @plant(part, says)
    def _(method, self, *args, **kwargs):
        kept = self.__dict__.setdefault('_planted', {})
        if says not in kept:
            kept[says] = method(self, *args, **kwargs)
        return kept[says]


_once(
    root_traits.RootTraits.read,
    'nova 15: the traits of the host are read once',
)
_once(
    children.ChildProviders.describe,
    'nova 15: the devices of the host are read once',
)


@plant(
    facts.Place.found,
    'nova 16: the release of libvirt tells that there is virtiofs',
)
def _(found, self, root):
    if self == nova_traits.PLACES['COMPUTE_STORAGE_VIRTIO_FS']:
        return finding.Found.PRESENT
    return found(self, root)


@plant(
    facts.Place.found,
    'nova 16: only the loader tells that there is secure boot',
)
def _(found, self, root):
    if self == nova_traits.SECURE_BOOT[1]:
        return finding.Found.UNKNOWN
    return found(self, root)


@plant(
    compute_findings._by_devices,
    'nova 17: each emulator has all network interfaces and sound devices',
)
def _(_by_devices, _known):
    for trait in nova_traits.DEVICES:
        yield votes.finding_of(trait, finding.Found.PRESENT, '', 'constant')


@plant(
    placing._place,
    'nova 18: the traits of PCI devices are replaced as a whole',
)
def _(place, tree, root, one, before):
    place(tree, root, one, before)
    if one.kind is child.Kind.PCI:
        own = one.traits(finding.Found.PRESENT)
        tree.update_traits(one.name, sorted(own))


@plant(
    moves._pinned,
    "nova 19: only nova's database tells which guests are pinned",
)
def _(_pinned, _consumer, _known, _sets):
    return 0


@plant(root_inventory.RootInventory.read, 'nova 20: ratios are written over')
def _(read, self, current, *, disk_is_shared=False):
    found = read(self, current, disk_is_shared=disk_is_shared)
    known = {
        rc: {'allocation_ratio': _RATIOS.get(rc, 1.0), **record}
        for rc, record in found.known.items()
    }
    return dataclasses.replace(found, known=known)


@plant(
    amounts.Amounts.beside,
    'nova 20: an amount that is reserved no more stays reserved',
)
def _(beside, self, current):
    found = beside(self, current)
    for rc, record in found.items():
        if not record['reserved'] and rc in current:
            found[rc] = {
                **record,
                'reserved': current[rc].get('reserved', 0),
            }
    return found
