# SPDX-License-Identifier: Apache-2.0
"""``approve``, ``sync`` and ``status`` beside a daemon, on a real placement."""

import json
import logging
import os
import pwd
import re
import threading
import time

import command_line
import os_traits
import pytest
from agents import Driver
from running_daemon import PATIENCE

from compute_agent.cmd.control import answers, client, protocol
from compute_agent.cmd.plan import waiting
from compute_agent.virt import driver as virt

pytestmark = pytest.mark.long

MANY = sorted(os_traits.get_traits(prefix='HW_'))[:60]
ONE, TWO = (f'{n:08}-1111-4111-8111-111111111111' for n in (1, 2))
NODES = {ONE: 'node-1', TWO: 'node-2'}


class World:
    """What the driver says of its nodes."""

    def __init__(self):
        self.traits = dict.fromkeys(NODES.values(), MANY)
        self.total = 64

    def describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, self.traits[node])


@pytest.fixture
def world():
    return World()


@pytest.fixture
def agent(agent_factory, world, tmp_path):
    return agent_factory(
        Driver(world.describe, nodes=NODES),
        clock=time.time,
        state=tmp_path / 'state',
        max_removed_percent=0,
        takes_over=False,
    )


@pytest.fixture
def losing(agent, world, running):
    """A daemon that holds back the removal of 120 traits of two nodes."""
    one = running(agent)
    world.traits = {'node-1': [], 'node-2': []}
    one.cycle()
    return one


def traits(operator, uuid):
    return {t for t in operator.traits(uuid) if t.startswith('HW_')}


def digest(said):
    (found,) = re.findall(
        r'compute-agent approve (?:\S+ )*([0-9a-f]{16})$',
        said.out,
        re.MULTILINE,
    )
    return found


def test_what_is_held_is_listed_and_approved_by_its_digest(
    commands, losing, operator, caplog
):
    caplog.set_level(logging.INFO, 'compute_agent')
    listed = commands('approve')
    assert listed.code == 0
    removed = [line for line in listed.out.splitlines() if '  remove' in line]
    assert len(removed) == 10  # 60 alike
    assert removed[0].endswith(
        f'  remove trait {MANY[0]} from node-1 ({ONE}) (the same for 1 other '
        'node)'
    )
    assert 'removals of names: 120 changes of 2 nodes\n' in listed.out
    assert listed.out.startswith('120 changes of 2 nodes wait for approval')
    assert traits(operator, ONE) == set(MANY)
    approved = commands('approve', digest(listed))
    assert approved.code == 0, approved.err
    assert approved.out.startswith('approved: 120 changes\n')
    assert f'node-1 ({ONE}): done' in approved.out
    assert f'-{MANY[0]}' in approved.out
    assert traits(operator, ONE) == traits(operator, TWO) == set()
    user = client_user()
    assert f'{user} approved 120 changes of 2 nodes' in caplog.text
    assert f'removals of names go on, as approved by {user}' in caplog.text
    assert commands('approve').out.startswith('nothing waits for approval')


def without_since(listed):
    """Return the list as a command prints it that knows no earlier cycle."""
    return re.sub(' since .*Z:', ':', listed)


@pytest.mark.parametrize('part', ['kind', 'group', 'change', 'two'])
def test_a_part_of_the_list_has_a_digest(commands, losing, operator, part):
    """A kind, changes that are alike, a change: each line's digest counts."""
    kind, *lines = [
        line.split()[0]
        for line in commands('approve').out.splitlines()
        if line.startswith('  ')
    ]
    (first, second), *_ = [
        [each['digest'] for each in node['changes'][:2]]
        for node in json.loads(commands('approve', '-f', 'json').out)['nodes']
    ]
    digests, changes = {
        'kind': ([kind], '120 changes'),
        'group': (lines[:1], '2 changes'),
        'change': ([first], '1 change'),
        'two': ([first, second], '2 changes'),
    }[part]
    approved = commands('approve', *digests)
    assert approved.out.startswith(f'approved: {changes}\n')
    assert (traits(operator, ONE) == set()) is (part == 'kind')


