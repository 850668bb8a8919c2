# SPDX-License-Identifier: Apache-2.0
"""The daemon's loop: how long it waits, what it says and when it ends.

White-box: one test replaces a private method to change the interval between
two cycles.
"""

import logging
import threading

import pytest

from compute_agent import errors
from compute_agent.cycle import resource_tracker, service
from compute_agent.cycle.values import schedule
from compute_agent.tree.node import Node

Status = resource_tracker.Status
ONE = Node(uuid='11111111-1111-4111-8111-111111111111', name='node-1')
TWO = Node(uuid='22222222-2222-4222-8222-222222222222', name='node-2')
AWAY = errors.Unavailable('placement cannot be reached')


class Stop(threading.Event):
    """An event whose waits are written down and move a clock.

    It is set by the wait after the last of the answers.
    """

    def __init__(self, answers):
        super().__init__()
        self.answers = list(answers)
        self.waits = []
        self.now = 1000.0

    def wait(self, timeout=None):
        self.waits.append(timeout)
        self.now += timeout or 0
        if not self.answers:
            self.set()
        return self.is_set()

    def clock(self):
        return self.now


class Cycle:
    """Answers what the test gave, one per cycle, each of which takes a time."""

    def __init__(self, stop, takes=0.0):
        self.stop = stop
        self.takes = takes
        self.began = []

    def __call__(self):
        self.began.append(self.stop.now)
        self.stop.now += self.takes
        answer = self.stop.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def node(one=ONE, *, status=Status.DONE, reason='', notes=(), **more):
    reasons = (reason,) if reason else ()
    return resource_tracker.NodeResult(
        node=one, status=status, reasons=reasons, notes=notes, **more
    )


def failed(reason='broken', one=ONE, **more):
    return node(one, status=Status.FAILED, reason=reason, **more)


@pytest.fixture
def run(caplog):
    """Run the loop over these answers; return its waits."""

    def run(*answers, interval=60.0, **how):
        caplog.set_level(logging.DEBUG, 'compute_agent')
        stop = Stop(answers)
        service.Service(
            Cycle(stop), interval=interval, stop=stop, clock=stop.clock, **how
        ).run()
        assert stop.answers == []
        return stop.waits

    return run


@pytest.fixture
def said(caplog):
    """Return what was said at INFO and above."""

    def said():
        return [
            (r.levelname, r.getMessage())
            for r in caplog.records
            if r.levelno >= logging.INFO
        ]

    return said


# --- waits -------------------------------------------------------------------


def test_cycles_are_an_interval_apart(run):
    assert run([node()], [node()], [node()]) == [60, 60, 60]


def test_what_a_cycle_takes_is_part_of_the_interval():
    stop = Stop([[node()]] * 3)
    cycle = Cycle(stop, takes=25.0)
    service.Service(cycle, interval=60, stop=stop, clock=stop.clock).run()
    assert cycle.began == [1000, 1060, 1120]


def test_after_an_outage_cycles_begin_when_they_would_have():
    stop = Stop([[node()], *[AWAY] * 4, [node()], [node()], [node()]])
    cycle = Cycle(stop, takes=0.5)
    service.Service(cycle, interval=60, stop=stop, clock=stop.clock).run()
    assert [at for at in cycle.began if at % 60 == 1000 % 60] == [
        1000,
        1060,
        *cycle.began[-2:],
    ]


def test_a_changed_interval_counts_from_the_next_wait_on():
    stop = Stop([[node()]] * 3)
    cycle = Cycle(stop)
    loop = service.Service(cycle, interval=60, stop=stop, clock=stop.clock)
    loop._done = lambda _results: setattr(loop, 'interval', 20)
    loop.run()
    assert cycle.began == [1000, 1020, 1040]


def test_a_negative_interval_is_one_cycle_and_an_endless_wait(run):
    assert run([node()], interval=-1) == [None]


def test_a_negative_interval_tries_until_there_was_one_cycle(run):
    *waits, last = run(AWAY, AWAY, [node()], interval=-1)
    limits = [schedule.FIRST_WAIT, schedule.FIRST_WAIT * 2]
    assert all(
        0 < wait <= limit for wait, limit in zip(waits, limits, strict=True)
    )
    assert last is None


@pytest.mark.parametrize(
    'outage', [AWAY, errors.UnknownState('500'), errors.DriverError('off')]
)
def test_waits_grow_while_it_is_away_and_never_past_the_interval(run, outage):
    waits = run(*[outage] * 40, interval=20)
    limits = [min(schedule.FIRST_WAIT * 2**n, 20) for n in range(40)]
    assert all(0 <= w <= limit for w, limit in zip(waits, limits, strict=True))
    assert max(waits[10:]) > 5


