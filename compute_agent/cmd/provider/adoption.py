# SPDX-License-Identifier: Apache-2.0
"""A provider that another created, and that counts as this agent's then.

What there is to judge by is a ``Case``, what is to be done an ``Adoption``,
which shows itself before it acts. ``provider_adopt.py`` is the command,
``host_adoption.py`` the other case of it.
"""

import dataclasses
import pathlib
import typing
from collections.abc import Callable, Container, Sequence

from report_client.api import providers
from report_client.http import codec

from ... import errors
from ...tree import node as node_module
from ...tree import provider
from ...tree.node import Node
from ..wiring import agent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What is to be done.

    :ivar plan: it in lines; empty where nothing is left to do
    :ivar act: does it; returns what was done
    """

    plan: Sequence[str]
    data: dict[str, typing.Any]
    act: Callable[[], str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A provider, and what there is to judge it by.

    :ivar places: where this host's uuid is kept, and may be
    """

    agent: agent.Agent
    service: providers.Providers
    one: codec.ListedProvider
    nodes: Sequence[Node]
    places: tuple[pathlib.Path, list[pathlib.Path]]

    def data(
        self, uuids: Sequence[str], node_uuid: str
    ) -> dict[str, typing.Any]:
        """Return the report, as data."""
        return {
            'provider': self.one.name,
            'uuid': self.one.uuid,
            'node_uuid': node_uuid,
            'adopted': list(uuids),
        }


def of(case: Case, wanted: str | None, *, subtree: bool) -> Adoption:
    """Return how a provider comes to count as created here.

    :param wanted: the node that one belongs to which stands alone
    :raises errors.Refused: it is in a tree of another's
    """
    tree = case.service.tree(case.one)
    node_uuid, called = _node(case, tree, wanted)
    below = _below(case.one, tree)
    chosen = below if subtree else below[:1]
    uuids = [row.uuid for row in chosen]
    known = case.agent.state.records.record(uuids, node_uuid).created
    anew = _made_anew(case, chosen)
    new = [row for row in chosen if row.uuid not in known - anew]
    return Adoption(
        plan=_plan(new, called, below[len(chosen) :], anew),
        data=case.data([row.uuid for row in new], node_uuid),
        act=lambda: _take(case, node_uuid, new),
    )


def title(one: codec.ListedProvider) -> str:
    """Return what a provider is called."""
    return provider.title(one.name, one.uuid)


def _node(
    case: Case, tree: Sequence[codec.ListedProvider], wanted: str | None
) -> tuple[str, str]:
    """Return uuid and name of the node that the provider is of."""
    every = {n.uuid: n.called for n in case.agent.state.nodes.all()}
    every |= {n.uuid: n.called for n in case.nodes}
    for row in tree:
        if row.uuid in every:
            return row.uuid, every[row.uuid]
    if len(tree) > 1:
        roots = ', '.join(title(r) for r in tree if r.parent_uuid is None)
        raise errors.Refused(
            f'{title(case.one)} is in the tree of {roots}, which is no node '
            'of this agent: adopt it where that is reported'
        )
    nodes = node_module.chosen(case.nodes, wanted)
    if len(nodes) != 1:
        raise errors.ConfigError(
            f'{title(case.one)} stands alone: say by --node which of the '
            f'{len(nodes)} nodes here it belongs to'
        )
    return nodes[0].uuid, nodes[0].called


def _below(
    one: codec.ListedProvider, tree: Sequence[codec.ListedProvider]
) -> list[codec.ListedProvider]:
    """Return a provider and all below it, parents first."""
    found = [one]
    for above in found:
        found += [row for row in tree if row.parent_uuid == above.uuid]
    return found


def _made_anew(case: Case, rows: Sequence[codec.ListedProvider]) -> set[str]:
    """Return those of which a record is left that is of one before them."""
    known = case.agent.state.snapshot.readings(row.uuid for row in rows)
    return {
        row.uuid
        for row in rows
        if row.uuid in known and known[row.uuid].is_above(row.generation)
    }


def _plan(
    new: Sequence[codec.ListedProvider],
    node: str,
    others: Sequence[codec.ListedProvider],
    anew: Container[str],
) -> list[str]:
    if not new:
        return []
    names = ', '.join(title(row) for row in new)
    lines = [
        f'{names}: will count as created by this agent, for node {node}',
        '  when the driver removes it, it is deleted',
        '  when the driver gives a whole set, what no source holds goes',
    ]
    if again := ', '.join(title(row) for row in new if row.uuid in anew):
        lines.append(
            f'  made anew since this agent knew it, which is forgotten: {again}'
        )
    if others:
        some = ', '.join(title(row) for row in others)
        lines.append(f'  below it, and not adopted without --subtree: {some}')
    return lines


def _take(
    case: Case, node_uuid: str, new: Sequence[codec.ListedProvider]
) -> str:
    if not new:
        return f"{title(case.one)} is this agent's already"
    case.agent.state.journal.adopt(
        node_uuid, {row.uuid: row.generation for row in new}
    )
    return '\n'.join(f'adopted {title(row)}' for row in new)