@pytest.mark.parametrize('words', [('approve', '--all'), ('sync', '--yes')])
def test_whatever_waits_is_approved_unseen(commands, losing, operator, words):
    approved = commands(*words)
    assert approved.code == 0, approved.err
    assert approved.out.startswith('approved: 120 changes\n')
    assert f'remove trait {MANY[0]} from node-1' in approved.out
    assert traits(operator, ONE) == traits(operator, TWO) == set()
    again = commands(*words)
    assert again.out.startswith('nothing waits for approval\n2 nodes: 2 done')


def client_user():
    return pwd.getpwuid(os.geteuid()).pw_name


def test_a_database_that_hangs_silences_one_approval_only(
    commands, losing, agent, monkeypatch
):
    """A cycle hangs in a transaction; others are answered meanwhile."""
    monkeypatch.setattr(answers, 'GRANTING', 0.05)
    shown = digest(commands('approve'))
    with agent.state._database.writing():
        approved = commands('approve', shown)
        assert commands('status').code == 0
    assert approved.code == 1
    assert 'it is unknown whether the changes are approved' in approved.err
    for thread in threading.enumerate():
        if thread.name == 'approval':
            thread.join(PATIENCE)
    monkeypatch.setattr(answers, 'GRANTING', PATIENCE)
    assert commands('approve', shown).code == 0


def test_a_digest_of_a_plan_may_be_ahead_of_the_daemon(
    commands, agent, world, running, operator
):
    """The daemon looks for itself, with a cycle, before it refuses."""
    running(agent).cycle()
    world.traits = {'node-1': [], 'node-2': []}
    (said,) = commands('approve').out.splitlines()
    assert re.fullmatch(
        'nothing waits for approval, as of the cycle that ended .* ago; '
        '"compute-agent sync" begins one now',
        said,
    )
    shown = waiting.digest(waiting.of(agent.plan()))
    approved = commands('approve', shown)
    assert approved.out.startswith('approved: 120 changes\n'), approved.err
    assert traits(operator, ONE) == traits(operator, TWO) == set()


def test_a_digest_of_another_node_or_a_part_of_one_is_said(commands, losing):
    nodes = json.loads(commands('approve', '-f', 'json').out)['nodes']
    first, second = (node['digest'] for node in nodes)
    assert (
        'the changes of node-2 that wait now have another digest than '
        f'{first};' in commands('approve', 'node-2', first).err
    )
    assert commands('approve', second[:8]).err.endswith(
        f'; if {second[:8]} is the beginning of a digest, give all 16 digits\n'
    )


def test_a_digest_is_used_once(commands, losing, world, operator):
    once = digest(commands('approve'))
    assert commands('approve', once).code == 0
    again = commands('approve', once)
    assert again.code == 1
    assert 'nothing was approved: no change waits for approval' in again.err
    world.traits = dict.fromkeys(NODES.values(), MANY)
    losing.cycle()
    world.traits = {'node-1': [], 'node-2': []}
    losing.cycle()
    assert traits(operator, ONE) == set(MANY)


@pytest.mark.parametrize('kept', [MANY[:1], MANY[:5]])
def test_if_other_changes_wait_by_then_nothing_is_approved(
    commands, losing, world, operator, agent, kept
):
    before = digest(commands('approve'))
    world.traits['node-2'] = kept
    losing.cycle()
    refused = commands('approve', before)
    assert refused.code == 1
    assert refused.err.endswith(
        'compute-agent: nothing was approved: the changes that wait now have '
        f'another digest than {before}; "compute-agent approve" shows what '
        'waits\n'
    )
    subjects = {
        each
        for state in losing.control.states.nodes.values()
        for each in state.held
    }
    assert agent.state.approvals.approved(subjects) == {}
    losing.cycle()
    assert traits(operator, ONE) == set(MANY)