def test_a_server_that_is_not_there_is_soon_asked_again(run):
    gone = errors.NoServer('connection refused')
    waits = run(*[gone] * 40, interval=20, outage_retry=3)
    assert all(0 < wait <= 3 for wait in waits)
    found = failed(outage=True, no_server=True)
    waits = run(*[[found]] * 40, interval=20, outage_retry=3)
    assert all(0 < wait <= 3 for wait in waits)
    slow = run(*[AWAY] * 40, interval=20, outage_retry=3)
    assert max(slow) > 3


def test_waits_are_spread_at_random(run):
    assert len(set(run(*[AWAY] * 20))) == 20


def test_waits_begin_anew_after_it_was_back(run):
    waits = run(*[AWAY] * 10, [node()], AWAY)
    assert waits[-1] <= schedule.FIRST_WAIT


def test_ever_so_many_failures_are_no_overflow(run):
    assert all(wait <= 60 for wait in run(*[AWAY] * 1200))


def test_a_node_that_fails_alone_does_not_change_the_interval(run):
    assert run([failed()], [failed()]) == [60, 60]


def test_an_outage_in_the_middle_of_a_cycle_is_one(run, said):
    (wait,) = run([node(), failed('away', TWO, outage=True)])
    assert wait <= schedule.FIRST_WAIT
    assert [level for level, _ in said()].count('ERROR') == 1


def test_what_was_not_foreseen_is_logged_and_met_with_a_wait(run, caplog):
    waits = run(ZeroDivisionError('what'), [node()])
    assert waits[0] <= schedule.FIRST_WAIT
    (record,) = [r for r in caplog.records if r.exc_info]
    assert record.levelname == 'ERROR'
    assert record.exc_info[0] is ZeroDivisionError


# --- hints of the driver -----------------------------------------------------


def test_only_a_cycle_without_an_outage_is_followed_by_a_pause():
    """A pause may be cut short by a hint; the waits of an outage may not."""
    stop = Stop([[node()], AWAY, [failed('away', outage=True)], [node()]])
    pauses = []

    def pause(seconds):
        pauses.append((len(stop.answers), seconds))
        if not stop.answers:
            stop.set()

    service.Service(
        Cycle(stop), interval=60, stop=stop, clock=stop.clock, pause=pause
    ).run()
    assert [left for left, _ in pauses] == [3, 0]
    assert pauses[0][1] == 60
    assert len(stop.waits) == 2


# --- the end -----------------------------------------------------------------


def test_stop_before_the_start_does_nothing():
    stop = Stop([[]])
    stop.set()
    service.Service(Cycle(stop), interval=60, stop=stop).run()
    assert stop.answers == [[]]


@pytest.mark.parametrize('answer', [AWAY, [failed('away', outage=True)]])
def test_what_the_end_cuts_short_is_no_outage(answer, said):
    stop = Stop([[node()], answer])
    cycle = Cycle(stop)

    def last():
        if len(stop.answers) == 1:
            stop.set()
        return cycle()

    service.Service(last, interval=60, stop=stop, clock=stop.clock).run()
    assert stop.answers == []
    assert not [text for level, text in said() if level == 'ERROR']


def test_stop_ends_a_wait_at_once():
    """With the real event, in a thread: no wait is recorded away."""
    stop, began = threading.Event(), threading.Event()

    def cycle():
        began.set()
        return []

    loop = service.Service(cycle, interval=3600, stop=stop)
    thread = threading.Thread(target=loop.run)
    thread.start()
    assert began.wait(60)
    stop.set()
    thread.join(60)
    assert not thread.is_alive()


def test_a_wrong_configuration_ends_the_first_cycle(run):
    with pytest.raises(errors.ConfigError, match='no such driver'):
        run(errors.ConfigError('no such driver'))


def test_a_configuration_that_goes_wrong_later_is_an_outage(run, said):
    wrong = errors.ConfigError('a file is broken')
    waits = run([node()], wrong, wrong, [node()])
    assert waits[1] <= schedule.FIRST_WAIT
    lines = [text for _, text in said()]
    assert len([t for t in lines if 'a file is broken' in t]) == 1
    assert any('back' in t for t in lines)


def test_what_ends_the_process_ends_the_loop(run):
    with pytest.raises(KeyboardInterrupt):
        run(KeyboardInterrupt())


# --- words -------------------------------------------------------------------


def test_an_outage_is_said_once_and_so_is_its_end(run, said):
    run(AWAY, AWAY, AWAY, [node()], [node()])
    about = [s for s in said() if 'reached' in s[1] or 'back' in s[1]]
    assert [level for level, _ in about] == ['ERROR', 'INFO']


