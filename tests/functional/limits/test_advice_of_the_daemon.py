# SPDX-License-Identifier: Apache-2.0
"""The daemon's advice works as printed: ``approve`` shows and allows.

Most of these daemons have lost their control socket, so the cycle that uses the
approval begins when the test says so.
"""

import re
import signal
import sqlite3

import os_traits
import pytest
import yaml

ROOT = '11111111-1111-4111-8111-111111111111'
MANY = sorted(os_traits.get_traits(prefix='HW_'))[:70]
HELD = '"compute-agent approve" shows what waits, and allows it'


def traits(cli, uuid=ROOT):
    return {t for t in cli.others.traits(uuid) if t.startswith('HW_')}


def hang_up(one, *, cycles):
    one.process.send_signal(signal.SIGHUP)
    one.wait_for('cycle: ', times=cycles)


@pytest.fixture
def losing(cli, daemon):
    """A daemon that holds back the removal of its traits."""
    cli.describe_node(ROOT, MANY)
    cli.configure(
        update_resources_interval=3600,
        debug=True,
        agent={'max_removed_percent': 0},
    )
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    cli.describe_node(ROOT, [])
    hang_up(one, cycles=2)
    assert HELD in one.said
    assert traits(cli) == set(MANY)
    (cli.state_path / 'control.sock').rename(cli.state_path / 'away.sock')
    return one


def give_back_socket(cli):
    (cli.state_path / 'away.sock').rename(cli.state_path / 'control.sock')


def approve(cli, *nodes):
    """Approve what waits; the command cannot have a cycle begin."""
    result = cli.run('approve', '--all', *nodes)
    assert result.code == 1
    assert result.out.startswith('approved: ')
    assert 'the changes are made in the next cycle, which cannot be begun' in (
        result.out
    )
    return result


def approvals(cli):
    with sqlite3.connect(cli.state_path / 'state.sqlite') as db:
        found = db.execute('select kind, who from approval').fetchall()
    db.close()
    return found


def test_the_daemon_s_advice_works_as_printed(cli, losing):
    give_back_socket(cli)
    listed = cli.run('approve')
    assert listed.out.count('remove trait') == 10
    assert '60 more; "compute-agent approve NODE" lists each' in listed.out
    assert cli.run('plan').out.endswith(since_never(listed.out))
    approved = cli.run('approve', listed.out.split()[-1])
    assert approved.code == 0
    assert approved.out.startswith(f'approved: {len(MANY)} changes\ncn1')
    assert approved.out.count(f'-{MANY[0]}') == 1
    assert f'cn1 ({ROOT}): done' in approved.out
    assert traits(cli) == set()
    assert 'removals of names go on, as approved by ' in losing.said
    assert approvals(cli) == []
    again = cli.run('sync', '--yes')
    assert again.code == 0
    assert again.out.startswith('nothing waits for approval\ncn1')


def since_never(listed):
    """Return the list of the daemon as a plan prints it."""
    return re.sub(' since .*Z:', ':', listed)


@pytest.mark.long
def test_without_a_socket_the_next_cycle_makes_the_changes(cli, losing):
    approved = approve(cli)
    assert f'remove trait {MANY[0]} from cn1' in approved.out
    assert [kind for kind, _ in approvals(cli)] == ['names'] * len(MANY)
    hang_up(losing, cycles=3)
    assert traits(cli) == set()
    assert 'removals of names go on, as approved by ' in losing.said
    assert approvals(cli) == []


def test_other_removals_than_those_shown_are_not_approved(cli, losing):
    approve(cli)
    other = '22222222-2222-4222-8222-222222222222'
    nodes = [
        {'name': 'cn1', 'uuid': ROOT, 'traits': MANY[:1]},
        {'name': 'cn2', 'uuid': other, 'traits': MANY},
    ]
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))
    hang_up(losing, cycles=3)
    assert traits(cli) == set(MANY[:1])  # a part of what was shown
    nodes[0]['traits'] = nodes[1]['traits'] = []
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))
    hang_up(losing, cycles=4)
    assert traits(cli) == set()  # the rest of it
    assert traits(cli, other) == set(MANY)
    assert HELD in losing.said.rpartition('cycle: ')[0]


