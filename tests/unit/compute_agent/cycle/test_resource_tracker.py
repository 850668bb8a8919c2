# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: one node's end is that node's, and no more."""

import asyncio
import contextlib
import dataclasses
import logging
import threading

import pytest
import threads

from compute_agent import errors
from compute_agent.cycle import judging, node_list, resource_tracker
from compute_agent.cycle.departures import departed_nodes
from compute_agent.cycle.node import node_planner, setbacks
from compute_agent.identity import identity
from compute_agent.limits import backoff, blast_radius, contention
from compute_agent.ownership.record import Record
from compute_agent.plan import change
from compute_agent.plan.diff import diff
from compute_agent.plan.observation import Observation
from compute_agent.plan.plan import Conflict, Outcome, Plan
from compute_agent.state import state
from compute_agent.state.nodes import KnownNode
from compute_agent.tree import assertion, provider
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt
from compute_agent.virt import drivers

NODES = {
    f'{number * 8}-1111-4111-8111-111111111111': name
    for number, name in (('1', 'a'), ('2', 'b'), ('3', 'c'))
}
A, B, C = NODES
Status = resource_tracker.Status


class Operation(str):
    """An operation by name, which deletes these providers."""

    __slots__ = ('deleted',)
    moved_classes = frozenset()

    def __new__(cls, name, deleted=()):
        made = super().__new__(cls, name)
        made.deleted = deleted
        return made

    @property
    def providers(self):
        return frozenset(self.deleted)

    def changes(self):
        for uuid in self.deleted:
            yield change.Change(
                uuid=uuid, kind=None, existed=True, exists=False
            )


ONE = Operation('one')


APPLIED = Outcome(applied=(ONE,))


class Client:
    """Placement as the test has it; every call is written down.

    :ivar unknown: uuid → what observing it gives instead
    :ivar planned: called with each uuid before a plan is returned
    :ivar outcome: what applying gives
    :ivar applying: called with each uuid before that
    :ivar removing: uuid → the providers that its plan deletes
    """

    def __init__(self):
        self.calls = []
        self.providers = {}
        self.unknown = {}
        self.planned = lambda _uuid: None
        self.outcome = APPLIED
        self.applying = lambda _uuid: None
        self.removing = {}

    def observe(self, node_uuids):
        self.calls.append(('observe', *node_uuids))
        return {
            uuid: self.unknown.get(
                uuid,
                Observation(
                    node_uuid=uuid,
                    providers=provider.snapshot(
                        p for p in self.providers.values() if p.uuid == uuid
                    ),
                    home=frozenset(self.providers) & {uuid},
                ),
            )
            for uuid in node_uuids
        }

    def plan(self, seen, wanted):
        uuid = seen.node_uuid
        self.calls.append(('plan', uuid))
        self.planned(uuid)
        return Plan(
            node_uuid=uuid,
            operations=(Operation('one', self.removing.get(uuid, ())),),
            before=seen.providers,
            notes=('a note',),
        )

    def verify(self, plan):
        """Find all as it was observed."""

    def apply(self, plan, without=()):
        self.calls.append(('apply', plan.node_uuid))
        try:
            self.applying(plan.node_uuid)
        except errors.Replan as exc:
            met = Conflict(error=exc, subject=exc.subject)
            return Outcome(conflicts=(met,), refused=refused_before(exc))
        except errors.AgentError as exc:
            return Outcome(ended_by=exc, refused=refused_before(exc))
        return self.outcome

    def invalidate(self):
        """It takes nothing to be as it was."""

    def forget_except(self, node_uuids):
        pass

    def list_again(self, node_uuid):
        pass

    def watch_sharing(self, uuids):
        assert not list(uuids)


def refused_before(exc):
    return getattr(exc, 'refused', {})


class Records:
    def check_files(self):
        pass

    def preload(self, wanted):
        pass

    def record(self, uuids, node_uuid):
        return Record()

    def created_for(self, node_uuids):
        return {}


class Nodes:
    def of_drivers(self, drivers):
        return {}

    def unrecorded(self):
        return {}

    def drivers(self):
        return set()

    def keep(self, known):
        pass

    def forget(self, uuids):
        assert not list(uuids)


class Driver(virt.ComputeDriver):
    def __init__(self, nodes=NODES):
        self.nodes = nodes

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return list(self.nodes.values())

    def get_nodenames_by_uuid(self):
        return self.nodes

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.declare_traits(nodename, 'CUSTOM_A')