def test_the_changes_of_one_node_are_approved(commands, losing, operator):
    listed = commands('approve', 'node-2')
    assert 'node-1' not in listed.out
    assert listed.out.count('  remove trait') == 60
    # The digest is enough, and in any case.
    approved = commands('approve', digest(listed).upper())
    assert 'approved: 60 changes' in approved.out
    assert 'node-1' not in approved.out
    assert traits(operator, TWO) == set()
    assert traits(operator, ONE) == set(MANY)
    assert 'no node node-9' in commands('approve', 'node-9').err
    wrong = commands('approve', 'a' * 16, 'b' * 16).err
    assert 'nothing was approved: no change' not in wrong
    assert f'digest than {"a" * 16} and {"b" * 16}' in wrong
    assert 'leave out aaaa' in commands('approve', 'a' * 16, '--all').err


def test_a_list_for_programs_asks_nothing(commands, losing, monkeypatch):
    monkeypatch.setenv('SUDO_USER', 'alice')
    data = json.loads(commands('approve', '-f', 'json').out)
    assert data['changes'] == 120
    assert [each['node'] for each in data['nodes']] == ['node-1', 'node-2']
    results = commands('approve', data['digest'], '-f', 'json')
    assert [r['status'] for r in json.loads(results.out)] == ['done', 'done']


@pytest.mark.parametrize(('answer', 'left'), [('y\n', 0), ('n\n', 60)])
def test_a_terminal_is_asked(
    commands, losing, operator, monkeypatch, answer, left
):
    ours, theirs = command_line.pseudo_terminal()
    os.write(ours, answer.encode())
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr('sys.stdin', terminal)
        said = commands('approve', 'node-1')
    os.close(ours)
    assert said.code == 0
    assert f'  remove trait {MANY[0]} from' in said.err
    assert 'go on? [y/N]' in said.err
    assert len(traits(operator, ONE)) == left


def test_the_person_behind_sudo_is_named(
    commands, losing, monkeypatch, caplog
):
    caplog.set_level(logging.INFO, 'compute_agent')
    monkeypatch.setenv('SUDO_USER', 'alice')
    commands('approve', digest(commands('approve')))
    assert f'alice (as {client_user()}) approved 120' in caplog.text


def test_first_writes_and_capacity_are_listed_in_words(
    agent, world, running, commands, operator
):
    operator.create(ONE, 'node-1')
    operator.change_inventory('VCPU', ONE, total=64)
    one = running(agent)
    listed = commands('approve')
    assert (
        f'  the first write to node-1 ({ONE}), which another writer created; '
        'it would take nothing away\n'
    ) in listed.out
    assert '1 change of 1 node waits' in listed.out
    assert commands('approve', digest(listed)).code == 0
    world.total = 8
    one.cycle()
    listed = commands('approve')
    assert f'  lower VCPU of node-1 ({ONE}) from 64 to 8\n' in listed.out
    assert commands('approve', digest(listed)).code == 0
    assert operator.inventories(ONE)['VCPU']['total'] == 8


def test_departed_nodes_are_listed_in_words(
    agent, running, commands, operator
):
    one = running(agent)
    agent.driver.nodes = {}
    agent.driver.missing = virt.Existence.NO
    one.cycle()
    listed = commands('approve')
    assert f'  delete node-1 ({ONE})\n' in listed.out
    assert 'deletions of departed nodes: 2 changes of 2 nodes' in listed.out
    approved = commands('approve', digest(listed))
    assert approved.code == 0, approved.out
    assert operator.holdings() == {}


def test_status_counts_what_is_held_and_since_when(commands, losing):
    since = next(iter(losing.control.states.nodes.values())).held
    losing.cycle()
    now = next(iter(losing.control.states.nodes.values())).held
    assert now == since  # the moments, too
    said = commands('status').out
    assert '\n120 changes of 2 nodes wait for approval since 2' in said
    assert commands('approve').out in said
    whole = commands('status', 'node-1').out
    assert f'    waits for approval: remove trait {MANY[0]} from' in whole