@pytest.mark.long
def test_an_approval_is_used_once(cli, losing):
    approve(cli)
    hang_up(losing, cycles=3)
    cli.describe_node(ROOT, MANY)
    hang_up(losing, cycles=4)
    cli.describe_node(ROOT, [])
    hang_up(losing, cycles=5)
    assert traits(cli) == set(MANY)


def test_nothing_held_back_is_said(cli, daemon):
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    result = cli.run('sync', '--yes')
    assert result.code == 0
    assert 'nothing waits for approval' in result.out
    assert 'done, nothing to do' in result.out
    assert approvals(cli) == []


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize(
    'words', [(), ('cn1',), ('--yes', '--prune', 'CUSTOM_A')]
)
def test_without_the_daemon_s_socket_the_lock_is_in_the_way(
    cli, losing, words
):
    result = cli.run('sync', *words)
    assert result.code == 1
    assert f'process {losing.process.pid} uses' in result.line
    assert 'begins on SIGHUP' in result.line
    assert approvals(cli) == []


@pytest.mark.long
def test_the_changes_of_some_nodes_are_approved(cli, daemon):
    other = '22222222-2222-4222-8222-222222222222'

    def lose(*traits):
        nodes = [
            {'name': name, 'uuid': uuid, 'traits': list(traits)}
            for name, uuid in (('cn1', ROOT), ('cn2', other))
        ]
        cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))

    lose(*MANY)
    cli.configure(
        update_resources_interval=3600,
        debug=True,
        agent={'max_removed_percent': 0},
    )
    one = daemon(cli.config)
    one.wait_for('cycle: 2 done')
    lose()
    hang_up(one, cycles=2)
    (cli.state_path / 'control.sock').unlink()
    approved = approve(cli, 'cn2')
    assert 'cn2' in approved.out
    assert 'cn1' not in approved.out
    assert cli.run('sync', '--yes', 'cn3').code == 1
    hang_up(one, cycles=3)
    assert (traits(cli), traits(cli, other)) == (set(MANY), set())


def test_plan_and_sync_say_that_a_change_is_approved_already(cli, losing):
    before = cli.run('plan')
    assert before.code == 1
    assert 'waits for approval' in before.out
    approve(cli)
    after = cli.run('plan')
    assert after.code == 2
    assert 'waits for approval' not in after.out
    (line,) = [t for t in after.out.split('\n') if 'approved by' in t]
    assert 'note: removals of names are approved by ' in line
    assert 'the next cycle makes them' in line
    hang_up(losing, cycles=3)
    assert 'approved' not in cli.run('plan').out


# --- first writes to providers of other writers -------------------------------

OTHER = '22222222-2222-4222-8222-222222222222'
NODES = {'cn1': ROOT, 'cn2': OTHER}
ADVICE = HELD


def left_by_another(cli, name, total=64):
    """Create a root with inventory as another writer leaves it."""
    cli.others.create(NODES[name], name)
    cli.others.set_inventories(NODES[name], {'VCPU': {'total': total}})


def report(cli, *names, total=62):
    """Have the driver report these nodes."""
    nodes = [
        {'name': n, 'uuid': NODES[n], 'inventories': {'VCPU': total}}
        for n in names
    ]
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))


def total(cli, name):
    return cli.others.inventories(NODES[name])['VCPU']['total']


