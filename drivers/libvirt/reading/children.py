# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt and the kernel, and describes the children of a host.

It does I/O through ``libvirtd/`` and ``HostFiles``. A question that is
not answered makes the children unknown that depend on it, and no others.
``driver.py`` calls it once per cycle.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from compute_agent.tree import provider_tree
from compute_agent.virt.values import finding

from ...host_files import HostFiles
from ...libvirtd import guests as running
from ...libvirtd import hypervisor
from ..devices import (
    mdev,
    memory_encryption,
    names,
    node_devices,
    placing,
    traits,
)
from ..devices.child import Child, Children, Kind
from ..devices.node_devices import PciDevice
from ..options import devices
from . import guests, health, pci

# The releases from which nova lets devices migrate live.
_LIBVIRT, _QEMU = (10, 0, 0), (8, 2, 2)


class ChildProviders:
    """The child providers of one host.

    :param settings: the options that decide them
    """

    def __init__(
        self,
        libvirt: hypervisor.Hypervisor,
        files: HostFiles,
        settings: devices.Settings,
    ) -> None:
        self._libvirt = libvirt
        self._files = files
        self._settings = settings
        self._documents: Mapping[str, str] = {}
        self._parsed = node_devices.NodeDevices()  # these documents
        self._last: Children | None = None  # with what placement had

    @property
    def authority(self) -> frozenset[str]:
        """The traits of children that the driver alone decides."""
        return traits.MARKS | (
            traits.DECIDED if self._settings.specs else set()
        )

    def below(
        self, tree: provider_tree.ProviderTree, root: str, about: guests.Guests
    ) -> Children:
        """Return the children of a root in a tree, as far as they are known.

        :param root: the name or uuid of the root provider
        :param about: libvirt's answers about the guests of the host
        """
        name = tree.data(root).name
        known = placing.reported(tree, name)
        self._last = self.describe(name, about, known.values())
        return self._last

    def findings(
        self, root: str, about: guests.Guests
    ) -> Sequence[finding.Finding]:
        """Return the findings about the children, as last described.

        Before the first description, they are those of an empty placement.
        """
        found = self._last or self.describe(root, about)
        return found.findings()

    def describe(
        self,
        root: str,
        about: guests.Guests,
        reported: Iterable[provider_tree.ProviderData] = (),
    ) -> Children:
        """Return the children of a root, as far as they are known.

        :param about: libvirt's answers about the guests of the host
        :param reported: the providers that placement has below the root
        """
        devices = self._of_devices(root, list(reported), about.versions)
        if self._settings.leaves_pci:
            devices += Children(unknown_kinds={Kind.PCI: ''})
        return devices + self._encryption(root, about)

    # --- devices --------------------------------------------------------------

    def _of_devices(
        self,
        root: str,
        reported: Sequence[provider_tree.ProviderData],
        versions: hypervisor.Versions | None,
    ) -> Children:
        types, specs = self._settings.types, self._settings.specs
        wanted = {
            Kind.MDEV: types.by_address or types.default,
            Kind.PCI: specs,
        }
        kinds = [kind for kind, configured in wanted.items() if configured]
        if not kinds:
            return Children()
        try:
            devices = self._devices()
        except hypervisor.Unanswered as exc:
            return Children(unknown_kinds=dict.fromkeys(kinds, str(exc)))
        others = placing.claimed(root, reported, devices)
        names_now = {data.name for data in reported}
        found = Children()
        if Kind.MDEV in kinds:
            found = mdev.children(root, devices, types, names_now)
            found = placing.without(found, root, devices, others)
            found = self._with_troubles(found, root, devices)
        if Kind.PCI in kinds:
            parents = mdev.not_whole(root, devices, types, found, names_now)
            elsewhere = {**parents, **others}
            found += self._pci(root, devices, elsewhere, versions)
        return found

    def _devices(self) -> node_devices.NodeDevices:
        """Return the node devices; the same documents are not parsed again.

        All documents are asked for each time: libvirt has neither a number nor
        an event for each change of a device, for example of the mediated
        devices that a card still offers.
        """
        documents = self._libvirt.node_devices()
        if documents != self._documents:
            self._parsed = node_devices.read(documents)
            self._documents = documents
        return self._parsed

    def _with_troubles(
        self, found: Children, root: str, devices: node_devices.NodeDevices
    ) -> Children:
        """Return the parents of mediated devices; one in error is reserved."""
        by_address = {device.address: device for device in devices.pci}
        by_name = {names.node_device(root, d.name): d for d in devices.pci}
        known = []
        for child in found.known:
            device = by_name.get(child.name)
            if device is None:
                known.append(child)
            else:
                owner = by_address.get(device.phys_function or '', device)
                known.append(self._with_trouble(child, device, owner))
        return dataclasses.replace(found, known=tuple(known))

    def _with_trouble(
        self, child: Child, device: PciDevice, owner: PciDevice
    ) -> Child:
        trouble = health.trouble(device, self._files) or health.trouble(
            owner, self._files
        )
        return dataclasses.replace(
            child,
            trouble=child.trouble or trouble,
            unread=health.unread(device, self._files)
            | health.unread(owner, self._files),
        )

    def _pci(
        self,
        root: str,
        devices: node_devices.NodeDevices,
        elsewhere: dict[str, str],
        versions: hypervisor.Versions | None,
    ) -> Children:
        refused = ''
        if any(spec.live_migratable for spec in self._settings.specs):
            if versions is None:
                why = 'libvirt does not tell its release'
                return Children(unknown_kinds={Kind.PCI: why})
            refused = _refused_releases(versions)
        if refused:
            return Children(
                faults=(refused,), unknown_kinds={Kind.PCI: refused}
            )
        facts = pci.Facts(
            specs=self._settings.specs,
            assigned=self._assigned(),
            elsewhere=elsewhere,
            numa_traits=self._settings.numa_traits,
        )
        return pci.children(root, devices, facts, self._files)

    def _assigned(self) -> frozenset[str] | None:
        """Return the PCI addresses that guests have, None if unknown.

        libvirt is asked only if devices for one use are configured.
        """
        if not any(spec.one_time_use for spec in self._settings.specs):
            return frozenset()
        try:
            known = running.read(self._libvirt.domains())
        except hypervisor.Unanswered:
            return None
        return frozenset().union(*(guest.pci for guest in known.values()))

    # --- encrypted guests -----------------------------------------------------

    def _encryption(self, root: str, about: guests.Guests) -> Children:
        machine = self._files.machine()
        if machine != memory_encryption.X86_64:
            return Children()
        facts = memory_encryption.Facts(
            machine=machine,
            guests=memory_encryption.guests(
                about.documents(
                    memory_encryption.X86_64, memory_encryption.MACHINES
                )
            ),
            files={p: self._files.word(p) for p in memory_encryption.FILES},
            qemu=about.versions.qemu if about.versions else None,
            cpu_mode=self._settings.cpu_mode,
            tdx_guests=self._settings.tdx_guests,
        )
        return memory_encryption.children(root, facts)


def _refused_releases(versions: hypervisor.Versions) -> str:
    """Return why nova would not start with these releases, '' if it does."""
    if versions.libvirt >= _LIBVIRT and (versions.qemu or ()) >= _QEMU:
        return ''
    return (
        'PCI devices are left as they are, because live_migratable in '
        '[pci] device_spec needs libvirt 10.0.0 and QEMU 8.2.2, and nova '
        'refuses it with older releases; remove the tag, or upgrade'
    )
