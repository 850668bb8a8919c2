# SPDX-License-Identifier: Apache-2.0
"""``compute-agent tree show``: trees of providers as placement has them.

``run --show-tree`` draws them, too.
"""

import argparse
import contextlib
import shutil
import time
import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from report_client import errors as placement_errors
from report_client.http import placement as placement_api
from report_client.http.messages import codec
from report_client.observe import observer

from .. import error_text, errors
from ..state.state import State
from ..tree import inventory, provider, set_aside
from ..tree import node as node_module
from ..tree.node import Node
from .app import command
from .wiring import agent_settings, named_providers, placement
from .wiring.opening import open_agent

#: The root of a tree, and the providers: its own and those that share.
Tree = tuple[node_module.Node, provider.Snapshot]
#: Why a driver set providers aside, by uuid.
Aside = Mapping[str, set_aside.SetAside]
_NONE: Aside = {}
_COLUMNS = 100


class TreeShow(command.Report):
    """Show a tree of providers, with inventory, traits and aggregates.

    The sharing providers that the tree reaches through its aggregates are
    shown beside it. Any provider of placement may be named; the whole tree
    that it is in is shown.
    """

    styled = True

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the node."""
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE|PROVIDER',
            help='The name or uuid of a node, or of any provider in placement '
            '(default: all nodes of this agent).',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the selected trees."""
        word = parsed_args.node
        conf = self.conf()
        found = _of_agent(conf, None) if word is None else _of(conf, word)
        aside = _aside(conf, found)
        data = [tree_data(node, providers, aside) for node, providers in found]
        texts = [
            drawn(node, providers, self.app.stdout, aside)
            for node, providers in found
        ]
        return data, '\n'.join(texts) if texts else 'no nodes', 0


def _of(conf: cfg.ConfigOpts, word: str) -> Sequence[Tree]:
    """Return the tree of a provider, or of a node that placement lacks yet.

    :raises errors.AgentError: neither a provider nor a node has this name
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
            said = str(exc).removesuffix(service.hint(word))
            raise type(exc)(f'{said}, and {why}') from why
    title = service.title(found.root_uuid)
    api = placement.placement_service(conf)
    return [in_placement(conf, api, found, title)]


def _of_agent(conf: cfg.ConfigOpts, word: str | None) -> Sequence[Tree]:
    """Return the trees of this agent's nodes, or of one of them."""
    with open_agent(conf, read_only=True) as agent:
        nodes = node_module.chosen(agent.tracker.nodes(), word)
        seen = agent.client.observe([n.uuid for n in nodes])
    return [(node, _providers(seen[node.uuid])) for node in nodes]


def _aside(conf: cfg.ConfigOpts, found: Sequence[Tree]) -> Aside:
    """Return why the driver set providers of a tree aside.

    It is asked if there is one tree, and a provider there is fully reserved.
    """
    if len(found) != 1:
        return _NONE
    node, providers = found[0]
    reserved = any(
        record.reserved == record.total
        for one in providers.values()
        for record in one.inventories.values()
    )
    if not reserved:
        return _NONE
    try:
        with open_agent(conf, read_only=True) as agent:
            (result,) = agent.tracker.plan(only=[node.uuid])
    except errors.AgentError:  # no node of this agent
        return _NONE
    return result.plan.set_aside if result.plan else _NONE


def in_placement(
    conf: cfg.ConfigOpts,
    service: placement_api.Placement,
    found: codec.ListedProvider,
    title: str,
) -> Tree:
    """Return the whole tree of a provider, and what shares with it.

    :param title: the name of the root's node for people, or ''
    """
    root = found.root_uuid
    with contextlib.closing(_state(conf)) as state:
        seen = observer.Observer(
            service,
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

    :raises errors.AgentError: the error that the observation is
    """
    if isinstance(seen, errors.AgentError):
        raise seen
    snapshot: provider.Snapshot = seen.providers
    return snapshot


def _state(conf: cfg.ConfigOpts) -> State:
    """Return a copy of the state; an empty one if this user cannot read it."""
    path, site = agent_settings.state_path(conf), placement.site(conf)
    try:
        return State.open_copy(path, site)
    except errors.ConfigError:
        return State.in_memory(site)


def drawn(
    node: Node,
    providers: provider.Snapshot,
    out: typing.TextIO,
    aside: Aside = _NONE,
) -> str:
    """Return the drawn trees, in colour if ``out`` is a terminal."""
    from rich import console, markup, tree  # noqa: PLC0415 (few runs draw)

    if node.uuid not in providers:
        return f'{node}: not in placement yet'
    branches: dict[str, tree.Tree] = {}
    roots = []
    for uuid, row in providers.items():
        name = node.called if uuid == node.uuid else row.name
        called = error_text.printable(name)
        label = f'[bold]{markup.escape(called)}[/bold]'
        label += f' ({uuid})' if called != uuid else ''
        parent = branches.get(str(row.parent_uuid))
        branch = tree.Tree(label) if parent is None else parent.add(label)
        if parent is None:
            roots.append(branch)
        for line in _lines(row, aside):
            branch.add(markup.escape(line))
        branches[uuid] = branch
    drawing = console.Console(
        force_terminal=out.isatty(),
        width=shutil.get_terminal_size((_COLUMNS, 0)).columns,
        highlight=False,
    )
    with drawing.capture() as capture:
        for root in roots:
            drawing.print(root)
    return capture.get().rstrip('\n')


def tree_data(
    node: Node, providers: provider.Snapshot, aside: Aside = _NONE
) -> dict[str, typing.Any]:
    """Return the providers as plain data, parents first."""
    return {
        'node': node.called,
        'uuid': node.uuid,
        'providers': [
            {
                'uuid': row.uuid,
                'name': row.name,
                'parent': row.parent_uuid,
                'generation': row.generation,
                'inventories': {
                    rc: record.to_record()
                    for rc, record in sorted(row.inventories.items())
                },
                'traits': sorted(row.traits),
                'aggregates': sorted(row.aggregates),
                'set_aside': str(aside[row.uuid])
                if row.uuid in aside
                else None,
            }
            for row in providers.values()
        ],
    }


def _lines(shown: provider.Provider, aside: Aside) -> Sequence[str]:
    """Return the lines below a provider's name."""
    lines = [
        _inventory(rc, record)
        for rc, record in sorted(shown.inventories.items())
    ]
    if shown.uuid in aside:
        one = aside[shown.uuid]
        lines.append(f'{one.cause}: {one.why}' if one.why else one.cause)
    if shown.traits:
        lines.append(f'traits: {" ".join(sorted(shown.traits))}')
    if shown.aggregates:
        lines.append(f'aggregates: {" ".join(sorted(shown.aggregates))}')
    return lines


def _inventory(rc: str, record: inventory.Inventory) -> str:
    reserved = f', {record.reserved} reserved' if record.reserved else ''
    ratio = record.allocation_ratio
    factor = f', ratio {ratio:g}' if ratio != 1 else ''
    return f'{rc}: {record.total}{reserved}{factor}'
