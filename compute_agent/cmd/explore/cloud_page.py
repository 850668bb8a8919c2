# SPDX-License-Identifier: Apache-2.0
"""The inventory of a cloud by resource class: used, reserved, free.

Placement has no sum, so each provider is read, three requests for each. An
allocation moves a provider's generation as any other change does: a provider
whose generation is the one that was read is not read again. A large cloud is
read only once a person asks for that, and the page shows the sums of what is
read so far.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Collection, Iterable, Mapping

from report_client import errors as placement_errors
from report_client.http.messages import codec

from ... import errors, parallel
from ...fleet.values import mark
from ...tree import assertion, names
from . import slow
from .source import Source
from .this_agent import Data, ThisAgent
from .values import amounts
from .values.amounts import Amount
from .values.gate import Asked

FIELDS = ('by', 'trait', 'read')
MANY = 2000  # providers; more are not read unasked
_GROUPS = 40  # that are shown
_NOVA = 'nova-compute, or an agent that marks nothing'
_NOBODY = 'pools, and what nobody has marked'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The inventories and aggregates of a provider, at one generation."""

    generation: int
    amounts: Mapping[str, Amount]
    aggregates: frozenset[str]


class _Ended(Exception):
    """The program ends, so the reading stops."""


class Holdings:
    """Reads the inventories of all providers, in a thread.

    :param stopping: set when the program ends
    """

    def __init__(
        self, source: Source, workers: int, stopping: threading.Event
    ) -> None:
        self._source = source
        self._workers = workers
        self._stopping = stopping
        self._found: dict[str, Holding] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._problem: errors.AgentError | None = None

    def of(
        self, rows: Collection[codec.ListedProvider], *, begins: bool
    ) -> Mapping[str, Holding]:
        """Return the readings of these providers; read the changed ones again.

        :param begins: False to leave what is not read yet
        :raises errors.AgentError: placement did not answer
        """
        wanted = [
            row
            for row in rows
            if row.uuid not in self._found
            or self._found[row.uuid].generation != row.generation
        ]
        if wanted and begins:
            with self._lock:
                thread = self._thread
                if thread is None or not thread.is_alive():
                    thread = self._thread = threading.Thread(
                        target=self._read, args=[wanted], name='inventories',
                        daemon=True,
                    )  # fmt: skip
                    thread.start()
            thread.join(slow.WAIT)
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        return {
            r.uuid: self._found[r.uuid] for r in rows if r.uuid in self._found
        }

    @property
    def is_reading(self) -> bool:
        """True while the thread reads."""
        return self._thread is not None and self._thread.is_alive()

    def _read(self, wanted: Iterable[codec.ListedProvider]) -> None:
        try:
            with contextlib.suppress(_Ended):
                parallel.each(wanted, self._step, workers=self._workers)
        except errors.AgentError as exc:
            self._problem = exc

    def _step(self, row: codec.ListedProvider) -> None:
        if self._stopping.is_set():
            raise _Ended
        api = self._source.providers
        try:
            found = api.used_inventories(row)
            _, aggregates = api.contents(row, assertion.Kind.AGGREGATE)
        except (placement_errors.NotFound, placement_errors.Conflict):
            self._found.pop(row.uuid, None)
            return
        self._found[row.uuid] = Holding(
            # The generation in the list, so that a later change is read again.
            generation=row.generation,
            amounts={
                rc: Amount.of(
                    one.total,
                    one.reserved,
                    one.allocation_ratio,
                    found.used.get(rc, 0),
                )
                for rc, one in found.inventories.items()
            },
            aggregates=frozenset(aggregates),
        )