def test_an_outage_that_lasts_is_said_once_an_hour(caplog, said):
    """Each try takes ten minutes, by the test's clock."""
    caplog.set_level(logging.INFO, 'compute_agent')
    stop = Stop([AWAY] * 17)
    cycle = Cycle(stop, takes=600.0)
    service.Service(cycle, interval=60, stop=stop, clock=stop.clock).run()
    first, *more = [text for level, text in said() if level == 'ERROR']
    assert first == f'{AWAY}; retrying until it is mended'
    for hours, line in enumerate(more, 1):
        assert f'{AWAY}; this outage has lasted for {hours} h ' in line
    assert len(more) == 2


def test_a_second_outage_is_said_again(run, said):
    run(AWAY, [], AWAY, [])
    assert [level for level, _ in said()] == ['ERROR', 'INFO'] * 2


def test_cycles_without_news_say_nothing_after_the_first(run, said):
    run([node()], [node()], [node()])
    ((level, line),) = said()
    assert level == 'INFO'
    assert line.startswith('cycle: 1 done')


def test_trouble_is_said_when_it_begins_changes_and_ends(run, said):
    run(
        [failed('one')],
        [failed('one')],
        [failed('two')],
        [failed('two')],
        [node()],
        [node()],
    )
    about = [s for s in said() if str(ONE) in s[1]]
    assert [level for level, _ in about] == ['WARNING', 'WARNING', 'INFO']
    assert 'one' in about[0][1]
    assert 'two' in about[1][1]


REQUEST_IDS = [
    f'[req-{n}0f1c2d3-1111-4222-8333-444455556666]' for n in range(3)
]


@pytest.mark.catches('a reason with another request id is another reason')
def test_a_reason_with_another_request_id_is_the_same_reason(run, said):
    run(*[[failed(f'HTTP 400: no {one}; mend it')] for one in REQUEST_IDS])
    about = [text for _, text in said() if str(ONE) in text]
    assert about == [f'{ONE}: failed: HTTP 400: no {REQUEST_IDS[0]}; mend it']


def test_a_note_with_another_request_id_is_the_same_note(run, said):
    run(*[[node(notes=(f'HTTP 500 {one}',))] for one in REQUEST_IDS])
    about = [text for level, text in said() if level == 'WARNING']
    assert about == [f'{ONE}: HTTP 500 {REQUEST_IDS[0]}']


def test_a_line_names_its_node_once(run, said):
    run(
        [
            failed(
                f'{ONE}: HTTP 400; set traits of {ONE}: HTTP 409',
                notes=(f'{ONE}: restored: X', f'{TWO} is elsewhere'),
            )
        ]
    )
    about = [text for level, text in said() if level == 'WARNING']
    assert about == [
        f'{ONE}: restored: X',
        f'{ONE}: {TWO} is elsewhere',
        f'{ONE}: failed: HTTP 400; set traits of node-1: HTTP 409',
    ]


def test_a_line_names_a_node_with_a_title_once(run, said):
    """The provider of a node of Ironic has the node's uuid as its name."""
    bare = Node(uuid=ONE.uuid, name=ONE.uuid, title='rack1')
    run([failed(f'set traits of {ONE.uuid}: HTTP 409', bare)])
    about = [text for level, text in said() if level == 'WARNING']
    assert about == [f'{bare}: failed: set traits of rack1: HTTP 409']


def test_trouble_of_one_node_is_not_said_of_another(run, said):
    run([failed('one'), node(TWO)], [failed('one'), node(TWO)])
    assert not [s for s in said() if str(TWO) in s[1]]


def test_a_note_is_said_once(run, said):
    run(*[[node(notes=('HW_X: left out',))]] * 3)
    assert [s for s in said() if 'HW_X' in s[1]] == [
        ('WARNING', f'{ONE}: HW_X: left out')
    ]


def test_a_second_note_does_not_repeat_the_first(run, said):
    run([node(notes=('first',))], [node(notes=('first', 'second'))])
    about = [text for level, text in said() if level == 'WARNING']
    assert about == [f'{ONE}: first', f'{ONE}: second']


def test_a_new_note_is_not_called_in_order_again(run, said):
    run([node()], [node(notes=('HW_X: left out',))])
    assert not [text for _, text in said() if 'no trouble any more' in text]


def test_a_note_is_not_said_again_after_an_outage(run, said):
    noted = node(notes=('HW_X: left out',))
    run([noted], [failed('away', outage=True)], [noted])
    assert len([text for _, text in said() if 'HW_X' in text]) == 1


def test_an_outage_is_not_said_of_every_node(run, said):
    away = [failed('away', n, outage=True) for n in (ONE, TWO)]
    run(away, away)
    assert len([text for _, text in said() if 'away' in text]) == 1