def test_an_outage_keeps_what_is_held(commands, losing, placement, operator):
    before = digest(commands('approve'))
    placement.fault('GET *', 503, times=None)
    losing.cycle()
    assert digest(commands('approve')) == before
    failed = commands('approve', before)
    assert failed.code == 1
    assert '503' in failed.err
    placement.mend()
    assert commands('sync').code == 0  # the approval is still there
    assert traits(operator, ONE) == set()


# --- sync beside the daemon ---------------------------------------------------


def test_sync_has_the_daemon_run_a_cycle_and_shows_its_result(
    commands, agent, world, running, operator
):
    running(agent)
    world.traits = {'node-1': [*MANY, 'CUSTOM_NEW'], 'node-2': MANY}
    done = commands('sync')
    assert done.code == 0, done.err
    assert '+CUSTOM_NEW' in done.out
    assert '2 nodes: 2 done; 2 operations' in done.out
    assert 'CUSTOM_NEW' in operator.traits(ONE)
    data = json.loads(commands('sync', 'node-2', '-f', 'json').out)
    assert [(r['node'], r['status']) for r in data] == [('node-2', 'done')]
    assert 'no node node-9 is among' in commands('sync', 'node-9').err


def test_sync_has_the_exit_code_of_its_own_cycles(commands, losing):
    held = commands('sync')
    assert held.code == 1
    assert 'waits for approval' in held.out
    assert held.out.endswith(without_since(commands('approve').out))
    assert commands('sync', 'node-1', '--prune', 'CUSTOM_A').code == 1


def test_sync_shows_an_outage_in_one_line_and_goes_on(
    commands, agent, running, placement
):
    running(agent)
    placement.fault('GET *', 503, times=None)
    away = commands('sync')
    assert away.code == 1
    (line,) = set(
        away.err.replace('; retrying until it is mended', '').splitlines()
    )
    assert line.startswith('compute-agent: GET /resource_providers: HTTP 503')
    placement.mend()
    assert commands('sync').code == 0  # the wait of the outage is ended


def test_commands_beside_a_cycle_that_runs_share_the_next_one(
    commands, agent, running, tmp_path
):
    one = running(agent)
    one.gate.clear()
    one.requests.request_cycle()
    for _ in range(2):  # the first cycle, and this one
        assert one.began.acquire(timeout=PATIENCE)
    request = protocol.Request(command=protocol.Command.CYCLE)
    asked = [client.ask(tmp_path / 'state', request) for _ in range(3)]
    for each in asked:
        assert next(each).data['running_since']
    one.gate.set()
    for each in asked:
        assert next(each).data['code'] == 0
    # One cycle more has answered all three.
    assert one.began.acquire(timeout=PATIENCE)
    assert not one.began.acquire(blocking=False)


def test_too_many_waiting_commands_leave_room_for_status(
    commands, agent, running, tmp_path
):
    one = running(agent)
    one.gate.clear()
    request = protocol.Request(command=protocol.Command.CYCLE)
    asked = [client.ask(tmp_path / 'state', request) for _ in range(16)]
    for each in asked:
        next(each)
    assert '16 commands wait for a cycle' in commands('sync').err
    assert 'a cycle has run since' in commands('status').out
    one.gate.set()
    for each in asked:
        assert next(each).data['code'] == 0


def test_a_daemon_that_stops_tells_those_who_wait(commands, agent, running):
    one = running(agent)
    one.gate.clear()
    said = []
    waiting = threading.Thread(target=lambda: said.append(commands('sync')))
    waiting.start()
    for _ in range(2):
        assert one.began.acquire(timeout=PATIENCE)
    # As ``run`` does it: the socket is closed while the cycle still runs.
    one.close_socket()
    waiting.join(PATIENCE)
    (result,) = said
    assert result.code == 1
    assert 'the daemon stops' in result.err
