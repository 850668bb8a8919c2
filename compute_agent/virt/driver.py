# SPDX-License-Identifier: Apache-2.0
"""The driver contract: what a driver must answer, may answer, must not do.

A driver subclasses ``ComputeDriver`` and is named in the entry-point group
``compute_agent.drivers``. It describes resources and nothing else: it never
speaks with placement, and what it does not know it says it does not know.
Drivers import ``compute_agent`` and not each other.
"""

import abc
import enum
import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from ..tree import inventory, provider_tree


class Existence(enum.Enum):
    """The three answers to "is it there"; unknown is never "no"."""

    YES = 'yes'
    NO = 'no'
    UNKNOWN = 'unknown'


class ComputeDriver(abc.ABC):
    """Describes the resources of one host, or of many bare-metal nodes.

    An override must describe through ``update_provider_tree``, or through
    ``get_inventory`` (and ``get_traits``), or ``get_available_resource``: they
    are asked in this order, and the first that is not left as here is used
    (seed 004). All methods are called from worker threads, ``nodename`` by
    ``nodename``, several names at a time.

    An override may raise ``errors.DriverError`` with a line for the operator:
    that node's cycle ends there and nothing of it is written.
    """

    @property
    def authority(self) -> Sequence[str]:
        """The trait names, or prefixes that end in ``*``, it alone decides.

        Of these, what it does not assert is removed, whoever put it there. It
        is the same for all nodes; the driver of a single one may let it follow
        from what it saw, for it is read after each description.
        """
        return ()

    @classmethod  # noqa: B027 (most drivers have none)
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the driver's own options on the ``conf`` given."""

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return a driver made from configuration; quick, no remote calls.

        :raises errors.ConfigError: an option is wrong, with what to change
        """

    @abc.abstractmethod
    def get_available_nodes(self) -> Sequence[str]:
        """Return the names of the nodes this driver describes now.

        The whole list, or ``errors.DriverError``: a partial one would read as
        nodes that left.
        """

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return provider uuid → node name, for the nodes it can tell.

        A node missing here has the uuid it is named by or, where the driver
        has one node only, the host's own (``cycle/identity.py``).
        """
        return {}

    def get_titles(self) -> Mapping[str, str]:
        """Return node name → what people call it, where that is another.

        It is for messages only, and free to change.
        """
        return {}

    def node_exists(self, nodename: str) -> Existence:
        """Return whether the node still exists; asked before it is deleted."""
        if nodename in self.get_available_nodes():
            return Existence.YES
        return Existence.UNKNOWN

    def facts(self, nodename: str) -> object:  # noqa: ARG002
        """Return all that the description of this node goes by, as a value.

        A promise: as long as it equals what it was, the same tree would be
        described alike, so the driver is not asked to; for thousands of nodes
        that is most of a cycle's work. Quick, from what
        ``get_available_nodes`` brought. It is kept until the next cycle, so it
        is not to be edited afterwards.

        :return: anything that can be compared; None for no promise
        """
        return None

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,
    ) -> None:
        """Edit the tree until it describes what the node has (seed 004).

        The tree holds what placement holds now: the node's own tree, and the
        sharing providers it reaches through its aggregates as lone roots.
        ``add_*`` asserts names beside other sources' names, ``update_*`` gives
        the whole set, ``keep_*`` says "unknown this time". What is not called
        stays as it is.

        Where inventory that is allocated has to move to another provider of
        the node's tree, raise ``errors.ReshapeNeeded``: it is called again, on
        a fresh tree, with what is allocated, and edits both.

        :param allocations: None, or, after ``ReshapeNeeded``, consumer → what
            it has, complete: ``{'allocations': {provider uuid: {'resources':
            {class: amount}}}, ...}``; amounts may be moved between providers
            of the node's own tree, and nothing else of it may be changed
        :raises errors.ReshapeNeeded: it must move what is allocated
        """
        raise NotImplementedError

    def get_inventory(self, nodename: str) -> Mapping[str, inventory.Record]:
        """Return the node's whole inventory: resource class → record."""
        raise NotImplementedError

    def get_traits(self, nodename: str) -> Sequence[str]:
        """Return the traits the node has (seed 002); others' stay."""
        raise NotImplementedError

    def get_available_resource(
        self, nodename: str
    ) -> Mapping[str, typing.Any]:
        """Return nova's oldest form: ``vcpus``, ``memory_mb``, ``local_gb``.

        Counts of CPUs, MiB and GiB; other keys are ignored.
        """
        raise NotImplementedError
