# SPDX-License-Identifier: Apache-2.0
"""Nova's drivers for hosts and nodes that compute-agent reports to placement.

nova-compute loads the class that ``[DEFAULT] compute_driver`` names in the
package ``nova.virt``: ``compute_agent.LibvirtDriver`` or
``compute_agent.IronicDriver``. These are nova's own drivers, but they describe
no resources for placement. So nova-compute starts guests as before, and reports
only what it adds without asking the driver: the capabilities of the driver's
class, ``COMPUTE_NODE``, ``OWNER_NOVA``, ``COMPUTE_STATUS_DISABLED``, its PCI
devices if ``[pci] report_in_placement`` is set, and traits in its own
provider-config files.

The libvirt driver also finds the providers of mediated devices that the agent
created since nova-compute read placement, and writes a file by which the agent
knows this process. Nothing else of nova is changed, and nothing of
compute-agent is imported.
"""

import collections
import contextlib
import copy
import inspect
import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, Optional

import nova.conf
from nova.compute import provider_config
from nova.virt.ironic import driver as ironic
from nova.virt.libvirt import driver as libvirt
from oslo_log import log

CONF = nova.conf.CONF
LOG = log.getLogger(__name__)

# The arguments of nova's methods, in nova 29 (2024.1) to 34 (2026.2).
_DESCRIBING = ['provider_tree', 'nodename', 'allocations']
_PERSISTENT_MEMORY = ['provider_tree', 'nodename', 'inventory', 'resources']
_ALLOCATIONS = ['allocations']
_PLACEMENT = '1.14'  # the first microversion with in_tree


class _ReportedByAgent:
    """A driver of nova's that describes no resources.

    :raises ImportError: nova calls the overridden method in another way, or
        its provider-config files have inventories; nova logs that and does not
        start
    """

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:  # noqa: FBT001, FBT002 (nova's signature)
        _check_arguments(super().update_provider_tree, _DESCRIBING)
        _check_files()
        super().__init__(virtapi, read_only)

    def init_host(self, host: str) -> None:
        """Start as nova's driver does, and say who reports."""
        super().init_host(host)
        LOG.info(
            'compute-agent reports the resources of %s to placement; '
            'nova-compute reports its capabilities, because [DEFAULT] '
            'compute_driver is compute_agent.%s',
            host,
            type(self).__name__,
        )

    def update_provider_tree(
        self,
        provider_tree: Any,
        nodename: str,
        allocations: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Leave the tree as placement has it."""


class LibvirtDriver(_ReportedByAgent, libvirt.LibvirtDriver):
    """Nova's libvirt driver, without its resources."""

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:  # noqa: FBT001, FBT002 (nova's signature)
        _check_arguments(
            self._update_provider_tree_for_vpmems, _PERSISTENT_MEMORY
        )
        _check_arguments(super()._allocate_mdevs, _ALLOCATIONS)
        _check_arguments(self._vgpu_allocations, _ALLOCATIONS)
        super().__init__(virtapi, read_only)
        _mark()

    def update_provider_tree(
        self,
        provider_tree: Any,
        nodename: str,
        allocations: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Give nova its own data about devices, and store the tree for it.

        Nova assigns a guest the persistent memory that this method lists, and
        looks in the tree for mediated devices. Placement gets none of it.
        """
        resources: dict[str, set[Any]] = collections.defaultdict(set)
        self._update_provider_tree_for_vpmems(
            provider_tree, nodename, {}, resources
        )
        provider_tree.update_resources(nodename, resources)
        self.provider_tree = copy.deepcopy(provider_tree)
        _mark()

    def _allocate_mdevs(self, allocations: Optional[Mapping[str, Any]]) -> Any:
        """Find a provider that the agent created since nova read the tree.

        If something goes wrong here, nova's own method reports it.
        """
        known = self.provider_tree
        if known is not None:
            wanted = self._vgpu_allocations(allocations)
            for uuid in sorted(set(wanted) - set(known.get_provider_uuids())):
                self._read_tree(uuid)
        return super()._allocate_mdevs(allocations)

    def _read_tree(self, uuid: str) -> None:
        """Add the tree of a provider to nova's copy, if it is this host's."""
        path = f'/resource_providers?in_tree={uuid}'
        try:
            answer = self.virtapi.reportclient.get(path, version=_PLACEMENT)
        except Exception:
            LOG.exception('GET %s of placement failed', path)
            return
        found = answer.json()['resource_providers'] if answer else []
        roots = {one.uuid for one in self.provider_tree.roots}
        if roots.intersection(one['uuid'] for one in found):
            tree = copy.deepcopy(self.provider_tree)
            tree.populate_from_iterable(found)
            self.provider_tree = tree


class IronicDriver(_ReportedByAgent, ironic.IronicDriver):
    """Nova's Ironic driver, without its resources."""


def _mark() -> None:
    """Write the file that names this process, unless it names it already.

    compute-agent writes nothing on a host whose nova-compute has no such file.
    Another nova-compute that was started here by hand may have replaced it.
    """
    path = pathlib.Path(CONF.state_path) / 'compute_agent.LibvirtDriver'
    new = path.with_name(f'{path.name}.{os.getpid()}')
    try:
        said = _process()
        if path.exists() and path.read_text() == said:
            return
        new.write_text(said)
        new.chmod(0o644)
        new.replace(path)
    except OSError as exc:
        with contextlib.suppress(OSError):
            new.unlink()
        LOG.warning(
            'compute-agent cannot know that this nova-compute reports no '
            'resources, because %s cannot be written: %s; it may then report '
            'nothing of this host',
            path,
            exc,
        )


def _process() -> str:
    """Return this process as JSON: its number, and when it was started."""
    # The fields after the program's name, which has brackets around it.
    fields = pathlib.Path('/proc/self/stat').read_text().rpartition(')')[2]
    boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text()
    said = {
        'process': os.getpid(),
        'boot_id': boot.strip(),
        'started': fields.split()[19],
    }
    return json.dumps(said) + '\n'


def _check_arguments(method: Callable[..., Any], known: list[str]) -> None:
    found = list(inspect.signature(method).parameters)
    if found != known:
        raise ImportError(
            'this release of nova has '
            f'{method.__qualname__}({", ".join(found)}), and compute-agent-nova '
            f'knows it with ({", ".join(known)}): upgrade compute-agent-nova, '
            "or set [DEFAULT] compute_driver to nova's own driver and stop "
            'compute-agent on this host'
        )


def _check_files() -> None:
    """Refuse inventories in nova's files.

    Nova refuses a class that a provider has before it applies a file, and
    here each provider has what placement has.
    """
    location = CONF.compute.provider_config_location
    files = provider_config.get_provider_configs(location)
    named = sorted(
        str(one.get('__source_file', name))
        for name, one in files.items()
        if one.get('inventories', {}).get('additional')
    )
    if named:
        raise ImportError(
            f'the provider-config files {", ".join(named)} of nova-compute have '
            'inventories, which compute-agent reports on this host: move them '
            "to files in the agent's [compute] provider_config_location"
        )
