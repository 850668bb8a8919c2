# SPDX-License-Identifier: Apache-2.0
"""Describes the bare-metal nodes of an Ironic, or of a part of it.

Each node is a provider of its own, named by the node's uuid as Ironic spells
it. A cycle begins with one listing of all of them, which is kept as a whole and
swapped as a whole, so methods may run side by side. Ironic decides what a node
has (seed 002); nothing is written to it but what ``node stage`` asks for.
"""

import dataclasses
import logging
import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from compute_agent import errors, extra_specs
from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import provider_tree
from compute_agent.virt import driver, finding
from compute_agent.virt import requested as agent_requested

from . import (
    answers,
    api,
    classes,
    connection,
    describe,
    endpoint,
    evidence,
    inventory,
    requested,
    traits,
    versions,
)
from . import conf as options
from . import node as ironic

LOG = logging.getLogger(__name__)

_SHOWN = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """The nodes of one cycle, and what is wrong with their classes.

    :ivar nodes: by uuid as Ironic spells it, which is the node's name here
    """

    nodes: Mapping[str, ironic.Node] = dataclasses.field(default_factory=dict)
    problems: Mapping[str, classes.Problem] = dataclasses.field(
        default_factory=dict
    )


class IronicDriver(driver.ComputeDriver):
    """Describes the nodes that ``api`` lists.

    :param manner: how they are described
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
        """Return the driver for the Ironic of ``[ironic]``; nothing is sent."""
        adapter, url = endpoint.from_conf(conf)
        options.check(conf)
        group = conf[options.GROUP]
        reached = connection.Connection(
            adapter,
            url=url,
            needed=versions.needed(group.conductor_group, group.shard),
            max_retries=group.api_max_retries,
            retry_interval=group.api_retry_interval,
        )
        workarounds = conf[options.WORKAROUNDS]
        return cls(
            api=api.Api(
                reached,
                conductor_group=group.conductor_group,
                shard=group.shard,
            ),
            manner=describe.Manner(
                exclusive=group.trait_ownership == options.EXCLUSIVE,
                skip_in_use=workarounds.skip_reserve_in_use_ironic_nodes,
            ),
        )

    def get_available_nodes(self) -> Sequence[str]:
        """Return the uuids of Ironic's nodes now; a new cycle begins.

        :return: as Ironic spells them
        :raises errors.AgentError: the listing did not arrive as a whole
        """
        listing = self._api.nodes()
        nodes = listing.nodes
        problems = classes.problems(n.resource_class for n in nodes.values())
        self._listing = _Listing(nodes=nodes, problems=problems)
        self._warn(_oddity(listing, self._api.filters))
        return list(nodes)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return how Ironic spells the uuids of the last listing."""
        nodes = self._listing.nodes.values()
        return {node.uuid: node.ident for node in nodes}

    def get_titles(self) -> Mapping[str, str]:
        """Return the names that nodes of the last listing have in Ironic."""
        nodes = self._listing.nodes.values()
        return {node.ident: node.called for node in nodes}

    def node_exists(self, nodename: str) -> driver.Existence:
        """Return whether Ironic has the node, in any shard or group.

        :raises errors.AgentError: there was no clear answer
        """
        return self._api.exists(nodename)

    def facts(self, nodename: str) -> object:
        """Return what the last listing says of the node, None if nothing."""
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
        """Edit the tree until it is what the last listing says of the node.

        :raises errors.DriverError: the listing does not have it
        """
        del allocations  # nothing that is allocated is ever moved
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
        """Return the node's one resource class with its record (seed 002).

        :raises errors.DriverError: it has none, or none that can be used
        """
        node, problems = self._one(nodename)
        rc = node.resource_class
        if not rc or rc in problems:
            why = (
                problems[rc].of(node.called)
                if rc
                else f'{classes.mend(node.called)} to give it one'
            )
            raise errors.DriverError(
                f'{node} has no resource class that can be used: {why}'
            )
        return inventory.records(node, skip_in_use=self._manner.skip_in_use)

    def get_traits(self, nodename: str) -> Sequence[str]:
        """Return the node's traits, sorted (seed 002)."""
        node, _ = self._one(nodename)
        return sorted(traits.reported(node))

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return where each trait comes from, and what else Ironic says."""
        node, problems = self._one(nodename)
        return evidence.findings(node, problems, self._manner)

    def stage(
        self,
        node: str,
        wanted: extra_specs.ExtraSpecs,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> agent_requested.Staging:
        """Tell the node what the request requires of it; see ``requested``."""
        return requested.stage(
            self._api, node, wanted, instance_uuid, dry_run=dry_run
        )

    def unstage(
        self,
        node: str,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> agent_requested.Staging:
        """Take back exactly what was staged; done if nothing was."""
        return requested.unstage(
            self._api, node, instance_uuid, dry_run=dry_run
        )

    def _warn(self, line: str) -> None:
        """Log what is odd about the listing, once until that changes."""
        if line and line != self._warned:
            LOG.warning('%s', line)
        self._warned = line

    def _one(
        self, nodename: str
    ) -> tuple[ironic.Node, Mapping[str, classes.Problem]]:
        """Return a node of the last listing, or read this one.

        :raises errors.DriverError: Ironic does not have it
        """
        listing = self._listing
        if nodename in listing.nodes:
            return listing.nodes[nodename], listing.problems
        node = self._api.read(nodename)
        if node is None:
            raise errors.DriverError(f'Ironic has no node {nodename}')
        others = (n.resource_class for n in listing.nodes.values())
        return node, classes.problems((node.resource_class, *others))


def _oddity(listing: answers.Listing, filters: Mapping[str, str]) -> str:
    """Return what the operator should know of a listing; empty if nothing."""
    out = listing.left_out
    if out:
        more = [f'{len(out) - _SHOWN} more'] if len(out) > _SHOWN else []
        return (
            'of the nodes of Ironic some are left out, for placement could '
            f'not tell them apart: {"; ".join([*out[:_SHOWN], *more])}; '
            'enroll them anew, with uuids of their own'
        )
    if filters and not listing.nodes:
        chosen = ' with '.join(f'{k} {v!r}' for k, v in filters.items())
        return f'[ironic] {chosen} has no nodes in Ironic'
    return ''
