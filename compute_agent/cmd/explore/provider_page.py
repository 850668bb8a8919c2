# SPDX-License-Identifier: Apache-2.0
"""All about one provider: its tree, its contents, who gave them, its past.

The parts are the answers of ``resource provider show``, ``tree show``, ``explain``,
``history`` and ``approve``. What only this machine's agent knows is missing
for the nodes of others, and the page says so.
"""

import itertools
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.http.messages import codec, paths

from ...fleet.values import mark
from ...ownership.explanations import explain
from ...plan.history_entry import KeptEntry
from ...tree import names, provider
from .. import history, tree
from ..provider import provider as provider_command
from .source import Source
from .this_agent import Data, Planned, ThisAgent
from .values import amounts, picture, traits

_PAST = 100  # entries of the history that are shown
_CONSUMERS = 200


def data(source: Source, agent: ThisAgent, uuid: str) -> Data:
    """Return everything about a provider.

    :raises errors.AgentError: placement has no such provider, or did not
        answer
    """
    api = source.providers
    found = api.find(uuid)
    rows = api.tree(found)
    details = api.details(found)
    shown = provider_command.provider_data(found, rows, details)
    title = api.title(found.root_uuid)
    whole = tree.in_placement(source.conf, source.service, found, title)
    providers = whole[1]
    with_amounts = list(_with_amounts(source, providers))
    planned = agent.plan_of(found.root_uuid)
    use = source.survey.use(found)
    allocations = use.allocations if use is not None else {}
    return {
        'provider': shown,
        'node': title,
        'inventories': _amounts(details.inventories, details.used),
        'tree': tree.tree_data(*whole),
        'picture': picture.picture(with_amounts, found.root_uuid, found.uuid),
        'pools': [
            {'name': row.name, 'uuid': row.uuid}
            for row in providers.values()
            if row.uuid not in {one.uuid for one in rows}
        ],
        'traits': _groups(found, details.traits, planned),
        'reporter': _reporter(providers, found.root_uuid, planned),
        'allocations': [
            {'consumer': consumer, 'resources': dict(resources)}
            for consumer, resources in itertools.islice(
                sorted(allocations.items()), _CONSUMERS
            )
        ],
        'consumers': len(allocations),
        'waiting': planned.waiting if planned is not None else {},
        'problem': planned.problem if planned is not None else '',
        'history': _history(agent, found),
        'history_problem': agent.record().problem,
    }


def _amounts(
    inventories: Mapping[str, typing.Any], used: Mapping[str, int]
) -> list[Data]:
    """Return a row for each resource class, with the parts of its bar."""
    return [
        {
            'class': rc,
            **one.to_record(),
            **amounts.Amount.of(
                one.total,
                one.reserved,
                one.allocation_ratio,
                used.get(rc, 0),
            ).data(),
        }
        for rc, one in sorted(inventories.items())
    ]


def _with_amounts(
    source: Source, providers: provider.Snapshot
) -> Iterator[Data]:
    """Yield the providers of a picture; what is used is read of each."""
    for row in providers.values():
        used: Mapping[str, int] = {}
        if row.inventories:
            try:
                body = source.service.get(paths.usages(row.uuid))
                _, used = codec.usages(body)
            except placement_errors.NotFound:
                continue
        yield {
            'uuid': row.uuid,
            'name': row.name,
            'parent': row.parent_uuid,
            'amounts': _amounts(row.inventories, used),
        }


# --- the traits, and who gave them --------------------------------------------


def _groups(
    found: codec.ListedProvider,
    had: Collection[str],
    planned: Planned | None,
) -> list[Data]:
    """Return the traits in groups, each with who gave it and the facts."""
    known = planned.traits if planned is not None else {}
    due = {
        name
        for name, one in known.items()
        if _of(found.uuid, one).get('state') == explain.State.DUE.name.lower()
    }
    return [
        {
            'title': title,
            'traits': [_trait(found, name, known.get(name)) for name in own],
        }
        for title, own in traits.grouped(sorted({*had, *due}))
    ]


def _trait(found: codec.ListedProvider, name: str, told: Data | None) -> Data:
    """Return one trait with who gave it, and the fact behind it."""
    if told is None:
        return {'name': name, 'state': '', 'claimed_by': [], 'facts': []}
    one = _of(found.uuid, told)
    state = one.get('state', '')
    near = {found.name, ''}
    facts = [
        _fact(each)
        for each in (*(told['findings'] or ()), *told['files'])
        if each['provider'] in near
    ]
    return {
        'name': name,
        'state': explain.State[state.upper()].value if state else '',
        'claimed_by': one.get('claimed_by', []),
        'cause': one.get('cause'),
        'facts': facts,
        'notes': told['notes'],
    }


def _of(uuid: str, told: Data) -> Data:
    return next((o for o in told['providers'] if o['uuid'] == uuid), {})


def _fact(finding: Data) -> str:
    sources = ', '.join(finding['sources'])
    seen = f' ({sources})' if sources else ''
    why = f': {finding["reason"]}' if finding['reason'] else ''
    return f'{finding["found"]} by {finding["fact"]}{seen}{why}'


def _reporter(
    providers: provider.Snapshot, root: str, planned: Planned | None
) -> str:
    """Return who reports this tree, as far as it can be told from here."""
    if planned is not None:
        return 'the agent of this machine reports this tree'
    had = providers[root].traits if root in providers else frozenset()
    marks = mark.marks(had)
    if marks:
        return f'another agent reports this tree: {marks[0]}'
    if names.OWNER_NOVA in had:
        return 'nova-compute, or the agent of another machine, reports it'
    return 'the agent of this machine does not report this tree'


# --- the past ------------------------------------------------------------------


def _history(agent: ThisAgent, found: codec.ListedProvider) -> list[Data]:
    """Return the last entries about a provider; for a root, of its tree."""
    record = agent.record()
    kept = [
        one
        for one in record.entries
        if found.uuid in {one.entry.uuid, one.entry.node_uuid}
    ][-_PAST:]
    return history_data(agent, kept)


def history_data(agent: ThisAgent, kept: Sequence[KeptEntry]) -> list[Data]:
    """Return entries as ``history -f json`` has them, the newest first."""
    record = agent.record()
    titles = history.node_names(kept, record.nodes)
    rows = history.entry_rows(kept, titles)
    columns = history.History.COLUMNS
    return [
        {**dict(zip(columns, row, strict=True)), 'UUID': one.entry.uuid}
        for row, one in zip(reversed(rows), reversed(kept), strict=True)
    ]
