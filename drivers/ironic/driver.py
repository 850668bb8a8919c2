# SPDX-License-Identifier: Apache-2.0
"""The driver for the bare-metal nodes of one Ironic, or for some of them.

Each node is a root provider; its name is the node's uuid as Ironic spells it.
A cycle begins with one listing of all nodes, or with those that have changed
(``reader.py``). A new reading replaces the old one as a whole, so methods may
run in parallel. Ironic decides what a node has.
The driver writes to Ironic only for ``node stage`` and ``node unstage``.
"""

import logging
import typing
from collections.abc import Collection, Mapping, Sequence

from oslo_config import cfg

from compute_agent import errors, extra_specs
from compute_agent.transport import clouds
from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import provider_tree
from compute_agent.virt import driver
from compute_agent.virt.values import changes, cloud_nodes, finding
from compute_agent.virt.values import requested as agent_requested

from . import conf as options
from . import reader, requested
from .client import api, connection, endpoint
from .nodes import answers, describe, evidence
from .nodes import node as ironic

LOG = logging.getLogger(__name__)

_SHOWN = 3
_SHARED_BY_PEERS = (
    'the ironic driver does not support [ironic] peer_list: this agent '
    'describes all nodes of its conductor_group; to share them among agents, '
    'give each a shard of its own with [ironic] shard'
)


