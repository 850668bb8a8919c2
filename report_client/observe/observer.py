# SPDX-License-Identifier: Apache-2.0
"""Observe our trees in placement, with as few requests as possible.

Every change of a provider's contents changes its generation (1.19), and one
list shows the generations of all providers. So a provider is read again only
if its generation, name, parent or root differs from the store. If a provider
cannot be read completely, its state is unknown and an error is raised; no
failed read ever counts as empty. This module writes nothing to placement;
``client.py`` and ``apply/executor.py`` call it.
"""

import functools
import itertools
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from compute_agent import errors, parallel
from compute_agent.plan import intents, needs
from compute_agent.plan.observation import Observation
from compute_agent.tree import names, provider

from .. import errors as placement_errors
from ..http import placement
from ..http.messages import codec, paths
from . import (
    cached_reader,
    fallen,
    list_strategy,
    name_cache,
    observation,
    reader,
    sharing,
    store,
    whole_homes,
)

LOG = logging.getLogger(__name__)


class Observer:
    """Observes nodes in placement, and keeps its readings in one store.

    :ivar names: the traits and resource classes that placement knows
    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which a provider is read again
        although its generation is unchanged; 0 for never
    :param sharing_interval: seconds for which a list of other owners' sharing
        providers is reused, and so is the list of a tree of one provider
    :param workers: the number of nodes that are read in parallel
    :param fall_wait: seconds after which a lower generation is no late answer
    """

    def __init__(
        self,
        service: placement.Placement,
        state: store.State,
        *,
        clock: Callable[[], float],
        full_read_interval: float,
        sharing_interval: float,
        workers: int = 1,
        fall_wait: float = fallen.WAIT,
    ) -> None:
        self._reader = reader.Reader(service, clock)
        self._store = state
        self._lists = list_strategy.ListStrategy(
            self._reader,
            state,
            clock=clock,
            workers=workers,
            lone_interval=sharing_interval,
        )
        self._providers = cached_reader.CachedReader(
            self._reader,
            state,
            clock=clock,
            interval=full_read_interval,
            wait=fall_wait,
        )
        self._sharing = sharing.SharingProviders(
            self._reader,
            state,
            self._providers,
            clock=clock,
            interval=sharing_interval,
        )
        self._workers = workers
        self.names = name_cache.NameCache(
            self._reader, state, self._providers.is_overdue
        )
        self._watched: dict[str, set[str]] = {}
        self._last = observation.LastObservations()
        self._whole_homes = whole_homes.WholeHomes(state)

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, Observation | errors.AgentError]:
        """Return node uuid → its observation, or why it is unknown.

        ``GET /resource_providers`` (1.14) once for all nodes, or once for each
        node if ``list_strategy.py`` finds that cheaper, or its allocations if
        ``lone_roots.py`` does; once more if
        ``sharing.py`` has to read its list; three reads for each provider that
        changed. If nothing of a node changed, the result is the same object as
        in the last call.

        :param node_uuids: the nodes' provider uuids
        :raises errors.AgentError: the list for all nodes could not be read
        """
        since = self._store.journal.moment()
        unsettled = self._store.journal.intents(node_uuids)
        trees = self._list_trees(node_uuids, unsettled)
        same = self._unchanged(trees, node_uuids, unsettled)
        others = [uuid for uuid in node_uuids if uuid not in same]
        return {**same, **self._observe(trees, others, since, unsettled, same)}

    def _unchanged(
        self,
        trees: Mapping[str, list_strategy.Rows | errors.AgentError],
        node_uuids: Sequence[str],
        unsettled: Collection[str],
    ) -> dict[str, Observation]:
        """Return the observations of the nodes that did not change.

        Of these nothing is read or recorded: in most cycles, that is nearly all
        nodes, so this costs as little as it can for each.
        """
        lists = {
            uuid: rows
            for uuid in node_uuids
            if uuid in self._last
            and uuid not in unsettled
            and not self._watched.get(uuid)
            and (rows := trees.get(uuid))
            and not isinstance(rows, errors.AgentError)
        }
        if not lists:
            return {}
        stored = self._store.snapshot.readings(
            row.uuid for rows in lists.values() for row in rows
        )
        sharing = self._sharing.reusable(lambda: self._own(trees, lists))
        is_due = self._providers.is_due
        found = {}
        for uuid, rows in lists.items():
            last = self._last.unchanged(uuid, rows, stored, sharing)
            if last is None:
                continue
            for row in rows:
                if is_due(stored[row.uuid]):
                    break
            else:
                found[uuid] = last
        return self._whole_homes.only(found)

    def _own(
        self,
        trees: Mapping[str, list_strategy.Rows | errors.AgentError],
        node_uuids: Iterable[str],
    ) -> set[str]:
        """Return the providers in these trees, and those created for the nodes."""
        own = {
            row.uuid
            for rows in trees.values()
            if not isinstance(rows, errors.AgentError)
            for row in rows
        }
        return own.union(*self._store.records.created_for(node_uuids).values())

    def _observe(
        self,
        trees: Mapping[str, list_strategy.Rows | errors.AgentError],
        node_uuids: Sequence[str],
        since: int,
        unsettled: Mapping[str, dict[str, Sequence[intents.Intent]]],
        others: Mapping[str, Observation],
    ) -> dict[str, Observation | errors.AgentError]:
        """Return the observations of these nodes, or why they are unknown.

        :param others: the observations of the other nodes
        """
        builders = self._begin(trees, node_uuids, since, unsettled)
        self._providers.use_warm(builders, since)
        if not builders:
            return {}
        self._read_own_trees(builders)
        created = self._store.records.created_for(node_uuids)
        homes = (one.home for one in others.values())
        self._sharing.add_to(
            [builder for builder in builders if builder.error is None],
            itertools.chain(*created.values(), *homes),
            since,
        )
        for builder in builders:
            made = created.get(builder.node_uuid, [])
            step = functools.partial(self._read_other_trees, made)
            self._attempt(builder, step)
        members = self._store.snapshot.members(node_uuids)
        for builder in builders:
            known = members.get(builder.node_uuid, set())
            known |= set(created.get(builder.node_uuid, ()))
            step = functools.partial(self._forget_deleted, known)
            self._attempt(builder, step)
        return {
            builder.node_uuid: builder.error or self._finished(builder)
            for builder in builders
        }

    def begin_warm(
        self, node_uuids: Sequence[str]
    ) -> Sequence[observation.ObservationBuilder]:
        """Return what ``warm`` may have to read, by the list of ``observe``.

        :raises errors.AgentError: the list could not be read
        """
        since = self._store.journal.moment()
        trees = self._list_trees(node_uuids, node_uuids)
        unsettled = self._store.journal.intents(node_uuids)
        return self._begin(trees, node_uuids, since, unsettled)

    def warm(
        self,
        begun: Sequence[observation.ObservationBuilder],
        may_go_on: Callable[[], bool],
    ) -> dict[str, Observation]:
        """Read the providers of nodes that changed.

        Neither the record nor the history changes. The next ``observe`` uses
        these readings if nothing changed since.

        :return: node uuid → its observation, for the nodes where ``observe``
            would read and record nothing
        """
        self._providers.warm(begun, may_go_on, self._workers)
        found = {
            one.node_uuid: self._finished(one) for one in self._whole(begun)
        }
        return {
            uuid: one
            for uuid, one in found.items()
            if isinstance(one, Observation)
        }

    def _whole(
        self, begun: Sequence[observation.ObservationBuilder]
    ) -> list[observation.ObservationBuilder]:
        """Return the nodes that are in the store, with all in their trees.

        Nothing of them is elsewhere, was deleted, or has an intent, and they
        are in no aggregate, so that they have no sharing providers.
        """
        uuids = [builder.node_uuid for builder in begun]
        created = self._store.records.created_for(uuids)
        members = self._store.snapshot.members(uuids)
        stored = self._store.snapshot.readings(
            row.uuid for builder in begun for row in builder.rows
        )
        whole = []
        for builder in begun:
            uuid = builder.node_uuid
            known = {
                *created.get(uuid, ()),
                *members.get(uuid, ()),
                *self._watched.get(uuid, ()),
            }
            if (
                builder.rows
                and builder.error is None
                and not builder.intents
                and known <= builder.home
                and self._providers.recall(builder, stored)
                and not builder.aggregates()
            ):
                whole.append(builder)
        return whole

    def check_new_root(self, node_uuid: str, uuid: str, name: str) -> None:
        """Refuse a new root whose name another provider has.

        Placement would refuse it too. This happens if a host was reinstalled
        and has a new uuid.

        :raises placement_errors.Exists: the provider itself exists already
        :raises placement_errors.NameTaken: another provider has the name
        """
        other = self._lists.uuid_of_name(name)
        if other == uuid:
            self.watch_provider(node_uuid, uuid)
            raise placement_errors.Exists(name, uuid)
        if other is None:
            return
        if uuid != node_uuid:
            raise placement_errors.NameTaken.of_pool(other, name)
        raise placement_errors.NameTaken.by(other, name, uuid)

    def members(self, aggregates: Collection[str]) -> list[needs.Member]:
        """Return the providers that are in any of these aggregates.

        ``GET /resource_providers?member_of=in:`` (1.3), for 50 aggregates at a
        time.
        """
        found = {}
        every = sorted(aggregates)
        for at in range(0, len(every), sharing.MAX_AGGREGATES):
            some = every[at : at + sharing.MAX_AGGREGATES]
            for row in self._reader.list_providers(paths.members(some)):
                found[row.uuid] = needs.Member(
                    uuid=row.uuid, name=row.name, root_uuid=row.root_uuid
                )
        return list(found.values())

    def watch_provider(self, node_uuid: str, uuid: str) -> None:
        """Include a provider in a node's observations until it is deleted.

        This is for an existing provider that the driver names, but that the
        observation lacks: neither the node's record nor an aggregate leads to
        it.
        """
        self._watched.setdefault(node_uuid, set()).add(uuid)

    def watch_sharing(self, uuids: Iterable[str]) -> None:
        """Read these providers in each cycle from now on, if they share.

        This is for sharing providers about which a source asserts something:
        changes of other writers are then observed at once, as in a node's own
        tree.
        """
        self._sharing.watch(uuids)

    def list_again(self, node_uuid: str) -> None:
        """List a node's tree the next time, because much may have changed."""
        self._lists.lone.forget(node_uuid)

    def invalidate(self) -> None:
        """List sharing providers and all trees the next time."""
        self._sharing.invalidate()
        self._lists.lone.forget_all()

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop everything kept in memory about other nodes.

        Nothing is observed meanwhile.
        """
        nodes = set(node_uuids)
        for uuid in self._watched.keys() - nodes:
            del self._watched[uuid]
        self._last.keep_only(nodes)
        self._whole_homes.keep_only(nodes)
        self._sharing.forget_unlisted()
        self._lists.lone.keep_only(nodes)
        self._store.forget_except(nodes)

    # --- the steps of an observation ------------------------------------------

    def _list_trees(
        self, node_uuids: Sequence[str], unsettled: Collection[str]
    ) -> Mapping[str, list_strategy.Rows | errors.AgentError]:
        try:
            return self._lists.trees(node_uuids, unsettled)
        except (errors.Unavailable, errors.UnknownState):
            self.names.mark_outdated()
            self.invalidate()
            raise

    def _begin(
        self,
        trees: Mapping[str, list_strategy.Rows | errors.AgentError],
        node_uuids: Sequence[str],
        since: int,
        unsettled: Mapping[str, dict[str, Sequence[intents.Intent]]],
    ) -> list[observation.ObservationBuilder]:
        """Return a builder for each node, with the rows of its tree.

        :param unsettled: the open intents of the nodes
        """
        builders = []
        for uuid in node_uuids:
            found = trees.get(uuid, ())
            error = found if isinstance(found, errors.AgentError) else None
            rows = () if isinstance(found, errors.AgentError) else found
            builder = observation.ObservationBuilder(
                node_uuid=uuid, since=since, rows=rows
            )
            builder.error = error
            builder.intents = unsettled.get(uuid, {})
            builder.home = {row.uuid for row in rows}
            builders.append(builder)
        return builders

    def _read_own_trees(
        self, builders: Sequence[observation.ObservationBuilder]
    ) -> None:
        """Take unchanged trees from the store; read the others in parallel."""
        stored = self._store.snapshot.readings(
            row.uuid for builder in builders for row in builder.rows
        )
        changed = [
            builder
            for builder in builders
            if builder.error is None
            and not self._providers.recall(builder, stored)
        ]
        step = functools.partial(self._attempt, step=self._read_own_tree)
        parallel.each(changed, step, workers=self._workers)

    def _read_own_tree(self, builder: observation.ObservationBuilder) -> None:
        self._providers.read(builder, builder.rows)

    def _attempt(
        self,
        builder: observation.ObservationBuilder,
        step: Callable[[observation.ObservationBuilder], None],
    ) -> None:
        """Run one step for one node; an error fails only this node."""
        if builder.error is not None:
            return
        try:
            step(builder)
        except observation.ONE_NODE as exc:
            builder.error = exc

    def _read_other_trees(
        self, created: Sequence[str], builder: observation.ObservationBuilder
    ) -> None:
        """Add the node's providers that are in other trees.

        These are providers that were created for the node, those with an
        intent (after a crash it may be the only trace of a creation), and the
        watched ones. If such a provider was moved into another tree, only it
        and its descendants are read.
        """
        watched = self._watched.get(builder.node_uuid, set())
        for uuid in [*created, *builder.intents, *sorted(watched)]:
            if uuid not in builder.readings:
                rows = self._reader.list_providers(paths.in_tree(uuid))
                self._providers.read(builder, _with_descendants(rows, uuid))
                if not rows:
                    watched.discard(uuid)

    def _forget_deleted(
        self, known: set[str], builder: observation.ObservationBuilder
    ) -> None:
        """Drop the records of providers that the complete lists do not have.

        :param known: the providers that were last seen, or created, for a node
        """
        missing = known - builder.readings.keys()
        # A provider never read from this placement may exist in another one.
        last = self._store.snapshot.readings(missing) if missing else {}
        if last:
            gone = ', '.join(str(r.provider) for r in last.values())
            LOG.info(
                'gone from placement: %s',
                gone,
                extra={'node': builder.node_uuid},
            )
            self._store.journal.forget(
                last, _lost_roots(last, builder.node_uuid)
            )
        for uuid in set(builder.intents) - set(builder.readings):
            outcome = intents.reconcile(builder.intents[uuid], None)
            self._store.journal.record_outcome((), outcome.dropped)

    def _finished(
        self, builder: observation.ObservationBuilder
    ) -> Observation | errors.AgentError:
        """Return the observation, or the error that prevents it."""
        try:
            return self._last.finish(builder, self._sharing.listed)
        except observation.ONE_NODE as exc:
            return exc


def _lost_roots(
    gone: Mapping[str, provider.Reading], node_uuid: str
) -> list[str]:
    """Return the node's root if it is gone and was a compute node's.

    This agent did not delete it: its own deletions leave no reading.
    """
    root = gone.get(node_uuid)
    if root is not None and root.provider.traits >= names.AGENT_TRAITS:
        return [node_uuid]
    return []


def _with_descendants(
    rows: Sequence[codec.ListedProvider], uuid: str
) -> list[codec.ListedProvider]:
    """Return the rows of a provider and its descendants."""
    found, before = {uuid}, 0
    while len(found) > before:  # rows have no guaranteed order
        before = len(found)
        found |= {row.uuid for row in rows if row.parent_uuid in found}
    return [row for row in rows if row.uuid in found]
