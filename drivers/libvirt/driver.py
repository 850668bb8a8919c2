# SPDX-License-Identifier: Apache-2.0
"""The driver of one hypervisor host.

It asks libvirt and reads the host's own files. Each trait of the tables is
present, absent or unknown. The driver decides present and absent traits and
leaves unknown ones as they are in placement.
"""

import functools
import logging
import typing
from collections.abc import Callable, Mapping, Sequence

from oslo_config import cfg

from compute_agent import errors
from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import provider_tree
from compute_agent.virt.values import finding

from .. import one_host
from ..libvirt_python import connection
from ..libvirt_python import options as libvirtd_options
from ..libvirtd import hypervisor
from . import conf as options
from .capabilities import facts
from .devices import placing
from .inventory import disk
from .options import devices as device_options
from .options import guests as guest_conf
from .options import inventory as inventory_options
from .reading import (
    children,
    disk_kind,
    guests,
    reshapes,
    root_inventory,
    root_traits,
    sources,
)
from .recording import raw_evidence

LOG = logging.getLogger(__name__)


class LibvirtDriver(one_host.OneHostDriver):
    """Describes the host that the agent runs on.

    :param nodename: the name in ``[DEFAULT] host``; if empty, the host's own
    :param wanted: the options that decide what guests can have
    :param settings: the options that decide the amounts of the host
    :param devices: the options that decide the child providers
    :param record: returns what a description reads, without these host names
    """

    def __init__(
        self,
        *,
        nodename: str,
        of: sources.Sources,
        wanted: facts.GuestOptions,
        settings: inventory_options.Settings,
        record: Callable[[tuple[str, ...]], Mapping[str, str]] | None = None,
        devices: device_options.Settings | None = None,
    ) -> None:
        super().__init__(one_host.HostName(of.libvirt, nodename, of.hostname))
        self._hostname = of.hostname
        self._libvirt = of.libvirt
        devices = devices or device_options.Settings()
        self._traits = root_traits.RootTraits(
            of, wanted, settings.storage, devices.all_specs
        )
        self._inventory = root_inventory.RootInventory(settings, of)
        self._reshapes = reshapes.Reshapes(of.libvirt, settings.cpu_sets)
        self._record = record
        self._children = children.ChildProviders(of.libvirt, of.files, devices)
        self._decided: Sequence[str] = ()
        self._outage = ''  # as the driver was first told

    @classmethod
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the options of nova's that it has to know."""
        options.register_opts(conf)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver of this host, made from nova's own options.

        An option that the driver cannot follow is logged once.
        """
        uri = libvirtd_options.connection_uri(conf)
        _warn_without_binding(conf)
        return cls.on_host(conf, sources.of_this_host(conf, uri))

    @classmethod
    def on_host(cls, conf: cfg.ConfigOpts, of: sources.Sources) -> typing.Self:
        """Return the driver of a host that is known by these sources."""
        settings = inventory_options.read(conf)
        wanted = guest_conf.read(conf)
        for line in (guest_conf.warning(wanted), settings.cpu_sets.warning):
            if line:
                LOG.warning('%s', line)
        return cls(
            nodename=conf.host or '',
            of=of,
            wanted=wanted,
            settings=settings,
            record=functools.partial(
                raw_evidence.host_texts,
                of,
                functools.partial(cls.on_host, conf),
                raw_evidence.as_nova_conf(
                    conf,
                    dict(options.list_opts())
                    | device_options.mdev_groups(conf),
                ),
            ),
            devices=device_options.settings(conf),
        )

    def subscribe(self, wake: Callable[[], object]) -> None:
        """Hear libvirt's events; each calls ``wake``."""
        self._libvirt.subscribe(
            wake, awaits_guests=lambda: self._reshapes.waits
        )

    def close(self) -> None:
        """End the connections to libvirt."""
        self._libvirt.close()

    @property
    def authority(self) -> Sequence[str]:
        """The traits that the last description found present or absent."""
        return self._decided

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,
    ) -> None:
        """Set the host's inventory and declare its traits.

        An unknown trait that the provider has is declared as well, so that it
        stays. ``keep_traits`` would also keep absent traits.
        """
        self._libvirt.unanswered()  # it is of another cycle, or of a command
        traits = self._traits.read()
        unknown = traits.named(finding.Found.UNKNOWN)
        present = traits.named(finding.Found.PRESENT)
        data = provider_tree.data(nodename)
        current = data.traits
        decided = self._reshaped(
            provider_tree,
            nodename,
            traits.guests,
            allocations,
        )
        provider_tree.update_inventory(
            nodename,
            agent_inventory.as_given(decided.amounts.beside(data.inventory)),
        )
        provider_tree.declare_traits(nodename, *present, *(unknown & current))
        if not traits.answered:
            provider_tree.keep_traits(nodename)
        placing.place(provider_tree, data.name, decided.children)
        decided.carry(provider_tree, data.uuid, allocations or {})
        decided_traits = present | traits.named(finding.Found.ABSENT)
        self._decided = sorted(
            (decided_traits - disk_kind.TRAITS) | self._children.authority
        )
        self._note_unanswered(provider_tree)

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return a finding for every trait, and for the words without one.

        :raises errors.DriverError: the host has another name
        """
        self._check(nodename)
        traits = self._traits.read()
        return (
            *traits.findings,
            *self._children.findings(nodename, traits.guests),
        )

    def raw_evidence(self, nodename: str) -> Mapping[str, str]:
        """Return path → text of everything that a description reads.

        :raises errors.DriverError: the host has another name, or the driver
            was made without sources
        """
        self._check(nodename)
        if self._record is None:
            raise errors.DriverError('this driver records nothing')
        return self._record(
            (self._name.node, self._name.of_hypervisor(), self._hostname)
        )

    def _note_unanswered(self, tree: provider_tree.ProviderTree) -> None:
        """Tell the operator of a question that libvirt did not answer.

        The words stay the same until libvirt answers all questions.
        """
        now = self._libvirt.unanswered()
        self._outage = now and (self._outage or now)
        if self._outage:
            tree.note(
                f'{self._outage}; what libvirt tells of the host stays as it is'
            )

    def _reshaped(
        self,
        tree: provider_tree.ProviderTree,
        nodename: str,
        about: guests.Guests,
        allocations: Mapping[str, typing.Any] | None,
    ) -> reshapes.Decision:
        """Return amounts and children; say which amounts cannot be read.

        :raises errors.DriverError: an amount of a host that placement does
            not have yet cannot be read; it is reported as a whole, or later
        """
        data = tree.data(nodename)
        found = self._inventory.read(
            data.inventory, disk_is_shared=disk.is_shared(tree, nodename)
        )
        found, nodes = self._inventory.divided(data.name, found)
        decided = self._reshapes.decide(
            found,
            self._children.below(tree, nodename, about) + nodes,
            data,
            placing.numa_nodes(tree, data.name),
            allocations,
        )
        faults = decided.amounts.faults
        if faults and data.generation is None:
            raise errors.DriverError(faults[0])
        for line in faults:
            tree.fault(line)
        return decided


def _warn_without_binding(conf: cfg.ConfigOpts) -> None:
    """Warn of options that have no effect if libvirt-python is missing."""
    set_options = {
        '[devices] enabled_mdev_types': bool(conf.devices.enabled_mdev_types),
        '[pci] report_in_placement': conf.pci.report_in_placement,
        '[pci] device_spec with remote_managed': any(
            'remote_managed' in text for text in conf.pci.device_spec
        ),
        '[libvirt] cpu_mode = custom': conf.libvirt.cpu_mode == 'custom',
        '[libvirt] numa = nested': conf.libvirt.numa == 'nested',
    }
    needing = ', '.join(name for name, is_set in set_options.items() if is_set)
    if not needing:
        return
    try:
        connection.load_binding()
    except hypervisor.Unsupported as exc:
        LOG.warning('only libvirt can tell what %s needs: %s', needing, exc)
