# SPDX-License-Identifier: Apache-2.0
"""An executor between a service that answers by a script and a journal.

For what no real placement answers on demand, at the speed of a unit test. All
that the executor does goes into one list, in the order in which it happened.
"""

import collections.abc
import dataclasses
import typing

from compute_agent.plan import history_entry, intents
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations
from compute_agent.plan.plan import Plan
from compute_agent.tree import assertion, provider
from compute_agent.tree.names import KnownNames
from report_client import errors as placement_errors
from report_client.apply.executor import Executor
from report_client.http.messages import codec

NOW = 1_700_000_000.0
NODE = 'root'


@dataclasses.dataclass(slots=True)
class Bench:
    """One executor and all around it; it is service, journal and names.

    :ivar faults: by the last part of a request's path, what is raised
    :ivar answers: by the same, what is answered in place of the usual
    :ivar rows: what a list of providers by name shows
    :ivar known: the names that placement is remembered to know
    :ivar verified: True to note the reads before writes too
    :ivar moved: the parts that are not as expected when they are read again
    :ivar told: the entries of the history
    :ivar open: the intents that are recorded
    :ivar late: for each outcome, if it may be lost
    :ivar done: what happened, each a word and what belongs to it
    """

    faults: dict[str, Exception] = dataclasses.field(default_factory=dict)
    answers: dict[str, object] = dataclasses.field(default_factory=dict)
    rows: list[dict[str, typing.Any]] = dataclasses.field(default_factory=list)
    known: KnownNames | None = None
    verified: bool = False
    moved: set[assertion.Key] = dataclasses.field(default_factory=set)
    done: list[tuple[typing.Any, ...]] = dataclasses.field(
        default_factory=list
    )
    told: list[history_entry.Entry] = dataclasses.field(default_factory=list)
    open: list[intents.Intent] = dataclasses.field(default_factory=list)
    late: list[bool] = dataclasses.field(default_factory=list)
    executor: Executor = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.executor = Executor(self, self, self, self, clock=lambda: NOW)  # type: ignore[arg-type]

    def of(self, word: str) -> list[typing.Any]:
        """Return what belongs to each thing of one word that happened."""
        return [rest for first, *rest in self.done if first == word]

    def sent(self) -> list[str]:
        """Return method, end of the path and generation of each request."""
        return [
            ' '.join(
                str(part)
                for part in (request.method, end(request), _said(request))
                if part is not None
            )
            for (request,) in self.of('send')
        ]

    # --- placement ------------------------------------------------------------

    def send(self, request: codec.Request) -> object:
        """Answer as placement would, or by the script."""
        self.done.append(('send', request))
        fault = self.faults.get(end(request))
        if fault is not None:
            raise fault
        if end(request) in self.answers:
            return self.answers[end(request)]
        if request.method == 'POST':
            return {'generation': 0}
        said = _said(request)
        if said is None:
            return None
        return {'resource_provider_generation': said + 1}

    def get(self, path: str) -> object:
        """Show the rows."""
        self.done.append(('get', path))
        return {'resource_providers': self.rows}

    # --- journal --------------------------------------------------------------

    def begin(
        self,
        node_uuid: str,
        intents: collections.abc.Iterable[intents.Intent],
        held: object,
    ) -> None:
        """Note what is about to be sent."""
        self.open = list(intents)
        self.done.append(('begin', node_uuid, self.open, held))

    def amend(
        self,
        node_uuid: str,
        uuids: collections.abc.Collection[str],
        intents: collections.abc.Iterable[intents.Intent],
    ) -> None:
        """Note what may still be sent."""
        others = [one for one in self.open if one.uuid not in uuids]
        self.begin(node_uuid, [*others, *intents], {})

    def record_outcome(
        self,
        done: collections.abc.Iterable[intents.Intent],
        dropped: collections.abc.Iterable[intents.Intent] = (),
        *,
        readings: collections.abc.Iterable[provider.Reading] = (),
        gone: collections.abc.Iterable[str] = (),
        entries: collections.abc.Iterable[history_entry.Entry] = (),
        may_be_lost: bool = False,
    ) -> None:
        """Note what became of it."""
        self.late.append(may_be_lost)
        self.told += entries
        self.done.append(
            ('settle', list(done), list(dropped), list(readings), set(gone))
        )

    # --- names ----------------------------------------------------------------

    @property
    def names(self) -> typing.Self:
        """Return the names that are known: this object has them, too."""
        return self

    def remembered(self) -> KnownNames | None:
        """Return those known."""
        self.done.append(('remember',))
        return self.known

    def learn(
        self,
        traits: collections.abc.Iterable[str],
        resource_classes: collections.abc.Iterable[str],
    ) -> None:
        """Note what was created."""
        self.done.append(('learn', set(traits), set(resource_classes)))

    def forget(self) -> None:
        """Note that they are read again."""
        self.done.append(('forget names',))

    def watch_provider(self, node_uuid: str, uuid: str) -> None:
        """Note the provider."""
        self.done.append(('watch', node_uuid, uuid))

    # --- reads before writes --------------------------------------------------

    def verify(
        self, expected: provider.Provider, kind: assertion.Kind
    ) -> None:
        """Note the read, or raise what the script has for it."""
        if self.verified:
            self.done.append(('verify', expected.uuid, kind.value))
        if (expected.uuid, kind) in self.moved:
            raise placement_errors.Conflict(f'{expected} moved')


def one(
    uuid: str = NODE, parent: str | None = None, **fields: typing.Any
) -> provider.Provider:
    """Return a provider named like its uuid."""
    given = {'name': uuid, 'parent_uuid': parent, **fields}
    for kind in ('traits', 'aggregates'):
        given[kind] = frozenset(given.get(kind, ''))
    return provider.Provider(uuid=uuid, **given)


def planned(
    before: collections.abc.Iterable[provider.Provider],
    after: collections.abc.Iterable[provider.Provider],
    *first: operations.NameOperation,
    **more: typing.Any,
) -> Plan:
    """Return the plan that turns the one into the other.

    :param first: the names that are to be created
    """
    there = provider.snapshot(before)
    changes = diff.operations(
        there, provider.snapshot(after), moves=more.pop('moves', ())
    )
    return Plan(
        node_uuid=NODE, operations=(*first, *changes), before=there, **more
    )


def end(request: codec.Request) -> str:
    """Return the last part of a request's path."""
    return '/'.join(request.path.split('/')[2:]) or request.path[1:]


def _said(request: codec.Request) -> int | None:
    return (request.body or {}).get('resource_provider_generation')