@pytest.fixture
def asking(cli, daemon):
    """A daemon that waits for a yes to the first write to its root."""
    left_by_another(cli, 'cn1')
    report(cli, 'cn1')
    cli.configure(update_resources_interval=3600, debug=True)
    one = daemon(cli.config)
    one.wait_for('cycle: 0 done, 1 waiting')
    hang_up(one, cycles=2)  # the waiting plan is kept in memory
    assert ADVICE in one.said
    assert total(cli, 'cn1') == 64
    (cli.state_path / 'control.sock').unlink()
    return one


def test_the_advice_about_a_first_write_works_as_printed(cli, asking):
    approved = approve(cli)
    assert 'the first write to cn1' in approved.out
    assert 'VCPU' in approved.out
    assert {kind for kind, _ in approvals(cli)} == {'first_write', 'capacity'}
    assert total(cli, 'cn1') == 64
    hang_up(asking, cycles=3)
    assert total(cli, 'cn1') == 62
    assert f'cn1 ({ROOT}): the first write goes on, as approved by' in (
        asking.said
    )
    assert approvals(cli) == []


def test_the_yes_to_a_first_write_is_recorded(cli, asking):
    approve(cli)
    hang_up(asking, cycles=3)
    report(cli, 'cn1', total=60)
    hang_up(asking, cycles=4)
    assert total(cli, 'cn1') == 60
    nothing = cli.run('sync', '--yes')
    assert (nothing.code, nothing.out) == (1, '')
    assert f'process {asking.process.pid} uses' in nothing.line


def test_a_yes_to_a_first_write_covers_no_other_provider(cli, asking):
    approve(cli)
    left_by_another(cli, 'cn2')
    report(cli, 'cn1', 'cn2')
    hang_up(asking, cycles=3)
    assert (total(cli, 'cn1'), total(cli, 'cn2')) == (62, 64)
    assert f'cn2 ({OTHER}): waiting: the first write' in asking.said
    approve(cli)
    hang_up(asking, cycles=4)
    assert total(cli, 'cn2') == 62


@pytest.mark.long
def test_a_yes_to_a_first_write_is_not_used_by_another_node(cli, asking):
    approve(cli)
    left_by_another(cli, 'cn2')
    report(cli, 'cn2')
    hang_up(asking, cycles=3)
    assert total(cli, 'cn2') == 64
    assert {kind for kind, _ in approvals(cli)} == {'first_write', 'capacity'}


def test_plan_says_that_a_first_write_is_approved(cli, asking):
    assert 'waits for approval' in cli.run('plan').out
    approve(cli)
    after = cli.run('plan')
    assert after.code == 2
    assert 'waits for approval' not in after.out
    assert 'note: the first write is approved by ' in after.out
    assert total(cli, 'cn1') == 64
    assert {kind for kind, _ in approvals(cli)} == {'first_write', 'capacity'}


@pytest.mark.catches('the yes to a first write leaves out its losses')
def test_a_yes_to_a_first_write_covers_its_losses(cli, asking):
    """One question: the limits ask no second one about what was shown."""
    cli.configure(
        update_resources_interval=3600,
        debug=True,
        agent={'max_removed_percent': 0},
    )
    report(cli, 'cn1', total=8)
    approve(cli)
    hang_up(asking, cycles=3)
    assert total(cli, 'cn1') == 8
    assert approvals(cli) == []


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize(
    'words', [('sync', '--yes'), ('approve', '--all'), ('approve',)]
)
def test_without_a_daemon_the_advice_works_as_printed(cli, words):
    left_by_another(cli, 'cn1')
    report(cli, 'cn1')
    waiting = cli.run('sync')
    assert waiting.code == 1
    assert ADVICE in waiting.out
    listed = cli.run('approve').out
    assert waiting.out.endswith(listed)
    assert cli.run('plan').out.endswith(listed)
    digest = listed.split()[-1:] if words == ('approve',) else []
    done = cli.run(*words, *digest)
    assert done.code == 0, done.err
    assert total(cli, 'cn1') == 62
    assert cli.run('approve').out == 'nothing waits for approval\n'