def data(
    source: Source, agent: ThisAgent, holdings: Holdings, asked: Asked
) -> Data:
    """Return the sums of the cloud, or of its groups.

    :raises errors.AgentError: placement did not answer, or there is no such
        trait
    """
    form = {name: asked.first(name) for name in FIELDS}
    rows = source.rows()
    begins = len(rows) <= MANY or bool(form['read'])
    known = holdings.of(rows, begins=begins)
    groups = _groups(source, agent, form, known)
    return {
        'form': form,
        'all': len(rows),
        'read': len(known),
        'reading': holdings.is_reading,
        'waits_for_click': not begins and len(known) < len(rows),
        'groups': [
            _group(title, link, uuids, known)
            for title, link, uuids in groups[:_GROUPS]
        ],
        'more_groups': max(0, len(groups) - _GROUPS),
        'known_traits': list(source.traits()),
    }


_Group = tuple[str, str, Collection[str]]


def _group(
    title: str, link: str, uuids: Collection[str], known: Mapping[str, Holding]
) -> Data:
    """Return a group with the sum of each class."""
    members = [known[uuid] for uuid in uuids if uuid in known]
    sums = amounts.summed(one.amounts for one in members)
    return {
        'title': title,
        'link': link,
        'providers': len(members),
        'classes': [
            {'class': rc, 'providers': count, **amount.data()}
            for rc, (count, amount) in sums.items()
        ],
    }


def _groups(
    source: Source,
    agent: ThisAgent,
    form: Mapping[str, str],
    known: Mapping[str, Holding],
) -> list[_Group]:
    """Return title, link and members of each group that the form asks for."""
    match form['by']:
        case 'aggregate':
            return _by_aggregate(known)
        case 'trait':
            return _by_trait(source, form['trait'], known)
        case 'driver':
            return _by_driver(source, agent, known)
    return [('', '', known)]


def _by_aggregate(known: Mapping[str, Holding]) -> list[_Group]:
    members: dict[str, list[str]] = {}
    for uuid, one in known.items():
        for aggregate in one.aggregates or ('',):
            members.setdefault(aggregate, []).append(uuid)
    return [
        (
            aggregate or 'in no aggregate',
            aggregate and f'/providers?aggregate={aggregate}',
            uuids,
        )
        for aggregate, uuids in sorted(
            members.items(), key=lambda pair: (not pair[0], -len(pair[1]))
        )
    ]


def _by_trait(
    source: Source, text: str, known: Mapping[str, Holding]
) -> list[_Group]:
    """Return the providers in trees with each trait, and those without."""
    traits = source.traits_like(text)
    if not traits:
        traits = [name for name in source.traits() if names.is_custom(name)]
    roots = {row.uuid: row.root_uuid for row in source.rows()}
    groups: list[_Group] = []
    without = set(known)
    for name in traits[:_GROUPS]:
        trees = {row.root_uuid for row in source.having(name)}
        members = [uuid for uuid in known if roots.get(uuid) in trees]
        without.difference_update(members)
        groups.append((name, f'/providers?has={name}', members))
    lacking = f'/providers?lacks={traits[0]}' if len(traits) == 1 else ''
    title = f'without {traits[0]}' if lacking else 'without any of these'
    return [*groups, (title, lacking, without)]


def _by_driver(
    source: Source, agent: ThisAgent, known: Mapping[str, Holding]
) -> list[_Group]:
    """Return the providers by who reports their tree.

    The state has the drivers of this machine's nodes, the mark of a root names
    the agent of many nodes, and nova's roots have a trait.
    """
    who: dict[str, str] = {
        row.root_uuid: _NOVA for row in source.having(names.OWNER_NOVA)
    }
    for one in mark.marks(source.traits()):
        title = f'the agent of the share {one.share}'
        who |= {row.root_uuid: title for row in source.having(one.trait)}
    who |= {
        uuid: f'driver {name}, on this machine'
        for uuid, name in agent.record().drivers.items()
    }
    members: dict[str, list[str]] = {}
    for row in source.rows():
        if row.uuid in known:
            title = who.get(row.root_uuid, _NOBODY)
            members.setdefault(title, []).append(row.uuid)
    return [(title, '', uuids) for title, uuids in sorted(members.items())]
