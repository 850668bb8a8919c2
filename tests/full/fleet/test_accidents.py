# SPDX-License-Identifier: Apache-2.0
"""Each fault befalls the holder of a share three times, on each database.

``python tests/full/fleet/accidents.py`` does it as often as it is told.
"""

import json
import random
import signal
import sys

import accidents
import databases
import described
import fleet as fleets
import pytest
from databases import galera

COUNT = 3
LEASE = 3.0


def tried(servers, folder, nodes, count, *, strikes_all=True):
    """Let each accident befall a holder; return the trials, and a problem.

    :param strikes_all: whether the whole database has accidents, too
    """
    number = random.randrange(2**32)
    sys.stdout.write(f'seed {number}\n')
    rng = random.Random(number)
    database = 'galera' if isinstance(servers, galera.Galera) else 'postgresql'
    with (
        fleets.at_a_site(folder, servers) as site,
        fleets.several(site, nodes, LEASE) as some,
    ):
        whole = database if strikes_all else ''
        done = accidents.all_faults(some, whole, count, rng)
    sys.stdout.write('\n'.join(accidents.lines(done)))
    assert len(done) >= count * len(accidents.OF_A_SHARE)
    return accidents.problems(done, site.record, site.failed_over, LEASE)


@pytest.mark.long
@pytest.mark.parametrize('database', ['pair', 'galera'])
def test_another_agent_goes_on_whatever_befalls_the_holder(
    database, request, tmp_path
):
    nodes = [described.FakeNodes(12, f'rack{n}-') for n in (1, 2, 3)]
    servers = request.getfixturevalue(database)
    assert tried(servers, tmp_path, nodes, COUNT) == []


@pytest.mark.long
def test_another_agent_goes_on_with_300_nodes_of_a_real_ironic(
    pair, ironic, tmp_path
):
    nodes = [described.IronicNodes(ironic, 300)]
    assert tried(pair, tmp_path, nodes, 1, strikes_all=False) == []


@pytest.mark.long
def test_agents_that_go_on_without_the_lease_are_found(pair, tmp_path):
    nodes = described.FakeNodes(12)
    with (
        fleets.at_a_site(tmp_path, pair) as site,
        fleets.running(site, nodes, 'rack1', LEASE, 'unfenced') as fleet,
    ):
        befalls, _ = accidents.strike(fleet, 'stopped', random.Random(1))
        databases.wait_for(fleet.is_right, 'right after it was stopped')
        for who, one in fleet.daemons.items():
            if who != befalls.who:  # nobody is quicker
                one.signal(signal.SIGSTOP)
        accidents.end(fleet, befalls)
        databases.wait_for(
            lambda: accidents.two_writers(site.record), 'two writers'
        )


def row(who, epoch, status=200, method='PUT', at=0.0):
    """Return a line of placement's record."""
    request = {'method': method, 'path': '/traits/T', 'status': status}
    request['at'] = at
    return json.dumps({'who': who, 'epoch': epoch, **request})


@pytest.mark.parametrize(
    ('rows', 'count'),
    [
        ([row('rack1-a', '1'), row('rack1-b', '2'), row('rack1-a', '3')], 0),
        ([row('rack1-a', '1'), row('rack1-b', '2'), row('rack1-a', '1')], 1),
        ([row('rack1-b', '2'), row('rack1-a', '1', 409)], 0),
        ([row('rack1-b', '2'), row('rack1-a', '1', method='GET')], 0),
        ([row('rack1-a', '1'), row('rack1-b', '1')], 1),
        ([row('rack1-a', '1'), row('rack1-b', '')], 1),
        ([row('rack1-a', '1'), row('test', '')], 0),
    ],
)
def test_the_judge_sees_a_second_writer(tmp_path, rows, count):
    record = tmp_path / 'requests'
    record.write_text('\n'.join(rows))
    assert len(list(accidents.two_writers(record))) == count


@pytest.mark.parametrize(
    ('rows', 'count'),
    [
        ([row('rack1-a', '2', at=9), row('rack1-b', '2', at=14)], 0),
        # A request that was under way when the commits were lost.
        ([row('rack1-a', '2', at=9), row('rack1-a', '2', at=11)], 0),
        (
            [
                row('rack1-a', '2', at=9),
                row('rack1-a', '2', at=11),
                row('rack1-b', '2', at=14),
            ],
            0,
        ),
        (
            [
                row('rack1-a', '2', at=9),
                row('rack1-b', '2', at=11),
                row('rack1-a', '2', at=12),
            ],
            1,
        ),
        (
            [
                row('rack1-a', '2', at=9),
                row('rack1-a', '2', at=14),
                row('rack1-b', '2', at=15),
            ],
            1,
        ),
    ],
)
def test_a_lease_that_is_lost_runs_out_before_the_next(tmp_path, rows, count):
    record = tmp_path / 'requests'
    record.write_text('\n'.join(rows))
    assert len(accidents.two_writers(record, [10.0], LEASE)) == count


def trial(taken=4.0, cycles=1, wrong=()):
    times = {'taken': taken, 'right': 5.0, 'healed': 1.0}
    return accidents.Trial(fault='killed', cycles=cycles, wrong=wrong, **times)


def test_the_judge_sees_what_a_trial_did_wrong(tmp_path):
    record = tmp_path / 'requests'
    record.write_text('')

    def wrong(*some):
        return ' '.join(accidents.problems(some, record))

    assert wrong(trial(), trial()) == ''
    assert 'node-1 lost' in wrong(trial(), trial(wrong=('node-1 lost',)))
    assert 'in 2 cycles' in wrong(trial(), trial(cycles=2))


def test_one_slow_take_over_is_no_proof_and_half_of_them_are():
    some = [trial(), trial(), trial(taken=20.0)]
    assert accidents.too_slow(some, LEASE) == []
    (line,) = accidents.too_slow([trial(taken=20.0), trial(taken=9.0)], LEASE)
    assert 'the median' in line
