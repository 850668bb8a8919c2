# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider adopt``: make a provider of another writer ours.

There are two cases. A provider in a tree of this agent counts as created by
this agent from now on (``ownership/adoption.py``). A provider that has the
name of this host under another uuid is this host before it was reinstalled:
the host takes that uuid (``identity/host_adoption.py``).
"""

import argparse
import dataclasses
import typing
from collections.abc import Callable, Sequence

from report_client.api import providers as providers_api
from report_client.api.values import provider_query
from report_client.http.messages import codec

from ...identity import compute_id, host_adoption
from ...ownership import adoption
from ...state.database import lock
from ..app import command, confirm
from ..wiring import agent_settings, named_providers
from ..wiring.agent import Agent
from ..wiring.opening import open_agent
from . import nova_roots, provider_change


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """An adoption as the command shows it.

    :ivar plan: lines for the operator; empty if there is nothing to do
    :ivar apply: carries it out, and returns lines for the operator
    """

    plan: Sequence[str]
    data: dict[str, typing.Any]
    apply: Callable[[], str]


class ProviderAdopt(command.Report):
    """Make this agent the owner of a provider that another writer created.

    A provider in the tree of a node of this agent, or a provider that is alone
    in its tree, then counts as created by this agent. If the provider has the
    name of this host under another uuid, the host was reinstalled, and takes
    that uuid. The command shows what it will do, and asks.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        provider_change.add_provider(parser)
        parser.add_argument(
            '--subtree',
            action='store_true',
            help='Adopt all descendants of the provider too.',
        )
        parser.add_argument(
            '--node',
            metavar='NODE',
            help='For a provider that is alone in its tree: the node that it '
            'belongs to, by name or uuid (default: the only node).',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Adopt the provider; return what was adopted."""
        conf = self.conf()
        with (
            lock.hold_as_owner(agent_settings.state_path(conf)),
            open_agent(conf, read_only=False, by=self.actor) as agent,
        ):
            service = named_providers.providers_of(conf)
            provider = service.find(parsed_args.provider)
            nova_roots.refuse(agent, provider)
            proposal = _proposal(agent, service, provider, parsed_args)
            refused = proposal.plan and confirm.refused(
                self, proposal.plan, yes=parsed_args.yes
            )
            if refused:
                return {**proposal.data, 'adopted': []}, *refused
            return proposal.data, proposal.apply(), 0


def _proposal(
    agent: Agent,
    service: providers_api.Providers,
    provider: codec.ListedProvider,
    parsed_args: argparse.Namespace,
) -> _Proposal:
    """Return the proposal for a host if one matches, else for the provider."""
    nodes = agent.tracker.nodes()
    host = host_adoption.host_adoption(
        provider,
        nodes,
        agent.drivers.nodenames_by_uuid,
        lambda uuid: service.list_providers(
            provider_query.ProviderQuery(uuid=uuid)
        ),
        agent.current.value.identity_directories,
    )
    if host is not None:
        return _of_host(agent, host)
    tree = service.tree(provider)
    uuids = [row.uuid for row in tree]
    adopted = adoption.adoption(
        provider,
        tree,
        nodes,
        adoption.Known(
            nodes=agent.state.nodes.all(),
            created=agent.state.records.record(uuids, '').created,
            readings=agent.state.snapshot.readings(uuids),
        ),
        wanted_node=parsed_args.node,
        subtree=parsed_args.subtree,
    )
    return _of_provider(agent, provider, adopted)


def _of_host(agent: Agent, host: host_adoption.HostAdoption) -> _Proposal:
    uuid, node = host.provider.uuid, host.node

    def apply() -> str:
        copies = ', '.join(
            str(path) for path in host.apply(agent.state.handover)
        )
        agent.state.records.take_over([uuid])
        return (
            f'this host is now {adoption.title(host.provider)}; its replaced '
            f'uuid is kept in {copies}'
        )

    return _Proposal(
        plan=[
            f'this host, {node}, takes the uuid of provider {uuid}',
            f'  {compute_id.FILE_NAME} in {host.directories[0]}, or where nova wrote it: {node.uuid} becomes {uuid}; a copy of the old file is kept',
            f'  the record of {node.uuid} is dropped',
            '  the next cycle makes the provider what the driver describes',
        ],
        data=_data(host.provider, [uuid], node.uuid),
        apply=apply,
    )


def _of_provider(
    agent: Agent,
    provider: codec.ListedProvider,
    found: adoption.Adoption,
) -> _Proposal:
    def apply() -> str:
        if found.new:
            generations = {row.uuid: row.generation for row in found.new}
            agent.state.journal.adopt(found.node.uuid, generations)
        lines = [f'adopted {adoption.title(row)}' for row in found.new]
        return '\n'.join(lines) or (
            f'{adoption.title(provider)} already belongs to this agent'
        )

    return _Proposal(
        plan=_plan(found) if found.new else [],
        data=_data(provider, [row.uuid for row in found.new], found.node.uuid),
        apply=apply,
    )


def _plan(found: adoption.Adoption) -> list[str]:
    """Return what will be done, and what follows from it."""
    names = ', '.join(adoption.title(row) for row in found.new)
    lines = [
        f'{names}: will count as created by this agent, for node {found.node.called}',
        '  if the driver stops reporting it, the agent deletes it',
        '  if the driver sets a complete list, other names are removed',
    ]
    recreated = [row for row in found.new if row.uuid in found.recreated]
    if recreated:
        titles = ', '.join(map(adoption.title, recreated))
        lines.append(
            '  another writer deleted and created it again; the record of the '
            f'old provider is dropped: {titles}'
        )
    if found.descendants:
        titles = ', '.join(map(adoption.title, found.descendants))
        lines.append(f'  descendants, adopted only with --subtree: {titles}')
    return lines


def _data(
    provider: adoption.ListedProvider, adopted: Sequence[str], node: str
) -> dict[str, typing.Any]:
    return {
        'provider': provider.name,
        'uuid': provider.uuid,
        'node_uuid': node,
        'adopted': list(adopted),
    }
