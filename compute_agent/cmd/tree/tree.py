# SPDX-License-Identifier: Apache-2.0
"""``compute-agent tree show``: trees of providers as placement has them."""

import argparse
import contextlib
import time
import typing
from collections.abc import Sequence

from oslo_config import cfg

from report_client import errors as placement_errors
from report_client.http.messages import codec
from report_client.observe import observer

from ... import errors
from ...state.state import State
from ...tree import node as node_module
from ...tree import provider
from ..app import command
from ..wiring import agent_settings, named_providers, placement
from ..wiring.agent import open_agent
from . import tree_view

_Tree = tuple[node_module.Node, provider.Snapshot]


class TreeShow(command.Report):
    """Show a tree of providers, with inventory, traits and aggregates.

    The sharing providers that the tree reaches through its aggregates are
    shown beside it. Any provider of placement may be named; the whole tree
    that it is in is shown.
    """

    styled = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE|PROVIDER',
            help='The name or uuid of a node, or of any provider in placement '
            '(default: all nodes of this agent).',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the selected trees."""
        word = parsed_args.node
        conf = self.conf()
        found = _of_agent(conf, None) if word is None else _of(conf, word)
        data = [tree_view.data(node, providers) for node, providers in found]
        texts = [
            tree_view.text(node, providers, self.app.stdout)
            for node, providers in found
        ]
        return data, '\n'.join(texts) if texts else 'no nodes', 0


def _of(conf: cfg.ConfigOpts, word: str) -> Sequence[_Tree]:
    """Return the tree of a provider in placement, or of a node not there yet.

    :raises errors.AgentError: there is neither
    """
    service = named_providers.providers_of(conf)
    try:
        found = service.find(word)
    except placement_errors.Ambiguous:
        raise
    except placement_errors.DoesNotExist as exc:
        try:
            return _of_agent(conf, word)
        except errors.AgentError as why:
            raise type(exc)(f'{exc}, and {why}') from why
    title = service.title(found.root_uuid)
    return [_in_placement(conf, found, title)]


def _of_agent(conf: cfg.ConfigOpts, word: str | None) -> Sequence[_Tree]:
    """Return the trees of this agent's nodes, or of one of them."""
    with open_agent(conf, read_only=True) as agent:
        nodes = node_module.chosen(agent.tracker.nodes(), word)
        seen = agent.client.observe([n.uuid for n in nodes])
    return [(node, _providers(seen[node.uuid])) for node in nodes]


def _in_placement(
    conf: cfg.ConfigOpts, found: codec.ListedProvider, title: str
) -> _Tree:
    """Return the whole tree of a provider.

    :param title: the name of the root's node for people, or ''
    """
    root = found.root_uuid
    with contextlib.closing(_state(conf)) as state:
        seen = observer.Observer(
            placement.placement_service(conf),
            state,
            clock=time.time,
            full_read_interval=0,
            sharing_interval=0,
        ).observe([root])
    providers = _providers(seen[root])
    name = providers[root].name if root in providers else found.name
    return node_module.Node(uuid=root, name=name, title=title), providers


def _providers(seen: typing.Any) -> provider.Snapshot:
    """Return the providers of an observation.

    :raises errors.AgentError: it is an error
    """
    if isinstance(seen, errors.AgentError):
        raise seen
    snapshot: provider.Snapshot = seen.providers
    return snapshot


def _state(conf: cfg.ConfigOpts) -> State:
    """Return a copy of the state, empty if this user cannot read it."""
    path, site = agent_settings.state_path(conf), placement.site(conf)
    try:
        return State.open_copy(path, site)
    except errors.ConfigError:
        return State.in_memory(site)