@pytest.fixture
def client(monkeypatch):
    """Return a placement that makes the plans, in place of ``diff.plan``."""
    made = Client()
    monkeypatch.setattr(
        diff, 'plan', lambda seen, wanted, _known: made.plan(seen, wanted)
    )
    return made


@pytest.fixture
def judge():
    with contextlib.closing(state.State.in_memory()) as opened:
        yield judging.Judge(opened.approvals, opened.masses)


@pytest.fixture
def tracker(client, judge):
    """Return a maker of trackers, wired as ``cmd`` wires them."""

    def tracker(driver=None, files=None, **how):
        every = drivers.Drivers.only(driver or Driver())
        nodes = node_list.NodeList(
            every,
            lambda names, by_uuid, _: identity.identify(
                names, by_uuid, lambda: A
            ),
        )
        return resource_tracker.ResourceTracker(
            client,
            node_planner.NodePlanner(
                nodes,
                client,
                Records(),
                settings=node_planner.Settings(),
                files=files,
            ),
            nodes,
            gone=departed_nodes.Departures(
                every,
                nodes,
                Records(),
                Nodes(),
                clock=lambda: 1.0,
                interval=1,
            ),
            judge=judge,
            **how,
        )

    return tracker


def ends(results):
    return [(r.node.name, r.status.value) for r in results]


def raising(exc, uuid=B, times=1000):
    """Return a hook that raises for one node, so many times."""
    left = list(range(times))

    def hook(of):
        if of == uuid and left:
            left.pop()
            raise exc

    return hook


def test_a_cycle_observes_once_then_plans_and_applies_each(client, tracker):
    results = tracker().sync()
    assert ends(results) == [('a', 'done'), ('b', 'done'), ('c', 'done')]
    assert client.calls == [
        ('observe', A, B, C),
        *((call, uuid) for uuid in NODES for call in ('plan', 'apply')),
    ]
    assert results[0].applied == ('one',)
    assert results[0].notes == ('a note',)


def test_a_plan_applies_nothing(client, tracker):
    results = tracker().plan()
    assert [r.plan.node_uuid for r in results] == [A, B, C]
    assert [r.applied for r in results] == [()] * 3
    assert 'apply' not in {call for call, *_ in client.calls}


