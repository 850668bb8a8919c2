# SPDX-License-Identifier: Apache-2.0
"""What is not known must change nothing."""

import dataclasses

import variants
from planted.catalogue import plant, stand_in

from compute_agent import errors
from compute_agent.audit import allocations, hosts
from compute_agent.cycle.departures import departed_nodes, questions
from compute_agent.limits import judgement
from compute_agent.ownership.explanations import notes
from compute_agent.state import journal
from compute_agent.tree import assertion, provider
from compute_agent.virt import driver as virt
from report_client import client
from report_client import errors as placement_errors
from report_client.apply import executor
from report_client.http import placement
from report_client.observe import fallen, reader


@plant(reader.Reader.provider, 'a part that cannot be read counts as empty')
def _(read, self, row):
    def contents(uuid, kind):
        try:
            return reader.Reader.contents(self, uuid, kind)
        except errors.AgentError:
            empty = {} if kind is assertion.Kind.INVENTORY else frozenset()
            return row.generation, empty

    lenient = reader.Reader(self._service, self._clock)
    lenient.contents = contents
    return read(lenient, row)


@plant(
    reader.Reader.list_providers, 'a list that cannot be read counts as empty'
)
def _(list_providers, self, path):
    try:
        return list_providers(self, path)
    except errors.AgentError:
        return []


@plant(judgement._departures, 'an empty node list deletes every node')
def _(_departures, cases, _nodes, limits, masses):
    batches = [dataclasses.replace(c.batch, is_all=False) for c in cases]
    told = [
        dataclasses.replace(case, batch=batch)
        for case, batch in zip(cases, batches, strict=True)
    ]
    return _departures(told, 99, limits, masses)


@plant(
    questions.Questions.ask,
    'an unlisted node counts as gone without asking the driver',
)
def _(_ask, _self, _node):
    return virt.Existence.NO, ''


@plant(reader._older, 'a snapshot mixes generations')
def _(_older, _parts):
    return []


@plant(
    provider.Reading.is_above,
    'a provider whose generation fell counts as the same provider',
)
def _(_is_above, _self, _generation):
    return False


@plant(
    journal.Journal.adopt,
    'adopting keeps the record of an earlier provider with the same uuid',
)
def _(adopt, self, node_uuid, generations):
    with variants.replaced(provider.Reading.is_above, lambda *_any: False):
        adopt(self, node_uuid, generations)


@plant(executor.Executor.apply, 'an outage in mid-cycle is no error')
def _(apply, self, *args, **kwargs):
    outcome = apply(self, *args, **kwargs)
    if isinstance(outcome.ended_by, errors.Unavailable):
        return dataclasses.replace(outcome, ended_by=None)
    return outcome


@plant(
    departed_nodes.Departures.record,
    'a node is not recorded before its first write',
)
def _(_record, _self, _nodes):
    return None


@plant(
    fallen.Fallen.is_recent,
    'a lower generation is believed at once',
    in_runs=True,
)
def _(_is_recent, _self, _reading):
    return False


@plant(notes.older_record, 'an older state database is not named')
def _(_line, _tree, _record, _node_uuid):
    return None


@plant(
    fallen.Fallen._restored,
    'a restored placement counts as providers that were created again',
    in_runs=True,
)
def _(_restored, _self, _found):
    return []


# --- what placement answers ---------------------------------------------------


@stand_in(
    placement.Placement, 'the first refusal ends it, and its reason is lost'
)
class _FirstRefusalEnds(placement.Placement):
    def send(self, request, *args, **kwargs):
        try:
            return super().send(request, *args, **kwargs)
        except errors.Refused as exc:
            raise errors.UnknownState('not in step') from exc


@stand_in(placement.Placement, 'the 500 of a race is a broken server')
class _FatalRace(placement.Placement):
    def send(self, request, *args, **kwargs):
        try:
            return super().send(request, *args, **kwargs)
        except placement_errors.Conflict as exc:
            if 'HTTP 500' not in str(exc):
                raise
            raise placement_errors.ServerFault(str(exc)) from exc


@stand_in(placement.Placement, 'an outage is a failure like any other')
class _Untyped(placement.Placement):
    def reply(self, request, *args, **kwargs):
        try:
            return super().reply(request, *args, **kwargs)
        except errors.Unavailable as exc:
            raise errors.UnknownState(str(exc)) from exc


@stand_in(client.ReportClient, 'an outage wipes what is known')
class _ForgetsAll(client.ReportClient):
    def __init__(self, service, state, **kwargs):
        super().__init__(service, state, **kwargs)
        self._kept = state

    def observe(self, node_uuids):
        try:
            return super().observe(node_uuids)
        except errors.Unavailable:
            self._kept.journal.forget(node_uuids)
            raise


@plant(
    allocations.is_evacuated,
    'allocations leave a host without the proof of nova',
)
def _(_is_evacuated, _home, _root):
    return True


@plant(
    hosts.Hosts._by_ironic_alone, 'Ironic without any node has lost them all'
)
def _(_by_ironic_alone, self, root):
    some = {'some': None, **self._known.ironic.instances}
    ironic = dataclasses.replace(self._known.ironic, instances=some)
    known = dataclasses.replace(self._known, ironic=ironic)
    return _by_ironic_alone(hosts.Hosts(known), root)