class IronicDriver(driver.ComputeDriver):
    """Describes the nodes that ``api`` lists.

    :param manner: the options for describing them
    :param nodes: reads the nodes; by default with the default intervals
    """

    def __init__(
        self,
        *,
        api: api.Api,
        manner: describe.Manner,
        nodes: reader.Reader | None = None,
    ) -> None:
        self._api = api
        self._manner = manner
        self._nodes = nodes or reader.Reader(api)
        self._warned = ''

    @classmethod
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the group ``[ironic]``."""
        options.register_opts(conf)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver of the Ironic in ``[ironic]``; send nothing."""
        adapter, url = endpoint.from_conf(conf)
        options.check(conf)
        group = conf[options.GROUP]
        if len(group.peer_list or ()) > 1:
            LOG.warning('%s', _SHARED_BY_PEERS)
        reached = connection.Connection(
            adapter,
            url=url,
            needed=answers.needed(group.conductor_group, group.shard),
            max_retries=group.api_max_retries,
            retry_interval=group.api_retry_interval,
            account=clouds.account_of(conf, options.GROUP),
        )
        workarounds = conf[options.WORKAROUNDS]
        made = api.Api(
            reached,
            conductor_group=group.conductor_group,
            shard=group.shard,
            seconds=group.listing_deadline,
        )
        return cls(
            api=made,
            nodes=reader.Reader(
                made, full_interval=group.full_listing_interval
            ),
            manner=describe.Manner(
                exclusive=group.trait_ownership == options.EXCLUSIVE,
                skip_in_use=workarounds.skip_reserve_in_use_ironic_nodes,
            ),
        )

    @property
    def node_filter(self) -> Mapping[str, str]:
        """The conductor group and the shard, if they are set."""
        return self._api.filters

    def get_available_nodes(self) -> Sequence[str]:
        """List the nodes, because a cycle begins; return their uuids.

        :return: the uuids as Ironic spells them
        :raises errors.AgentError: the listing is incomplete
        """
        self._nodes.read_all()
        listing = self._nodes.reading.listing
        self._warn(_oddity(listing, self._api.filters))
        return list(listing.nodes)

    def changes(self, since: object) -> changes.Changes:
        """Read the nodes that Ironic changed or created; name those that differ.

        :param since: not used: the lists go on from the last changes, too, so
            the reader remembers how far it has read
        :raises errors.AgentError: Ironic did not tell the changes; the last
            answers stay
        """
        del since
        names = self._nodes.read_changes()
        return changes.Changes(names=names, since=self._nodes.marks)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return uuid → uuid as Ironic spells it, for the last listing."""
        nodes = self._nodes.reading.nodes.values()
        return {node.uuid: node.ident for node in nodes}

    def get_titles(self) -> Mapping[str, str]:
        """Return the names in Ironic of the nodes of the last listing."""
        nodes = self._nodes.reading.nodes.values()
        return {node.ident: node.called for node in nodes}

    def node_exists(self, nodename: str) -> driver.Existence:
        """Tell if Ironic has the node, in any shard or conductor group.

        :raises errors.AgentError: Ironic gave no clear answer
        """
        return self._api.exists(nodename)

    def cloud_nodes(self) -> Sequence[cloud_nodes.CloudNode]:
        """Return all nodes of Ironic, in any shard or conductor group.

        :raises errors.AgentError: the listing is incomplete
        """
        listing = self._api.nodes(everywhere=True)
        oddity = _oddity(listing, {})
        if oddity:
            raise errors.UnknownState(oddity)
        return [
            cloud_nodes.CloudNode(
                uuid=node.uuid, instance_uuid=node.instance_uuid
            )
            for node in listing.nodes.values()
        ]

    def facts(self, nodename: str) -> object:
        """Return the node as last listed, None if it was not listed."""
        facts = self._nodes.reading.facts(nodename)
        return None if facts is None else (*facts, self._manner)

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,
    ) -> None:
        """Edit the tree until it matches the node in the last listing.

        :raises errors.DriverError: the listing does not contain the node
        """
        del allocations  # this driver never moves allocations
        reading = self._nodes.reading
        node = reading.nodes.get(nodename)
        if node is None:
            raise errors.DriverError(
                f'node {nodename} is not in the last listing of Ironic'
            )
        describe.describe(provider_tree, node, reading.problems, self._manner)

    def get_inventory(
        self, nodename: str
    ) -> Mapping[str, agent_inventory.InventoryRecord]:
        """Return the node's one resource class with its record.

        :raises errors.DriverError: the node has no usable resource class
        """
        node, problems = self._one(nodename)
        rc = node.resource_class
        if not rc or rc in problems:
            why = (
                problems[rc].for_node(node.called)
                if rc
                else f'{describe.mend(node.called)} to give it one'
            )
            raise errors.DriverError(
                f'{node} has no resource class that can be used: {why}'
            )
        records = ironic.records(node, skip_in_use=self._manner.skip_in_use)
        return agent_inventory.as_given(records)

    def get_traits(self, nodename: str) -> Sequence[str]:
        """Return the node's traits, sorted."""
        node, _ = self._one(nodename)
        return sorted(ironic.reported(node))

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return the source of each trait, and other facts of the node."""
        node, problems = self._one(nodename)
        return evidence.findings(node, problems, self._manner)

    def stage(
        self,
        node: str,
        wanted: extra_specs.ExtraSpecs,
        instance_uuid: str | None = None,
        *,
        elsewhere: Collection[str] = (),
        dry_run: bool = False,
    ) -> agent_requested.Staging:
        """Hand the request's requirements to the node; see ``requested``."""
        return requested.stage(
            self._api,
            node,
            wanted,
            instance_uuid,
            elsewhere=elsewhere if self._manner.exclusive else None,
            dry_run=dry_run,
        )

    def unstage(
        self,
        node: str,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> agent_requested.Staging:
        """Take back exactly what was staged; succeed if nothing was staged."""
        return requested.unstage(
            self._api, node, instance_uuid, dry_run=dry_run
        )

    def _warn(self, line: str) -> None:
        """Log an oddity of the listing once, until it changes."""
        if line and line != self._warned:
            LOG.warning('%s', line)
        self._warned = line

    def _one(
        self, nodename: str
    ) -> tuple[ironic.Node, Mapping[str, describe.Problem]]:
        """Return a node of the last listing; read one that is not in it.

        :raises errors.DriverError: Ironic does not have the node
        """
        reading = self._nodes.reading
        if nodename in reading.nodes:
            return reading.nodes[nodename], reading.problems
        node = self._api.read(nodename)
        if node is None:
            raise errors.DriverError(f'Ironic has no node {nodename}')
        others = (n.resource_class for n in reading.nodes.values())
        return node, describe.problems((node.resource_class, *others))


def _oddity(listing: answers.Listing, filters: Mapping[str, str]) -> str:
    """Return a message about an odd listing, empty if it is not odd."""
    reasons = listing.left_out
    if reasons:
        more = len(reasons) - _SHOWN
        shown = [*reasons[:_SHOWN], *([f'{more} more'] if more > 0 else [])]
        return (
            'some nodes of Ironic are left out, because placement could not '
            f'tell them apart: {"; ".join(shown)}; enroll them again, each '
            'with a uuid of its own'
        )
    if filters and not listing.nodes:
        chosen = ' with '.join(f'{k} {v!r}' for k, v in filters.items())
        return f'[ironic] {chosen} has no nodes in Ironic'
    return ''