@pytest.mark.parametrize('workers', [1, 3])
@pytest.mark.parametrize(
    ('raised', 'end'),
    [
        (errors.UnknownState('garbage'), 'waiting'),
        (errors.Refused('in use'), 'failed'),
        (errors.DriverError('off'), 'failed'),
        (errors.TreeError('odd'), 'failed'),
        (ZeroDivisionError('what'), 'failed'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_nodes_trouble_is_its_own(
    client, tracker, caplog, raised, end, workers
):
    client.planned = raising(raised)
    results = tracker(workers=workers).sync()
    assert ends(results) == [('a', 'done'), ('b', end), ('c', 'done')]
    assert str(raised) in results[1].reason
    assert not results[1].outage


def test_what_was_not_foreseen_is_logged_with_its_traceback(
    client, tracker, caplog
):
    client.planned = raising(ZeroDivisionError('what'))
    results = tracker().sync()
    (record,) = [r for r in caplog.records if r.levelno >= logging.ERROR]
    assert record.exc_info[0] is ZeroDivisionError
    assert 'ZeroDivisionError' in results[1].reason


@pytest.mark.parametrize(
    ('error', 'end'),
    [
        (errors.UnknownState('what'), 'waiting'),
        (errors.Refused('x'), 'failed'),
    ],
)
def test_a_node_that_could_not_be_observed_is_not_planned(
    client, tracker, error, end
):
    client.unknown = {B: error}
    results = tracker().sync()
    assert ends(results)[1] == ('b', end)
    assert ('plan', B) not in client.calls


def test_what_no_node_could_be_looked_at_for_is_raised(client, tracker):
    def away(_uuids):
        raise errors.Unavailable('away')

    client.observe = away
    for work in (tracker().sync, tracker().plan):
        with pytest.raises(errors.Unavailable):
            work()


def test_a_conflict_is_a_new_look_at_that_node_alone(client, tracker):
    client.planned = raising(errors.Replan('moved'), times=1)
    assert ends(tracker().sync())[1] == ('b', 'done')
    assert [call for call in client.calls if call[0] == 'observe'] == [
        ('observe', A, B, C),
        ('observe', B),
    ]


def healed(caplog):
    """Return the lines at INFO and above that name node b."""
    return [
        (record.levelname, record.getMessage())
        for record in caplog.records
        if record.levelno >= logging.INFO and f'b ({B})' in record.getMessage()
    ]


def conflict(subject='', *, is_conflict=True):
    exc = errors.Replan('PUT /traits: HTTP 409')
    exc.subject, exc.is_conflict = subject, is_conflict
    return exc


@pytest.mark.parametrize('step', ['planned', 'applying'])
def test_a_conflict_that_heals_leaves_one_line_at_info(
    client, tracker, caplog, step
):
    caplog.set_level(logging.INFO)
    setattr(client, step, raising(conflict(f'gpu ({C})'), times=2))
    tracker().sync()
    ((level, line),) = healed(caplog)
    assert level == 'INFO'
    assert f'gpu ({C})' in line
    assert 'planned 3 times' in line
    tracker().sync()
    assert len(healed(caplog)) == 1


def test_a_conflict_that_heals_after_the_judgement_is_logged_once(
    client, tracker, caplog
):
    caplog.set_level(logging.INFO)
    client.removing = {B: [B]}
    client.planned = raising(conflict(f'gpu ({C})'), times=1)
    client.applying = raising(conflict(f'pool ({A})'), times=1)
    assert ends(tracker().sync())[1] == ('b', 'done')
    ((_, line),) = healed(caplog)
    assert f'gpu ({C}), pool ({A})' in line
    assert 'planned 3 times' in line


@pytest.mark.parametrize(
    'exc',
    [conflict(f'gpu ({C})'), conflict(is_conflict=False)],
    ids=['never healed', 'own write'],
)
def test_what_is_no_healed_conflict_is_not_logged(
    client, tracker, caplog, exc
):
    caplog.set_level(logging.INFO)
    times = 1000 if exc.is_conflict else 1
    client.planned = raising(exc, times=times)
    tracker().sync()
    assert healed(caplog) == []


def test_a_cycle_that_only_plans_heals_no_conflict(client, tracker, caplog):
    caplog.set_level(logging.INFO)
    client.planned = raising(conflict(f'gpu ({C})'), times=1)
    tracker().plan()
    assert healed(caplog) == []


def test_an_error_in_the_observation_may_ask_for_a_new_look(client, tracker):
    client.unknown = {B: errors.Replan('moved')}
    observe = client.observe

    def healing(uuids):
        found = observe(uuids)
        client.unknown = {}
        return found

    client.observe = healing
    assert ends(tracker().sync())[1] == ('b', 'done')


def test_conflicts_without_end_wait_for_the_next_cycle(client, tracker):
    client.planned = raising(errors.Replan('moved'))
    results = tracker().sync()
    assert ends(results) == [('a', 'done'), ('b', 'waiting'), ('c', 'done')]
    assert client.calls.count(('plan', B)) == setbacks.PLANS


def test_an_outage_spares_the_nodes_that_are_left(client, tracker):
    client.planned = raising(errors.Unavailable('away'))
    results = tracker().sync()
    assert ends(results) == [('a', 'done'), ('b', 'failed'), ('c', 'failed')]
    assert [r.outage for r in results] == [False, True, True]
    assert ('plan', C) not in client.calls


def test_an_outage_is_over_with_its_cycle(client, tracker):
    one = tracker()
    client.planned = raising(errors.Unavailable('away'), times=1)
    one.sync()
    assert {end for _, end in ends(one.sync())} == {'done'}


def test_a_refusal_fails_the_node_and_says_what_was_done(client, tracker):
    client.outcome = Outcome(applied=(ONE,), refused={'no': ONE, 'never': ONE})
    result = tracker().sync()[0]
    assert result.status is Status.FAILED
    assert result.reason == 'no; never'
    assert result.applied == ('one',)


def test_a_uuid_under_another_name_is_not_planned(client, tracker):
    client.providers = {A: provider.Provider(uuid=A, name='old')}
    result = tracker().sync()[0]
    assert result.status is Status.FAILED
    assert 'old' in result.reason
    assert ('plan', A) not in client.calls


def test_a_node_below_another_provider_is_not_planned(client, tracker):
    client.providers = {A: provider.Provider(uuid=A, name='a', parent_uuid=C)}
    result = tracker().sync()[0]
    assert result.status is Status.FAILED
    assert C in result.reason
    assert ('plan', A) not in client.calls


def test_no_nodes_are_no_results(tracker):
    assert tracker(Driver({}), workers=4).sync() == []


# --- what the driver says of its nodes ---------------------------------------


@pytest.mark.parametrize(
    'method', ['get_available_nodes', 'get_nodenames_by_uuid']
)
@pytest.mark.parametrize('raised', [RuntimeError('no answer'), OSError(5)])
def test_nodes_that_the_driver_cannot_list_are_its_error(
    client, tracker, method, raised
):
    class Broken(Driver):
        pass

    def fail(_self):
        raise raised

    setattr(Broken, method, fail)
    with pytest.raises(errors.DriverError, match='Broken'):
        tracker(Broken()).sync()
    assert client.calls == []


def test_a_list_that_is_none_is_the_drivers_error(tracker):
    class Odd(Driver):
        def get_available_nodes(self):
            return None

    with pytest.raises(errors.DriverError, match='Odd'):
        tracker(Odd()).sync()


def test_a_drivers_own_error_passes(tracker):
    mine = errors.DriverError('the controller is off')

    class Off(Driver):
        def get_available_nodes(self):
            raise mine

    with pytest.raises(errors.DriverError) as caught:
        tracker(Off()).nodes()
    assert caught.value is mine


def test_nodes_have_their_uuids(tracker):
    assert tracker().nodes() == [
        Node(uuid=uuid, name=name) for uuid, name in NODES.items()
    ]


# --- side by side ------------------------------------------------------------


def test_so_many_nodes_are_worked_on_at_a_time(client, tracker):
    together = threading.Barrier(3)
    client.planned = lambda _uuid: together.wait(threads.PATIENCE)
    assert {end for _, end in ends(tracker(workers=3).sync())} == {'done'}


def test_one_worker_takes_them_in_order(client, tracker):
    threads = set()
    client.planned = lambda _uuid: threads.add(threading.get_ident())
    tracker(workers=1).sync()
    assert threads == {threading.get_ident()}
    planned = [call for call in client.calls if call[0] == 'plan']
    assert planned == [('plan', A), ('plan', B), ('plan', C)]


def test_results_keep_the_order_of_the_nodes(client, tracker):
    """The first node is the last to end."""
    first, others = threading.Event(), []

    def planned(uuid):
        if uuid == A:
            assert first.wait(threads.PATIENCE)
        else:
            others.append(uuid)
            if len(others) == 2:
                first.set()

    client.planned = planned
    assert [name for name, _ in ends(tracker(workers=3).sync())] == [
        'a',
        'b',
        'c',
    ]


@pytest.mark.catches(
    'a cancelled task of a driver ends the cycle', case='CancelledError'
)
@pytest.mark.parametrize(
    'kind',
    [KeyboardInterrupt, asyncio.CancelledError, GeneratorExit],
    ids=lambda kind: kind.__name__,
)
def test_nothing_that_a_driver_raises_in_a_thread_ends_the_cycle(
    tracker, kind
):
    """Ctrl-C interrupts the main thread only."""

    class Broken(Driver):
        def update_provider_tree(
            self, provider_tree, nodename, allocations=None
        ):
            if nodename == 'n0':
                raise kind

    many = {A: 'n0', B: 'n1', C: 'n2'}
    results = tracker(Broken(many), workers=2).sync()
    assert [r.status for r in results] == [
        Status.FAILED,
        Status.DONE,
        Status.DONE,
    ]
    assert f'Broken failed for n0 ({A}): {kind.__name__}' in (
        results[0].reason
    )


@pytest.mark.parametrize('workers', [1, 3])
def test_a_node_that_fails_counts_as_finished(tracker, client, workers):
    client.unknown = {B: errors.UnknownState('odd')}
    told = []
    results = tracker(workers=workers).sync(
        lambda *finished: told.append(finished)
    )
    assert len(results) == 3
    assert sorted(told) == [(3, 0), (3, 1), (3, 1)]


# --- what removes something waits for all ------------------------------------


def test_a_plan_that_removes_is_applied_after_all_are_planned(client, tracker):
    client.removing = {A: [A]}
    results = tracker().sync()
    assert {end for _, end in ends(results)} == {'done'}
    assert client.calls[-1] == ('apply', A)
    assert client.calls.index(('plan', C)) < client.calls.index(('apply', A))


def test_without_a_limit_nothing_waits(client, tracker):
    client.removing = {A: [A], C: [C]}
    control = resource_tracker.Control(limits=lambda: None)
    results = tracker(control=control).sync()
    assert {end for _, end in ends(results)} == {'done'}
    assert client.calls.index(('apply', A)) < client.calls.index(('plan', B))


def test_the_limit_is_asked_for_in_each_cycle(client, tracker):
    client.removing = {A: [A]}
    limits = [
        blast_radius.Limits(percent=0),
        blast_radius.Limits(),
    ]
    one = tracker(
        control=resource_tracker.Control(limits=lambda: limits.pop(0))
    )
    assert one.sync()[0].status is not Status.DONE
    assert ends(one.sync())[0] == ('a', 'done')


def test_a_conflict_after_the_judgement_does_the_same_again(client, tracker):
    client.removing = {B: [B]}
    client.applying = raising(errors.Replan('moved'), times=1)
    assert ends(tracker().sync())[1] == ('b', 'done')
    assert client.calls.count(('apply', B)) == 2


def test_what_removes_more_after_a_conflict_waits_for_the_next_cycle(
    client, tracker
):
    client.removing = {B: [B]}

    def meddle(uuid):
        if uuid == B:
            client.removing = {B: [B, C]}
            client.applying = lambda _uuid: None
            raise errors.Replan('moved')

    client.applying = meddle
    one = tracker()
    result = one.sync()[1]
    assert result.status is Status.WAITING
    assert 'more than was judged' in result.reason
    assert client.calls.count(('apply', B)) == 1
    assert ends(one.sync())[1] == ('b', 'done')


def test_what_is_not_there_is_looked_for_once_more(client, tracker):
    client.planned = raising(errors.ReplanOnce('no such trait'))
    result = tracker(Driver({B: 'b'})).sync()[0]
    assert (result.status, result.reason) == (Status.WAITING, 'no such trait')
    assert client.calls.count(('plan', B)) == 2


def test_what_is_there_then_is_done(client, tracker):
    client.planned = raising(errors.ReplanOnce('no such trait'), times=1)
    assert ends(tracker(Driver({B: 'b'})).sync()) == [('b', 'done')]


def test_what_another_node_was_judged_to_remove_may_be_removed(
    client, tracker
):
    """They share what it stands on, and the other has not done it yet."""
    client.removing = {A: [C], B: [B]}

    def meddle(uuid):
        if uuid == B:
            client.removing = {B: [B, C]}
            client.applying = lambda _uuid: None
            raise errors.Replan('moved')

    client.applying = meddle
    nodes = {uuid: NODES[uuid] for uuid in (A, B)}
    assert ends(tracker(Driver(nodes)).sync()) == [
        ('a', 'done'),
        ('b', 'done'),
    ]
    assert client.calls.count(('apply', B)) == 2


def test_looks_before_and_after_the_judgement_are_counted_together(
    client, tracker
):
    client.removing = {B: [B]}
    client.planned = raising(errors.Replan('moved'), times=3)
    client.applying = raising(errors.Replan('moved'))
    result = tracker().sync()[1]
    assert result.status is Status.WAITING
    assert client.calls.count(('plan', B)) == setbacks.PLANS


def test_an_outage_between_planning_and_applying_ends_what_was_held(
    client, tracker
):
    client.removing = {A: [A]}
    client.planned = raising(errors.Unavailable('away'))
    results = tracker().sync()
    assert [r.outage for r in results] == [True, True, True]
    assert 'apply' not in {call for call, *_ in client.calls}


# --- what was refused waits --------------------------------------------------


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def patient(tracker, clock):
    """A tracker whose waits are as long as may be."""
    control = resource_tracker.Control(
        back_off=backoff.Backoff(
            lambda: clock[0], spread=lambda _low, high: high
        )
    )
    return tracker(Driver({A: 'a'}), control=control)


def test_what_was_refused_is_not_sent_again_until_it_is_due(
    client, patient, clock
):
    client.outcome = Outcome(applied=(), refused={'no': ONE})
    first = patient.sync()[0]
    assert (first.status, first.again_in) == (Status.FAILED, 60.0)
    clock[0] += 20
    second = patient.sync()[0]
    assert (second.status, second.again_in) == (Status.WAITING, 40.0)
    assert second.reason == first.reason == 'no'
    assert client.calls.count(('apply', A)) == 1
    clock[0] += 40
    assert patient.sync()[0].status is Status.FAILED
    assert client.calls.count(('apply', A)) == 2


def test_another_plan_goes_at_once(client, patient):
    client.outcome = Outcome(applied=(), refused={'no': ONE})
    patient.sync()
    plan = client.plan
    client.plan = lambda *given: dataclasses.replace(
        plan(*given), operations=(Operation('two'),)
    )
    patient.sync()
    assert client.calls.count(('apply', A)) == 2


def refused(exc, *left):
    exc.refused = {f'no {op}': op for op in left}
    return exc


def test_what_was_refused_before_a_turn_ends_early_waits_too(client, patient):
    client.applying = raising(refused(errors.UnknownState('odd'), ONE), uuid=A)
    first = patient.sync()[0]
    assert (first.status, first.again_in) == (Status.WAITING, 60.0)
    assert first.reason == 'odd; no one'
    client.applying = lambda _uuid: None
    second = patient.sync()[0]
    assert (second.status, second.reason) == (Status.WAITING, 'no one')
    assert client.calls.count(('apply', A)) == 1


def test_what_was_refused_is_left_out_for_the_rest_of_the_turn(
    client, patient
):
    given = []
    apply = client.apply

    def applied(plan, without=()):
        given.append(list(without))
        return apply(plan, without)

    client.apply = applied
    client.applying = raising(
        refused(errors.Replan('moved'), ONE), uuid=A, times=2
    )
    client.outcome = Outcome(applied=())
    result = patient.sync()[0]
    assert given == [[], ['one'], ['one']]
    assert (result.status, result.reason) == (Status.FAILED, 'no one')
    assert result.again_in == 60.0


def test_what_was_refused_and_is_not_in_the_last_plan_counts_no_more(
    client, patient
):
    client.applying = raising(
        refused(errors.Replan('moved'), 'another'), uuid=A, times=1
    )
    result = patient.sync()[0]
    assert (result.status, result.again_in) == (Status.DONE, None)


def test_what_is_left_of_a_plan_is_what_waits(client, patient):
    """The first operation was carried out, so the next plan lacks it."""
    operations = (Operation('done'), Operation('refused'))
    plan = client.plan
    client.plan = lambda *given: dataclasses.replace(
        plan(*given), operations=operations
    )
    client.outcome = Outcome(
        applied=operations[:1], refused={'no': operations[1]}
    )
    patient.sync()
    operations = operations[1:]
    assert patient.sync()[0].status is Status.WAITING


def test_a_plan_does_not_wait(client, patient):
    client.outcome = Outcome(applied=(), refused={'no': ONE})
    patient.sync()
    assert patient.plan()[0].status is Status.DONE


# --- what another undoes -----------------------------------------------------


def test_a_node_with_something_contended_waits_and_says_what(client, tracker):
    item = contention.Item(uuid=A, kind=assertion.Kind.TRAIT, name='CUSTOM_A')
    client.providers = {A: provider.Provider(uuid=A, name='a', generation=1)}

    class Contended(contention.Contention):
        def contended(self):
            return frozenset({item})

    control = resource_tracker.Control(contention=Contended(lambda: 0.0))
    result = tracker(control=control).sync()[0]
    assert result.status is Status.WAITING
    assert result.contended == (item,)
    assert 'trait CUSTOM_A' in result.reason
    assert 'contended' in result.reason


# --- nodes that are gone -----------------------------------------------------


class Remembering(Nodes):
    """One more node than the driver has; it is gone."""

    def of_drivers(self, drivers):
        return {C: KnownNode(name='c', answer=virt.Existence.NO)}


@pytest.mark.parametrize(
    ('raised', 'end'),
    [
        (errors.UnknownState('odd'), 'waiting'),
        (errors.Unavailable('away'), 'failed'),
    ],
)
def test_gone_nodes_that_cannot_be_observed_leave_the_others_results(
    client, tracker, monkeypatch, raised, end
):
    monkeypatch.setattr(Nodes, 'of_drivers', Remembering.of_drivers)
    observe = client.observe

    def failing(uuids):
        if uuids == [C]:
            raise raised
        return observe(uuids)

    client.observe = failing
    results = tracker(Driver({A: 'a'})).sync()
    assert ends(results) == [('a', 'done'), ('c', end)]
    assert results[1].outage is isinstance(raised, errors.Unavailable)


def test_a_gone_node_is_planned_once(client, tracker, monkeypatch):
    monkeypatch.setattr(Nodes, 'of_drivers', Remembering.of_drivers)
    monkeypatch.setattr(
        Driver, 'node_exists', lambda _self, _name: virt.Existence.NO
    )
    client.providers = {C: provider.Provider(uuid=C, name='c')}
    operation = Operation('delete', [C])
    plan = client.plan
    client.plan = lambda *given: dataclasses.replace(
        plan(*given), operations=(operation,)
    )
    results = tracker(Driver({A: 'a'})).sync()
    assert ends(results) == [('a', 'done'), ('c', 'done')]
    assert client.calls.count(('plan', C)) == 1
