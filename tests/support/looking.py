# SPDX-License-Identifier: Apache-2.0
"""A placement to look at that is a dictionary, and a state in memory.

For what no real placement answers on demand, at the speed of a unit test. It
answers the lists and the parts of providers, and notes what is asked.
"""

import collections.abc
import dataclasses
import json
import typing
import urllib.parse

from compute_agent.plan.intents import Intent
from compute_agent.plan.observation import Observation
from compute_agent.state import state
from compute_agent.tree import assertion, provider
from report_client import errors
from report_client.http.messages import codec
from report_client.observe import (
    cached_reader,
    list_strategy,
    observation,
    observer,
    reader,
)

NOW = 1_700_000_000.0
SHARES = 'MISC_SHARES_VIA_AGGREGATE'
PARTS = ('traits', 'aggregates', 'inventories')
NODE, CHILD = 'node', 'child'


@dataclasses.dataclass(slots=True, kw_only=True)
class Stands:
    """A provider that stands there."""

    row: codec.ListedProvider
    consumers: collections.abc.Iterable[str] = ()
    traits: collections.abc.Iterable[str] = ()
    aggregates: collections.abc.Iterable[str] = ()


@dataclasses.dataclass(slots=True)
class Cloud:
    """What stands in placement; ask it as a ``placement.Placement``.

    It finds names in whatever case they are, as MySQL does.

    :ivar hidden: providers that no list shows
    :ivar faults: by the end of a path, what is raised when it is asked
    :ivar meanwhile: by the same, what happens just before it is answered
    :ivar asked: the ends of all paths asked, in their order
    """

    there: dict[str, Stands] = dataclasses.field(default_factory=dict)
    hidden: set[str] = dataclasses.field(default_factory=set)
    faults: dict[str, Exception] = dataclasses.field(default_factory=dict)
    meanwhile: dict[str, collections.abc.Callable[[], object]] = (
        dataclasses.field(default_factory=dict)
    )
    asked: list[str] = dataclasses.field(default_factory=list)
    names: dict[str, list[str]] = dataclasses.field(
        default_factory=lambda: {'traits': ['A'], 'classes': ['VCPU']}
    )

    def put(
        self, uuid: str, parent: str | None = None, **fields: typing.Any
    ) -> None:
        """Let a provider stand there like this, whatever stood there.

        :param fields: generation (1), name (its uuid), traits, aggregates, and
            the consumers that have a VCPU of it
        """
        root = self.there[parent].row.root_uuid if parent else uuid
        row = listed(
            uuid,
            parent,
            root,
            generation=fields.pop('generation', 1),
            name=fields.pop('name', uuid),
        )
        self.there[uuid] = Stands(row=row, **fields)

    def take(self) -> list[str]:
        """Return what was asked since the last time."""
        some, self.asked = self.asked, []
        return some

    # --- as a placement.Placement ---------------------------------------------

    def read(
        self,
        path: str,
        taken_in: collections.abc.Callable[[list[bytes]], typing.Any],
    ) -> typing.Any:
        """Answer a list."""
        self._ask(path)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query))
        rows = [
            _shown(one.row)
            for one in self.there.values()
            if one.row.uuid not in self.hidden and self._suits(one, **query)
        ]
        return taken_in([json.dumps({'resource_providers': rows}).encode()])

    def get(self, path: str) -> typing.Any:
        """Answer a part of a provider, or the names there are."""
        self._ask(path)
        if path == '/traits':
            return {'traits': self.names['traits']}
        if path == '/resource_classes':
            named = [{'name': name} for name in self.names['classes']]
            return {'resource_classes': named}
        _, _, uuid, part = path.split('/')
        if uuid not in self.there:
            raise errors.NotFound(f'{uuid} is not there')
        one = self.there[uuid]
        content: typing.Any = {}
        if part == 'allocations':
            content = {c: {'resources': {'VCPU': 1}} for c in one.consumers}
        elif part != 'inventories':
            content = list(getattr(one, part))
        return {
            'resource_provider_generation': one.row.generation,
            part: content,
        }

    def _ask(self, path: str) -> None:
        end = path.removeprefix('/resource_providers').lstrip('/?')
        self.asked.append(end)
        self.meanwhile.pop(end, int)()
        if end in self.faults:
            raise self.faults[end]

    def _suits(
        self,
        one: Stands,
        in_tree: str = '',
        name: str = '',
        required: str = '',
        member_of: str = 'in:',
    ) -> bool:
        wanted = set(member_of.removeprefix('in:').split(',')) - {''}
        return (
            (not in_tree or one.row.root_uuid == self._root(in_tree))
            and (not name or one.row.name.lower() == name.lower())
            and (not required or required in one.traits)
            and (not wanted or bool(wanted & set(one.aggregates)))
        )

    def _root(self, uuid: str) -> str:
        return self.there[uuid].row.root_uuid if uuid in self.there else ''


