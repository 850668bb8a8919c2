# SPDX-License-Identifier: Apache-2.0
"""The state database fails while the agent runs: nothing is sent, and it ends.

What is about to be sent is written down first; where that cannot be, it is
not sent. The agent stays up, says it once, and goes on when it is mended.

Two tests are white-box: they set limits of the agent's own connection (a full
disk, an empty page cache), which SQLite has for each connection alone.
"""

import contextlib
import sqlite3

import pytest
from agents import NODE

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status

FILE = 'state.sqlite'
OTHER = '22222222-2222-4222-8222-222222222222'
MANY = [f'CUSTOM_T{number:03}' for number in range(200)]


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def more(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 9}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX', *MANY)


def garble(path):
    """Write over a file, without another inode."""
    with path.open('r+b') as file:
        file.write(b'garbage ' * (path.stat().st_size // 8))


def test_a_full_disk_in_mid_cycle_sends_nothing(
    agent_factory, placement, operator, tmp_path
):
    agent = agent_factory(describe, state=tmp_path)
    agent.done()
    db = agent.state._database._db
    (pages,) = db.execute('pragma page_count').fetchone()
    db.execute(f'pragma max_page_count = {pages}')
    agent.driver.describe = more
    placement.clear()
    result = agent.cycle()
    assert (result.status, result.outage) == (Status.FAILED, True)
    assert 'full' in result.reason
    assert 'space' in result.reason
    assert placement.writes == []
    db.execute('pragma max_page_count = 100000')
    agent.done()
    assert set(MANY) < operator.traits()


def test_a_file_that_is_damaged_under_the_agent_stops_every_write(
    agent_factory, placement, operator, tmp_path
):
    agent = agent_factory(describe, state=tmp_path)
    agent.done()
    db = agent.state._database._db
    db.execute('pragma wal_checkpoint(truncate)').fetchall()
    garble(tmp_path / FILE)
    db.execute('pragma shrink_memory')  # or it would not notice for a while
    agent.driver.describe = more
    operator.add_traits('CUSTOM_OPERATOR')
    placement.clear()
    for _ in range(3):
        said = ''
        try:
            said = agent.cycle().reason
        except errors.AgentError as exc:
            said = str(exc)
        assert 'state database' in said
    assert placement.writes == []
    with pytest.raises(errors.ConfigError, match='move it away'):
        agent_factory(describe, state=tmp_path)
    for path in tmp_path.glob(f'{FILE}*'):
        path.unlink()
    agent_factory(describe, state=tmp_path).done()
    assert operator.traits() >= {'HW_CPU_X86_AVX', 'CUSTOM_OPERATOR'}


def test_a_damaged_row_is_the_trouble_of_its_node_alone(
    agent_factory, operator, tmp_path
):
    nodes = {NODE: 'node-1', OTHER: 'node-2'}
    agent = agent_factory(describe, nodes=nodes, state=tmp_path)
    agent.done()
    with contextlib.closing(
        sqlite3.connect(tmp_path / FILE, isolation_level=None)
    ) as db:
        db.execute("update held set names = '{' where uuid = ?", [NODE])
    again = agent_factory(more, nodes=nodes, state=tmp_path)
    damaged, sound = again.sync()
    assert damaged.status is Status.FAILED
    assert 'the state database cannot be read' in damaged.reason
    assert sound.status is Status.DONE
    assert set(MANY) < operator.traits(OTHER)
    assert operator.inventories()['VCPU']['total'] == 8


def test_a_file_that_is_removed_under_the_agent_stops_every_write(
    agent_factory, placement, tmp_path
):
    agent = agent_factory(describe, state=tmp_path)
    agent.done()
    (tmp_path / FILE).unlink()
    agent.driver.describe = more
    placement.clear()
    for _ in range(2):
        with pytest.raises(errors.Unavailable, match='removed or replaced'):
            agent.cycle()
    assert placement.writes == []


def test_the_daemon_stays_up_and_says_it_once(cli, daemon):
    cli.configure(update_resources_interval=1, debug=True)
    one = daemon(cli.config, '--show-tree')
    one.wait_for('in step with')
    kept = cli.state_path / 'kept'
    (cli.state_path / FILE).rename(kept)
    cli.fake_file.write_text(
        cli.fake_file.read_text().replace('VCPU: 8', 'VCPU: 9')
    )
    one.wait_for('still: ', times=2)
    assert one.said.count('retrying until it is mended') == 1
    path = f'/resource_providers/{NODE}/inventories'
    assert cli.placement(path)['inventories']['VCPU']['total'] == 8
    kept.rename(cli.state_path / FILE)
    one.wait_for('back after')
    one.wait_for('total=8→9')
    assert one.end() == 0


@pytest.mark.parametrize(
    ('path', 'said'),
    [
        ('/proc/agent', 'give a directory this user may write'),
        ('/dev/null/agent', 'give a directory this user may write'),
    ],
)
def test_a_directory_that_cannot_be_written_is_one_line(cli, path, said):
    cli.configure(state_path=path)
    for command in ('run', 'sync'):
        result = cli.run(command)
        assert result.code == 1
        assert '[DEFAULT] state_path' in result.line
        assert said in result.line


def test_a_damaged_file_is_one_line_and_left_as_it_is(cli):
    cli.state_path.mkdir()
    file = cli.state_path / FILE
    file.write_bytes(b'garbage ' * 500)
    for command in ('run', 'sync', 'plan', 'tree'):
        words = ('tree', 'show') if command == 'tree' else (command,)
        result = cli.run(*words)
        assert result.code == 1
        assert 'move it away' in result.line
    assert file.read_bytes() == b'garbage ' * 500
