# SPDX-License-Identifier: Apache-2.0
"""What is sent, in which order, after which read."""

import dataclasses

import variants
from planted.catalogue import plant, stand_in

from compute_agent.cycle.planning import empty_plans
from compute_agent.ownership import in_use
from compute_agent.plan.diff import diff, hierarchy, provider_stages
from compute_agent.plan.operations import operations as ops
from compute_agent.provider_config import files
from compute_agent.tree import inventory
from report_client import errors
from report_client.apply import executor
from report_client.http import placement
from report_client.http.messages import codec, codec_writes, paths
from report_client.observe import reader, sharing, verify
from report_client.plan import progress

# --- what is read before a write ----------------------------------------------


@plant(
    verify.Verifier.verify, 'before a write only the generation is compared'
)
def _(_verify, self, expected, kind):
    generation, _content = self._reader.contents(expected.uuid, kind)
    verify._check_generation(expected, generation)


@plant(verify.Verifier.verify, 'a write relies on remembered data')
def _(_verify, _self, _expected, _kind):
    return None


@plant(
    verify.Verifier._invalidate,
    'invalidating a reading overwrites what another thread wrote',
)
def _(_invalidate, self, observed):
    kept = self._store.snapshot.readings([observed.uuid])
    self._store.journal.save(
        dataclasses.replace(r, read_at=0.0) for r in kept.values()
    )


@plant(progress.Progress.stop, 'a conflict stops the plan of the whole tree')
def _(stop, self, step, exc):
    stop(self, step, exc)
    raise exc


@plant(
    ops.SetInventories.grown_classes,
    'a conflict does not keep capacity from moving twice',
)
def _(_grown_classes, _self):
    return frozenset()


# --- what is sent -------------------------------------------------------------


@plant(
    executor.Executor._answer,
    'a refused write is repeated under the new generation',
)
def _(answer, self, progress, operation):
    try:
        return answer(self, progress, operation)
    except errors.Conflict:
        body = self._service.get(f'/resource_providers/{operation.uuid}')
        progress.ledger[operation.uuid] = body['generation']
        return answer(self, progress, operation)


@plant(
    codec_writes.request,
    'an empty trait list is sent as a DELETE without a generation',
)
def _(request, operation, generations):
    if isinstance(operation, ops.SetTraits) and not operation.names:
        path = paths.collection(operation.uuid, operation.kind)
        return codec.Request(method='DELETE', path=path)
    return request(operation, generations)


@plant(codec_writes.request, 'aggregates are written without a generation')
def _(request, operation, generations):
    found = request(operation, generations)
    if not isinstance(operation, ops.SetAggregates):
        return found
    body = sorted(operation.names)
    return dataclasses.replace(found, body=body, newest=(1, 18))


@plant(provider_stages.stages, 'inventory is written before traits')
def _(of, *args):
    found = of(*args)
    return dataclasses.replace(
        found,
        labels=found.grow,
        late_labels=(),
        grow=(*found.labels, *found.late_labels),
    )


@plant(hierarchy.changes, 'parents are deleted before their children')
def _(changes, *args):
    before, deletions = changes(*args)
    return before, deletions[::-1]


@plant(in_use.at_stake, 'inventory in use is removed')
def _(_at_stake, _before, _after):
    return []


_read_consumer = reader.Reader.consumer


@plant(
    verify.Verifier.allocations,
    "a reshape drops consumers' allocations from other trees",
)
def _(allocations, self, seen):
    def of_own_tree(any_reader, uuid):
        found, generations = _read_consumer(any_reader, uuid)
        own = {u: p for u, p in found.allocations.items() if u in seen.home}
        return dataclasses.replace(found, allocations=own), generations

    with variants.replaced(reader.Reader.consumer, of_own_tree):
        return allocations(self, seen)


_TRAITS_FIRST = (ops.SetTraits, ops.SetAggregates, ops.SetInventories)


@plant(diff.operations, 'traits are always written first')
def _(operations, *args, **kwargs):
    found = list(operations(*args, **kwargs))
    places = [n for n, o in enumerate(found) if isinstance(o, _TRAITS_FIRST)]
    wanted = sorted(
        (found[n] for n in places),
        key=lambda op: _TRAITS_FIRST.index(type(op)),
    )
    for place, operation in zip(places, wanted, strict=True):
        found[place] = operation
    return tuple(found)


@plant(diff.operations, 'a provider keeps its name and its parent for ever')
def _(operations, *args, **kwargs):
    return tuple(
        op
        for op in operations(*args, **kwargs)
        if not isinstance(op, ops.UpdateProvider)
    )


@plant(diff.admit, 'an unknown standard trait is to be created')
def _(admit, before, after, known):
    _, create, _ = admit(before, after, known)
    wanted = {t for p in after.values() for t in p.traits}
    strange = sorted(wanted - known.traits)
    made = {one.name for one in create}
    create += tuple(ops.CreateTrait(name=t) for t in strange if t not in made)
    return after, create, []


@stand_in(placement.Placement, 'what is not of the tree is emptied with it')
class _EmptiesTheRest(placement.Placement):
    """Sends a reshape that leaves nothing on the providers beside it."""

    def send(self, request, *args, **kwargs):
        if request.path == '/reshaper':
            there = self.get('/resource_providers')['resource_providers']
            for one in there:
                empty = {
                    'resource_provider_generation': one['generation'],
                    'inventories': {},
                }
                request.body['inventories'].setdefault(one['uuid'], empty)
        return super().send(request, *args, **kwargs)


# --- what is not asked for, or written, again ---------------------------------


@plant(
    sharing.SharingProviders._good,
    'sharing providers are read only once',
)
def _(_good, self):
    return self._cached


@plant(
    sharing.SharingProviders._recall,
    "the agent's own sharing providers are read late",
)
def _(recall, self, aggregates, _own):
    watched, self._watched = self._watched, set()
    try:
        return recall(self, aggregates, set())
    finally:
        self._watched = watched


@plant(empty_plans.KeptFacts.are, 'changed driver facts are ignored')
def _(_are, *_any):
    return True


@plant(
    files.ProviderConfigFiles.reload,
    "reloaded files are ignored while the driver's facts are the same",
)
def _(reload, self):
    edition = self.edition
    reload(self)
    self.edition = edition


@plant(
    inventory.Inventory.__eq__,
    'an unchanged inventory is written again',
)
def _(equal, self, other):
    return self is other and equal(self, other)


@plant(
    inventory.Inventory.from_record,
    "an omitted inventory field differs from placement's default",
)
def _(from_record, cls, record):
    return from_record(cls, {'max_unit': 1, **record})


@plant(
    inventory._same_ratio,
    'an allocation ratio rounded by the database is written again',
)
def _(_same_ratio, ratio, other):
    return ratio == other
