# SPDX-License-Identifier: Apache-2.0
"""Carry out the repairs of an audit, each after one more look.

A provider is deleted only if its tree is still as it was judged, by the
generations. Placement itself refuses to delete a provider in use, or a trait
that a provider has. Allocations go only if nova, asked once more after they
were read, still does not know the consumer, and the consumer is unchanged. The
history gets what was deleted right after it, also if the next request fails.
"""

import dataclasses
from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)

from report_client.api import providers as providers_api
from report_client.api import resource_classes, survey, traits
from report_client.http.messages import codec

from ... import errors
from ...audit import allocations as judged
from ...audit import finding
from ...plan import allocations
from ...plan.change import Change
from ...plan.history_entry import Entry, What
from . import gathering, nova_answers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one repair.

    :ivar problem: the reason why it was not carried out, '' if it was
    """

    repair: finding.Repair
    problem: str = ''

    def __str__(self) -> str:
        if self.problem:
            return f'not done: {self.repair}: {self.problem}'
        return f'done: {self.repair}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mender:
    """Carries out repairs in one cloud.

    :ivar tell: adds entries to the history on this host
    """

    providers: providers_api.Providers
    traits: traits.Traits
    classes: resource_classes.ResourceClasses
    survey: survey.Survey
    nova: nova_answers.NovaAnswers
    rows: gathering.Rows
    tell: Callable[[Sequence[Entry]], None]

    def mend(self, planned: Sequence[finding.Repair]) -> Iterator[Outcome]:
        """Carry out the repairs one by one; yield the outcome of each.

        After a failure that stops all requests, none of the others is tried.
        """
        stopped = ''
        for repair in planned:
            if stopped:
                yield Outcome(repair=repair, problem=stopped)
                continue
            try:
                self._step(repair)()
            except (errors.Unavailable, errors.ConfigError) as exc:
                stopped = 'not tried'
                yield Outcome(repair=repair, problem=str(exc))
            except errors.AgentError as exc:
                yield Outcome(repair=repair, problem=str(exc))
            else:
                yield Outcome(repair=repair)

    def _step(self, repair: finding.Repair) -> Callable[[], None]:
        match repair:
            case finding.DeleteTrait(name=name):
                return lambda: self._drop(name)
            case finding.DeleteClass(name=name):
                return lambda: self._drop_class(name)
            case finding.DeleteProviders():
                return lambda: self._delete(repair)
            case finding.LeaveHost():
                return lambda: self._leave(repair)
            case finding.DeleteAllocations(consumer=consumer):
                return lambda: self._free(consumer)

    def _drop(self, name: str) -> None:
        self.traits.remove(name)
        self.tell([_dropped_trait(name)])

    def _drop_class(self, name: str) -> None:
        self.classes.remove(name)
        self.tell([Entry(what=What.DROPPED_CLASS, text=name)])

    def _delete(self, repair: finding.DeleteProviders) -> None:
        """Delete a tree or a part of it, if it is as it was judged.

        :raises errors.AgentError: the tree has changed, or placement refuses
        """
        top = repair.providers[-1]
        now = {
            row.uuid: row for row in self.providers.tree(self.rows[top.uuid])
        }
        planned = {one.uuid: one for one in repair.providers}
        below = {
            row.uuid for row in now.values() if row.parent_uuid in planned
        }
        if below - set(planned):
            raise errors.Refused(f'{top} has other children by now')
        for one in repair.providers:
            row = now.get(one.uuid)
            if row is None or row != self.rows[one.uuid]:
                raise errors.Refused(f'{one} changed, or is gone, by now')
        gone: list[Entry] = []
        try:
            for one in repair.providers:
                self.providers.delete(self.rows[one.uuid])
                gone.append(_deleted_provider(self.rows[one.uuid]))
        finally:
            self.tell(gone)

    def _free(self, uuid: str) -> None:
        """Delete the allocations of a consumer that nova does not know.

        :raises errors.AgentError: nova knows it, or the consumer changed
        """
        consumer = self.survey.consumer(uuid)
        if consumer is None:
            raise errors.Refused('it has no allocations any more')
        if self.nova.known([uuid]):
            raise errors.Refused('nova knows this consumer by now')
        self.survey.delete_allocations(consumer)
        self.tell([*_freed_consumer(consumer, self.rows)])

    def _leave(self, repair: finding.LeaveHost) -> None:
        """Take a server's allocations off a host that it was evacuated from.

        :raises errors.AgentError: nova, or placement, says something else now
        """
        consumer = self.survey.consumer(repair.consumer)
        used = set(consumer.allocations) if consumer else set[str]()
        left = {
            uuid
            for uuid in used
            if uuid in self.rows
            and self.rows[uuid].root_uuid == repair.host.uuid
        }
        kept = used - left
        if consumer is None or left != set(repair.providers) or not kept:
            raise errors.Refused('its allocations are others by now')
        home = self.nova.home(repair.consumer)
        if home is None or not judged.is_evacuated(home, repair.host):
            raise errors.Refused('nova does something with this server by now')
        self.survey.delete_allocations(consumer, kept)
        self.tell([*_freed_consumer(consumer, self.rows, left)])


def _dropped_trait(name: str) -> Entry:
    """Return the entry about a trait that is deleted."""
    return Entry(what=What.DROPPED_TRAIT, text=name)


def _deleted_provider(row: codec.ListedProvider) -> Entry:
    """Return the entry about a provider that is deleted."""
    change = Change(uuid=row.uuid, kind=None, existed=True, exists=False)
    return Entry(
        what=What.DELETED,
        node_uuid=row.root_uuid,
        uuid=row.uuid,
        provider=row.name,
        changes=(change,),
    )


def _freed_consumer(
    freed: allocations.Consumer,
    rows: gathering.Rows,
    left: Collection[str] | None = None,
) -> Iterator[Entry]:
    """Yield an entry for each provider that a consumer no longer uses.

    :param rows: the providers by uuid, as the audit read them
    :param left: the providers to leave; None for all that the consumer used
    """
    for uuid in sorted(freed.allocations if left is None else left):
        row = rows.get(uuid)
        yield Entry(
            what=What.FREED,
            node_uuid=row.root_uuid if row else '',
            uuid=uuid,
            provider=row.name if row else '',
            text=f'consumer {freed.uuid}: {_amounts(freed.allocations[uuid])}',
        )


def _amounts(freed: Mapping[str, int]) -> str:
    return ', '.join(f'{rc}={freed[rc]}' for rc in sorted(freed))