class Station:
    """An observer, its cloud, its state and its clock.

    :ivar now: what the clock says
    :ivar wait: seconds for which a lower generation may be a late answer
    """

    def __init__(
        self,
        *,
        interval: float = 0,
        sharing_interval: float = 0,
        workers: int = 1,
    ) -> None:
        self.now, self.wait = NOW, 0.0
        self.cloud = Cloud()
        self.state = state.State.in_memory('site')
        self.observer = self.started(
            full_read_interval=interval,
            sharing_interval=sharing_interval,
            workers=workers,
        )

    def close(self) -> None:
        """Close the state."""
        self.state.close()

    def started(self, **fields: typing.Any) -> observer.Observer:
        """Return an observer that starts with what is remembered."""
        some = {
            'full_read_interval': 0,
            'sharing_interval': 0,
            'fall_wait': self.wait,
            **fields,
        }
        return observer.Observer(
            self.cloud,  # type: ignore[arg-type]
            self.state,
            clock=self.clock,
            **some,
        )

    def clock(self) -> float:
        """Return what the clock says."""
        return self.now

    def readings(self, interval: float = 0) -> cached_reader.CachedReader:
        """Return what reads its providers, without an observer around it."""
        return cached_reader.CachedReader(
            self._reader(),
            self.state,
            clock=self.clock,
            interval=interval,
            wait=self.wait,
        )

    def lists(self, workers: int = 1) -> list_strategy.ListStrategy:
        """Return what asks for its lists, without an observer around it."""
        return list_strategy.ListStrategy(
            self._reader(), self.state, clock=self.clock, workers=workers
        )

    def look(self, *nodes: str) -> dict[str, typing.Any]:
        """Return what is observed of these nodes, or why nothing is."""
        return dict(self.observer.observe(nodes))

    def asking(self, *nodes: str) -> tuple[dict[str, typing.Any], list[str]]:
        """Return what is observed of these, and what was asked for it."""
        self.cloud.take()
        return self.look(*nodes), self.cloud.take()

    def rows(self, *uuids: str) -> list[codec.ListedProvider]:
        """Return the rows of these providers; of the node and its child."""
        return [self.cloud.there[uuid].row for uuid in uuids or (NODE, CHILD)]

    def begun(
        self,
        *some: codec.ListedProvider,
        since: int | None = None,
        **fields: typing.Any,
    ) -> observation.ObservationBuilder:
        """Return a look at these rows that begins: now, if not said when."""
        return observation.ObservationBuilder(
            node_uuid=NODE,
            since=self.state.journal.moment() if since is None else since,
            rows=some or self.rows(),
            **fields,
        )

    def read(
        self,
        *some: codec.ListedProvider,
        since: int | None = None,
        **fields: typing.Any,
    ) -> observation.ObservationBuilder:
        """Return a look that read these rows."""
        one = self.begun(*some, since=since, **fields)
        self.readings().read(one, one.rows)
        return one

    def known(self, uuid: str) -> provider.Reading | None:
        """Return what is remembered of a provider."""
        return self.state.snapshot.readings([uuid]).get(uuid)

    def intend(self, *intents: Intent) -> None:
        """Record what was about to be sent when all was cut off."""
        for node in {one.node_uuid for one in intents}:
            some = [one for one in intents if one.node_uuid == node]
            self.state.journal.begin(node, some, {})

    def create(self, node_uuid: str, uuid: str) -> None:
        """Record that a provider was created for a node."""
        made = creation(node_uuid, uuid)
        self.intend(made)
        self.state.journal.record_outcome([made])

    def _reader(self) -> reader.Reader:
        return reader.Reader(self.cloud, self.clock)  # type: ignore[arg-type]


def listed(
    uuid: str,
    parent: str | None = None,
    root: str = '',
    *,
    generation: int = 1,
    name: str = '',
) -> codec.ListedProvider:
    """Return the row of a provider."""
    return codec.ListedProvider(
        uuid=uuid,
        name=name or uuid,
        generation=generation,
        parent_uuid=parent,
        root_uuid=root or uuid,
    )


def creation(node_uuid: str, uuid: str) -> Intent:
    """Return the intent to create a provider for a node."""
    return Intent(node_uuid=node_uuid, uuid=uuid, kind=None, generation=0)


def tagging(
    node_uuid: str, uuid: str, *traits: str, generation: int
) -> Intent:
    """Return the intent to give a provider these traits, and no others."""
    return Intent(
        node_uuid=node_uuid,
        uuid=uuid,
        kind=assertion.Kind.TRAIT,
        generation=generation,
        names=frozenset(traits),
        added=frozenset(traits),
    )


def content(seen: Observation) -> dict[str, int | None]:
    """Return the generations of the providers that were observed."""
    return {uuid: one.generation for uuid, one in seen.providers.items()}


def reads(*uuids: str) -> list[str]:
    """Return what is asked where these providers are read whole."""
    return [f'{uuid}/{part}' for uuid in uuids for part in PARTS]


def _shown(row: codec.ListedProvider) -> dict[str, object]:
    return {
        'uuid': row.uuid,
        'name': row.name,
        'generation': row.generation,
        'parent_provider_uuid': row.parent_uuid,
        'root_provider_uuid': row.root_uuid,
    }
