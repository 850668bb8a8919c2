# SPDX-License-Identifier: Apache-2.0
"""The driver contract.

A driver subclasses ``ComputeDriver``, and its package declares the class in
the entry-point group ``compute_agent.drivers``. A driver describes resources
and does nothing else. It never calls placement. If it does not know something,
it says so instead of guessing. It may import the modules of ``compute_agent``
that ``docs/drivers.md`` lists, and no other driver.
"""

import abc
import dataclasses
import enum
import typing
from collections.abc import Callable, Mapping, Sequence

from oslo_config import cfg

from .. import errors
from ..tree import host_inventory, inventory, provider_tree
from .values import changes


class Existence(enum.Enum):
    """The answer to "does this node exist"; UNKNOWN never counts as NO."""

    YES = 'yes'
    NO = 'no'
    UNKNOWN = 'unknown'


# Nova's defaults, for a driver without an agent.
_RATIOS = inventory.Ratios(
    initial={'VCPU': 4.0, 'MEMORY_MB': 1.0, 'DISK_GB': 1.0}
)
_RESERVED = host_inventory.Reserved()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostOptions:
    """The agent's options that nova's drivers ask for.

    :ivar ratios: ``*_allocation_ratio`` and ``initial_*_allocation_ratio``
    :ivar reserved: ``reserved_host_*``: CPUs, and memory and disk in MiB
    """

    ratios: inventory.Ratios = _RATIOS
    reserved: host_inventory.Reserved = _RESERVED