def test_what_was_applied_is_counted(run, said):
    run([node(applied=('a', 'b')), failed('no', TWO)])
    (line,) = [text for _, text in said() if text.startswith('cycle')]
    assert '1 done, 0 waiting, 1 failed; 2 operations' in line


# --- many nodes at once ------------------------------------------------------

MANY = [
    Node(uuid=f'{n:08}-1111-4111-8111-111111111111', name=f'node-{n}')
    for n in range(300)
]
HELD = 'waits for confirmation; "compute-agent approve" shows what waits'


@pytest.mark.catches('each node of a mass has a line')
def test_a_mass_that_is_held_back_is_one_line_with_a_few_names(run, said):
    run(*[[failed(HELD, one) for one in MANY]] * 2)
    (line,) = [text for level, text in said() if level == 'WARNING']
    first, second, third = map(str, MANY[:3])
    assert line == (
        f'300 nodes ({first}, {second}, {third} and 297 more): failed: {HELD}'
    )


def test_the_nodes_of_a_mass_are_logged_for_debugging(run, caplog):
    run([failed(HELD, one) for one in MANY])
    own = [r.getMessage() for r in caplog.records if r.levelname == 'DEBUG']
    assert own == [f'{one}: failed: {HELD}' for one in MANY]


def test_the_end_of_a_mass_is_one_line(run, said):
    run(
        [failed(HELD, one) for one in MANY],
        [node(one) for one in MANY],
    )
    (line,) = [text for _, text in said() if 'no trouble' in text]
    assert line.startswith('300 nodes (node-0 ')


def test_each_kind_of_news_of_a_mass_has_its_line(run, said):
    held = [failed(HELD, one) for one in MANY[:10]]
    moved = [node(one, notes=('it moved',)) for one in MANY[10:30]]
    late = [
        node(one, status=Status.WAITING, reason='in a later cycle')
        for one in MANY[30:35]
    ]
    run([*held, *moved, *late, failed('broken', TWO)])
    lines = [text for level, text in said() if level == 'WARNING']
    assert [line.partition(' (')[0] for line in lines[:3]] == [
        '10 nodes',
        '20 nodes',
        '5 nodes',
    ]
    assert lines[3:] == [f'{TWO}: failed: broken']


def test_three_nodes_have_a_line_each(run, said):
    run([failed(HELD, one) for one in MANY[:3]])
    lines = [text for level, text in said() if level == 'WARNING']
    assert lines == [f'{one}: failed: {HELD}' for one in MANY[:3]]


def test_nodes_that_join_a_mass_are_named_and_no_other(run, said):
    run(
        [failed(HELD, one) for one in MANY[:10]],
        [failed(HELD, one) for one in MANY[:15]],
    )
    first, second = [t for level, t in said() if level == 'WARNING']
    assert first.startswith('10 nodes (node-0 ')
    assert second.startswith('5 nodes (node-10 ')


# --- done --------------------------------------------------------------------


def test_done_gets_the_results_of_each_cycle_that_was_no_outage(run):
    seen = []
    run(
        AWAY,
        [node()],
        [failed()],
        [failed(outage=True)],
        done=seen.append,
    )
    assert seen == [[node()], [failed()]]


def test_when_a_refusal_is_tried_again_is_said_once(run, said):
    run(
        [failed('no', again_in=60.0)],
        [node(status=Status.WAITING, reason='no', again_in=31.0)],
        [failed('no', again_in=120.0)],
        [node()],
    )
    about = [text for _, text in said() if text.startswith(str(ONE))]
    assert about == [
        f'{ONE}: failed: no; again in about 60 s',
        f'{ONE}: no trouble any more',
    ]


def test_what_another_program_must_do_first_is_said_once_at_info(run, said):
    waits = errors.NotYet('placement has no root provider')
    run(*[waits] * 3, [node()])
    assert said()[0] == ('INFO', 'placement has no root provider')
    assert [line for _, line in said()].count(str(waits)) == 1
    assert 'ERROR' not in {level for level, _ in said()}


def test_a_node_that_waits_for_what_was_said_already_is_no_news(run, said):
    waits = errors.NotYet('placement has no root provider')
    waiting = node(status=Status.WAITING, reason=str(waits))
    run(waits, [waiting], [waiting], [node()], [waiting])
    lines = [line for _, line in said()]
    assert lines.count(str(waits)) == 1
    # It is news again after the node was done.
    again = [line for line in lines if line.endswith(f'waiting: {waits}')]
    assert len(again) == 1
    assert lines.index(f'{ONE}: no trouble any more') < lines.index(again[0])
