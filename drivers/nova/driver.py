# SPDX-License-Identifier: Apache-2.0
"""Runs a driver of nova's as it is, and describes its nodes.

``nova:ironic.IronicDriver`` in ``compute_driver`` makes nova's class with
nova's options. It edits the agent's tree (``novas_tree.py``), and the additions
of nova's resource tracker follow (``tracker.py``). A driver without
``update_provider_tree`` is asked by the methods of nova's older interfaces:
``get_inventory`` and perhaps ``get_traits``, or only ``get_available_resource``.
Nova's exceptions become the agent's. Nova-compute asks its driver from one
thread at a time, and so does this module.
"""

import contextlib
import functools
import importlib
import logging
import threading
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from compute_agent import error_text, errors
from compute_agent.tree import host_inventory, provider_tree
from compute_agent.virt import driver as virt

from . import novas_tree, process, target, tracker


class OlderMethods:
    """The older methods of one driver.

    :param driver: nova's driver
    """

    def __init__(self, nova: process.Nova, driver: Any) -> None:
        self._nova = nova
        self._driver = driver

    def describe(
        self, tree: provider_tree.ProviderTree, nodename: str
    ) -> None:
        """Describe the root of the node, without any edit made before.

        :raises NotImplementedError: the driver has none of the methods
        """
        uuid = tree.data(nodename).uuid
        tree.discard_edits()
        if not tree.exists(uuid):
            tree.new_root(nodename, uuid)
        novas_tree.NovaTree(tree).update_inventory(
            nodename, self._inventory(nodename)
        )
        if hasattr(self._driver, 'get_traits'):
            try:
                traits = self._driver.get_traits(nodename)
            except NotImplementedError:
                return
            tree.declare_traits(nodename, *traits)

    def _inventory(self, nodename: str) -> Mapping[str, Any]:
        if hasattr(self._driver, 'get_inventory'):
            try:
                found: Mapping[str, Any] = self._driver.get_inventory(nodename)
            except NotImplementedError:
                pass
            else:
                return found
        with self._nova.conductor.asking_for_resources():
            resources = self._driver.get_available_resource(nodename)
        return host_inventory.records(
            vcpus=resources.get('vcpus', 0),
            memory_mb=resources.get('memory_mb', 0),
            disk_gb=resources.get('local_gb', 0),
            reserved=self._reserved(),
        )

    def _reserved(self) -> host_inventory.Reserved:
        conf = self._nova.conf
        return host_inventory.Reserved(
            cpus=conf.reserved_host_cpus,
            memory_mb=conf.reserved_host_memory_mb,
            disk_mb=conf.reserved_host_disk_mb,
        )


LOG = logging.getLogger(__name__)