class ComputeDriver(abc.ABC):
    """Describes the resources of one host, or of many bare-metal nodes.

    A driver must override ``from_conf``, ``get_available_nodes`` and at least
    one of ``update_provider_tree``, ``get_inventory`` (with ``get_traits``)
    and ``get_available_resource``. The agent uses the first of these three
    that the driver overrides.

    The agent calls the methods from worker threads: one call at a time for
    each node, several nodes in parallel.

    Any method may raise ``errors.DriverError`` with a line for the operator.
    The node's cycle then ends, and the agent writes nothing for that node.

    :cvar contract_version: the least version of the contract that the driver
        needs, such as '1.0'; empty if any version will do. An agent with
        another major version, or a lower minor one, refuses to load it.
    :ivar host_options: the agent's ratios and its share of a host; the agent
        sets it before the first cycle
    """

    contract_version: typing.ClassVar[str] = ''
    host_options: HostOptions = HostOptions()

    @property
    def authority(self) -> Sequence[str]:
        """The traits that this driver alone decides.

        Each entry is a trait, or a prefix that ends in ``*``. The agent
        removes such a trait, whoever added it, if the driver declares or
        updates a provider's traits without it. Adding and removing other
        traits removes none of them. The value applies to all nodes of the driver. The
        agent reads it after each description, so a driver with one node may
        compute it from its findings. For nodes that need no description
        (``facts``), it reads it once in each cycle.
        """
        return ()

    @property
    def node_filter(self) -> Mapping[str, str] | None:
        """The options that choose this driver's nodes, with their values.

        None for a driver of one host. A driver that may describe several nodes
        returns a mapping, such as ``{'shard': 'rack1'}``; it is empty if the
        driver describes all nodes that there are. With the driver's name it
        names the share of the agent: agents of one share report the same
        nodes. The value does not change while the agent runs.
        """
        return None

    @classmethod
    def for_target(cls, target: str) -> type[typing.Self]:
        """Return the class that ``NAME:TARGET`` in ``compute_driver`` names.

        A driver that runs others, such as those of another project, overrides
        this and returns a subclass for the target. The name and the module of
        the class identify the driver in the state. The loader calls this
        before ``register_opts``; it must be quick.

        :param target: the text after the colon; empty without a colon
        :raises errors.ConfigError: there is no such target; the message says
            what to write instead
        """
        if target:
            raise errors.ConfigError(
                f'this driver takes no target: leave out ":{target}"'
            )
        return cls

    @classmethod  # noqa: B027 (most drivers have none)
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the driver's own options on ``conf``.

        The loader calls this before ``from_conf``.
        """

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return a driver made from configuration.

        It must be quick and make no remote calls.

        :raises errors.ConfigError: an option is wrong; the message says which
            one and what to write instead
        """

    def subscribe(self, wake: Callable[[], object]) -> None:  # noqa: B027
        """Call ``wake`` when the description of a node may have changed.

        The daemon calls this once, before its first cycle. A call of ``wake``
        is a hint: after a second without another hint the daemon asks
        ``changes`` which nodes it is about, and begins their cycle. The
        periodic cycles go on, so a hint that is lost costs time and nothing
        else. ``wake`` returns at once and may be called from any thread.

        A driver whose events need a connection must not wait for it here.
        """

    def reload(self) -> None:  # noqa: B027 (most drivers have no files)
        """Read the files that the driver read when it was made again.

        The daemon calls this on SIGHUP, between two cycles. A set of files
        comes into force as a whole or not at all.

        :raises errors.ConfigError: a file has a mistake; the last good set
            stays in force
        """

    def close(self) -> None:  # noqa: B027 (most drivers hold nothing)
        """End the threads and connections of the driver.

        The agent calls this once, after its last cycle. It must be quick, and
        ``wake`` must not be called any more when it returns.
        """

    @abc.abstractmethod
    def get_available_nodes(self) -> Sequence[str]:
        """Return the names of all nodes that the driver describes now.

        :raises errors.DriverError: the list cannot be read completely; a
            partial list would mean that the missing nodes departed
        """

    def changes(self, since: typing.Any) -> changes.Changes | None:  # noqa: ARG002
        """Return the nodes that may have changed since an earlier call.

        This is a hint, and never the truth: the next list of all nodes is
        right without it. If a name is left out, its change waits until the
        next list. A name that did not change costs a cycle of its node. A node
        that left the list is left out, because only ``get_available_nodes``
        tells of departures. The call must cost little.

        The daemon asks a driver that overrides this every ``[compute_agent]
        changes_interval`` seconds, and when the driver called ``wake``. It
        does so between two cycles, in the thread of the cycles, and for the
        first time before the first list. When the call returns, the driver's
        other methods describe the named nodes as this call has read them; the
        agent does not list the nodes again for their cycle.

        :param since: ``Changes.since`` of the last answer; None at first, and
            after an answer that was None
        :return: None, the default, if any node may have changed: all of them
            then get a cycle
        :raises errors.AgentError: the driver cannot tell now; the agent asks
            again after the interval, with the same ``since``
        """
        return None

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return provider uuid → node name, for nodes with a known uuid.

        For a node that is missing here, the agent uses the node's name if it
        is a uuid. A driver's only node otherwise gets the host's uuid from the
        file ``compute_id`` (``identity/compute_id.py``).
        """
        return {}

    def get_titles(self) -> Mapping[str, str]:
        """Return node name → title, for nodes that people call differently.

        The agent uses titles in messages only, so they may change at any time.
        """
        return {}

    def get_hypervisor_hostnames(self) -> Mapping[str, str]:
        """Return node name → the name that nova-compute gives to the node.

        Only nodes for which the two may differ. The name is empty while the
        hypervisor has not told it. If placement knows a node by
        nova's name, the agent uses that name in all later calls.
        """
        return {}

    def node_exists(self, nodename: str) -> Existence:
        """Tell if a node that is missing from the list still exists.

        The agent deletes the node's providers only if the answer is NO.
        """
        if nodename in self.get_available_nodes():
            return Existence.YES
        return Existence.UNKNOWN

    def facts(self, nodename: str) -> object:  # noqa: ARG002
        """Return everything that the description of this node depends on.

        The value is a promise: while it equals the value of the previous
        cycle, the driver would describe the same tree in the same way. The
        agent then does not ask for a description, which saves most of a
        cycle's work for thousands of nodes. The method must be quick and use
        what ``get_available_nodes`` already read. The agent keeps the value
        until the next cycle, so the driver must not edit it afterwards.

        :return: a value that can be compared; None to be asked in every cycle
        """
        return None

    def metrics(self) -> Mapping[str, float]:
        """Return numbers of the driver for the daemon's metrics.

        The daemon asks after each cycle, if it has metrics. It shows each as
        ``compute_agent_driver_value`` with the driver and this name. The call
        must be quick.

        :return: name → number; a name has small letters, digits and
            underscores, and there are at most 100
        """
        return {}

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,
    ) -> None:
        """Edit the tree until it describes the node.

        The tree contains the providers as placement has them now: the node's
        own tree, and as separate roots the sharing providers that it reaches
        through its aggregates. ``add_*``, ``remove_*`` and ``update_*`` have
        nova's meaning: the given names and nothing else, or the complete
        list. ``declare_*`` gives all names of the driver beside the names of
        others, and ``keep_*`` says that the driver cannot tell this time.
        ``reconcile_children`` gives all children of a provider; ``drained`` and
        ``unhealthy`` reserve one as a whole.
        Without a call for a kind, the provider's names of that kind stay as
        they are.

        If inventory with allocations has to move to another provider of the
        node's tree, raise ``errors.ReshapeNeeded``. The agent then calls the
        method again, on a fresh tree, with the allocations; edit both.

        :param allocations: None; after ``ReshapeNeeded``, each consumer with
            all its allocations, as ``{consumer: {'allocations': {provider
            uuid: {'resources': {class: amount}}}, ...}}``. Move amounts
            between providers of the node's own tree and change nothing else.
        :raises errors.ReshapeNeeded: the driver must move inventory that has
            allocations
        :raises NotImplementedError: the older methods describe this node; the
            edits made before are discarded
        """
        raise NotImplementedError

    # --- for the bodies of nova's drivers, which have these names ---------------

    def _get_allocation_ratios(
        self, inventory: Mapping[str, inventory.Record]
    ) -> dict[str, float]:
        """Return the ratios of VCPU, MEMORY_MB and DISK_GB, as in nova.

        A record without a ratio has the same effect.

        :param inventory: the provider's, as placement has it
        """
        ratios = self.host_options.ratios
        return {
            rc: ratios.ratio(rc, inventory.get(rc))
            for rc in ('VCPU', 'MEMORY_MB', 'DISK_GB')
        }

    def _get_reserved_host_disk_gb_from_config(self) -> int:
        """Return ``reserved_host_disk_mb`` in whole GiB, rounded up."""
        return self.host_options.reserved.disk_gb

    def get_inventory(
        self, nodename: str
    ) -> Mapping[str, inventory.InventoryRecord]:
        """Return the node's complete inventory: resource class → record.

        :return: amounts in the unit of the class (MEMORY_MB in MiB, DISK_GB in
            GiB); see ``InventoryRecord``
        """
        raise NotImplementedError

    def get_traits(self, nodename: str) -> Sequence[str]:
        """Return all traits of the node, standard and custom.

        The driver claims exactly these, as with ``declare_traits``: traits
        that other sources added stay.
        """
        raise NotImplementedError

    def get_available_resource(
        self, nodename: str
    ) -> Mapping[str, typing.Any]:
        """Return the node's resources in nova's oldest form.

        :return: ``vcpus``, ``memory_mb`` (MiB) and ``local_gb`` (GiB); other
            keys are ignored
        """
        raise NotImplementedError
