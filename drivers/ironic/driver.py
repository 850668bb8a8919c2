# SPDX-License-Identifier: Apache-2.0
"""The driver for the bare-metal nodes of one Ironic, or for some of them.

Each node is a root provider; its name is the node's uuid as Ironic spells it.
A cycle begins with one listing of all nodes. A new listing replaces the old
one as a whole, so methods may run in parallel. Ironic decides what a node has.
The driver writes to Ironic only for ``node stage`` and ``node unstage``.
"""

import dataclasses
import logging
import typing
from collections.abc import Collection, Mapping, Sequence

from oslo_config import cfg

from compute_agent import errors, extra_specs
from compute_agent.transport import clouds
from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import provider_tree
from compute_agent.virt import driver
from compute_agent.virt.values import cloud_nodes, finding
from compute_agent.virt.values import requested as agent_requested

from . import conf as options
from . import requested
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """The nodes of one cycle, and the problems with their resource classes.

    :ivar nodes: by uuid as Ironic spells it, which is the node's name here
    :ivar problems: by resource class as Ironic spells it
    """

    nodes: Mapping[str, ironic.Node] = dataclasses.field(default_factory=dict)
    problems: Mapping[str, describe.Problem] = dataclasses.field(
        default_factory=dict
    )


class IronicDriver(driver.ComputeDriver):
    """Describes the nodes that ``api`` lists.

    :param manner: the options for describing them
    """

    def __init__(self, *, api: api.Api, manner: describe.Manner) -> None:
        self._api = api
        self._manner = manner
        self._listing = _Listing()
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
        return cls(
            api=api.Api(
                reached,
                conductor_group=group.conductor_group,
                shard=group.shard,
                seconds=group.listing_deadline,
            ),
            manner=describe.Manner(
                exclusive=group.trait_ownership == options.EXCLUSIVE,
                skip_in_use=workarounds.skip_reserve_in_use_ironic_nodes,
            ),
        )

    @property
    def node_filter(self) -> Mapping[str, str]:
        """The conductor group and the shard, those that are set."""
        return self._api.filters

    def get_available_nodes(self) -> Sequence[str]:
        """List the nodes, because a cycle begins; return their uuids.

        :return: the uuids as Ironic spells them
        :raises errors.AgentError: the listing is incomplete
        """
        listing = self._api.nodes()
        nodes = listing.nodes
        problems = describe.problems(n.resource_class for n in nodes.values())
        self._listing = _Listing(nodes=nodes, problems=problems)
        self._warn(_oddity(listing, self._api.filters))
        return list(nodes)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return uuid → uuid as Ironic spells it, for the last listing."""
        nodes = self._listing.nodes.values()
        return {node.uuid: node.ident for node in nodes}

    def get_titles(self) -> Mapping[str, str]:
        """Return the names in Ironic of the nodes of the last listing."""
        nodes = self._listing.nodes.values()
        return {node.ident: node.called for node in nodes}

    def node_exists(self, nodename: str) -> driver.Existence:
        """Tell if Ironic has the node, in any shard or conductor group.

        :raises errors.AgentError: there was no clear answer
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
        listing = self._listing
        node = listing.nodes.get(nodename)
        if node is None:
            return None
        problem = listing.problems.get(node.resource_class or '')
        return node, problem, self._manner

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
        listing = self._listing
        node = listing.nodes.get(nodename)
        if node is None:
            raise errors.DriverError(
                f'node {nodename} is not in the last listing of Ironic'
            )
        describe.describe(provider_tree, node, listing.problems, self._manner)

    def get_inventory(
        self, nodename: str
    ) -> Mapping[str, agent_inventory.Record]:
        """Return the node's one resource class with its record.

        :raises errors.DriverError: it has no resource class that can be used
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
        return ironic.records(node, skip_in_use=self._manner.skip_in_use)

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
        """Take back exactly what was staged; succeed if nothing was."""
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
        """Return a node of the last listing, or else read it.

        :raises errors.DriverError: Ironic does not have the node
        """
        listing = self._listing
        if nodename in listing.nodes:
            return listing.nodes[nodename], listing.problems
        node = self._api.read(nodename)
        if node is None:
            raise errors.DriverError(f'Ironic has no node {nodename}')
        others = (n.resource_class for n in listing.nodes.values())
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