class NovaDriver(virt.ComputeDriver):
    """Describes the nodes that a driver of nova's describes.

    :cvar target: module and class below ``nova.virt``
    """

    target = ''

    def __init__(self, nova: process.Nova, driver: Any) -> None:
        self._nova = nova
        self._driver = driver
        self._older = OlderMethods(nova, driver)
        self._tracker = tracker.ResourceTracker(nova, driver)
        self._lock = threading.Lock()
        self._is_ready = False
        # uuid → node name, of the last list; empty without an identity.
        self._by_uuid: dict[str, str] = {}
        self._listed: list[str] = []

    @classmethod
    def for_target(cls, target_: str) -> type[typing.Self]:
        """Return the class that runs a class of nova's."""
        return typing.cast(type[typing.Self], _class_for(cls, target_))

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver with nova's options from the agent's files.

        :raises errors.ConfigError: nova or the class is missing, or the class
            refuses an option
        """
        target.require_nova()
        nova = process.prepare(conf.config_file or (), conf.config_dir or ())
        _refuse_power_management(cls.target, nova.conf)
        driver_class = target.find(cls.target)
        virtapi = importlib.import_module('nova.virt.virtapi').VirtAPI()
        try:
            return cls(nova, driver_class(virtapi))
        except nova.exception.NovaException as exc:
            raise errors.ConfigError(
                f'nova:{cls.target} cannot be made: {error_text.one_line(exc)}'
            ) from exc

    # --- nodes ----------------------------------------------------------------

    @property
    def node_filter(self) -> Mapping[str, str] | None:
        """Nova's options that choose nodes of Ironic; None for a host."""
        if not getattr(self._driver, 'rebalances_nodes', False):
            return None
        given = {
            name: self._nova.conf.ironic.get(name)
            for name in ('conductor_group', 'shard')
        }
        return {name: value for name, value in given.items() if value}

    def get_available_nodes(self) -> Sequence[str]:
        """Return the names of the driver's nodes."""
        with self._asking():
            try:
                found = self._driver.get_nodenames_by_uuid(refresh=True)
            except (process.NoIdentity, NotImplementedError):
                self._by_uuid = {}
                names = self._driver.get_available_nodes(refresh=True)
                self._listed = list(names)
            else:
                self._by_uuid = {u.lower(): name for u, name in found.items()}
                self._listed = list(self._by_uuid.values())
            return self._listed

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return provider uuid → node name, as of the last list."""
        return self._by_uuid

    def node_exists(self, nodename: str) -> virt.Existence:
        """Return NO if the driver says that the node is deleted."""
        with self._asking():
            if self._driver.is_node_deleted(nodename):
                return virt.Existence.NO
        if nodename in self._listed:
            return virt.Existence.YES
        return virt.Existence.UNKNOWN

    # --- descriptions ---------------------------------------------------------

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, Any] | None = None,
    ) -> None:
        """Have nova's driver and its resource tracker edit the tree.

        A driver that lacks the method is asked by those of older interfaces.
        """
        given = {} if allocations is None else {'allocations': allocations}
        # Nova's driver for libvirt turns VCPU of pinned guests into PCPU.
        provider_tree.count_as('PCPU', 'VCPU')
        with self._asking():
            self._identify(provider_tree.data(nodename).uuid)
            try:
                self._driver.update_provider_tree(
                    novas_tree.NovaTree(provider_tree), nodename, **given
                )
            except NotImplementedError:
                if given:
                    raise
                self._older.describe(provider_tree, nodename)
            self._tracker.add(provider_tree, nodename, allocations)

    def close(self) -> None:
        """Release the resources of nova's driver."""
        if self._is_ready:
            with contextlib.suppress(Exception):
                self._driver.cleanup_host(self._nova.conf.host)

    # --- private --------------------------------------------------------------

    def _identify(self, uuid: str) -> None:
        """Tell nova's code the uuid of a host that had no uuid before."""
        if not self._by_uuid and self._nova.node.LOCAL_NODE_UUID is None:
            self._nova.node.LOCAL_NODE_UUID = uuid

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Let one thread at a time ask, and translate nova's exceptions.

        :raises errors.ReshapeNeeded: nova's driver asks for the allocations
        :raises errors.DriverError: nova's driver failed, or an option of nova
            is wrong
        """
        with self._lock:
            try:
                self._begin()
                yield
            except self._nova.exception.ReshapeNeeded as exc:
                raise errors.ReshapeNeeded from exc
            except self._nova.exception.NovaException as exc:
                raise errors.DriverError(
                    f'nova:{self.target}: {error_text.one_line(exc)}'
                ) from exc
            except cfg.Error as exc:
                raise errors.DriverError(
                    f"nova:{self.target}: an option of nova's is wrong: "
                    f'{error_text.one_line(exc)}'
                ) from exc
            except (errors.AgentError, NotImplementedError):
                raise
            except Exception as exc:
                LOG.debug('nova:%s failed', self.target, exc_info=True)
                raise errors.DriverError(
                    f'nova:{self.target} failed: {type(exc).__name__}: '
                    f"{error_text.one_line(exc)}; nova's lines in the log may say why"
                ) from exc

    def _begin(self) -> None:
        """Have the driver begin, as nova-compute does when it starts."""
        if not self._is_ready:
            self._driver.init_host(self._nova.conf.host)
            self._is_ready = True


@functools.cache
def _class_for(base: type[NovaDriver], target_: str) -> type[NovaDriver]:
    """Return the class of a target; it is one class, however often it is asked.

    :raises errors.ConfigError: the text is no target
    """
    found = target.parse(target_)
    namespace = {
        '__module__': f'{target.NAMESPACE}.{found.module}',
        'target': target_,
    }
    return type(found.name, (base,), namespace)


def _refuse_power_management(target_: str, conf: Any) -> None:
    """Refuse an option with which nova's libvirt driver stops guests.

    When the driver begins, it powers down the CPUs of ``cpu_dedicated_set``,
    and only nova-compute powers up those of guests again.

    :raises errors.ConfigError: the option is set
    """
    if target_.startswith('libvirt.') and conf.libvirt.cpu_power_management:
        raise errors.ConfigError(
            "[libvirt] cpu_power_management: nova's driver would power down "
            'the CPUs of running guests; set it to false in a file that only '
            'this agent reads, or use the driver libvirt'
        )
