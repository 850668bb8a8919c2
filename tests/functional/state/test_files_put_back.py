# SPDX-License-Identifier: Apache-2.0
"""The files of the state are replaced by old ones, or removed, by hand."""

import shutil

import pytest

from compute_agent import errors
from compute_agent.state.database import schema, write_count

FILE = schema.FILE_NAME
FILES = (FILE, f'{FILE}-wal', f'{FILE}-shm')


class Described:
    def __init__(self):
        self.traits = ('CUSTOM_OURS', 'CUSTOM_ONCE')

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_traits(node, *self.traits)


@pytest.fixture
def driver():
    return Described()


@pytest.fixture
def start(agent_factory, driver, tmp_path):
    return lambda: agent_factory(driver, state=tmp_path / 'state')


def put(source, target):
    """Copy the files of a database; those that are missing are removed."""
    target.mkdir(exist_ok=True, mode=0o755)
    for name in FILES:
        (target / name).unlink(missing_ok=True)
        if (source / name).exists():
            shutil.copy(source / name, target / name)


@pytest.mark.parametrize('hot', [True, False])
@pytest.mark.catches('an old state database is believed')
def test_an_old_database_makes_no_name_of_an_operator_ours(
    start, driver, operator, tmp_path, hot
):
    agent = start()
    agent.done()
    if hot:
        put(tmp_path / 'state', tmp_path / 'copy')
    else:
        agent.state.close()
        put(tmp_path / 'state', tmp_path / 'copy')
        agent = start()
    driver.traits = ('CUSTOM_OURS',)
    agent.done()
    assert 'CUSTOM_ONCE' not in operator.traits()
    agent.state.close()
    operator.add_traits('CUSTOM_ONCE')
    put(tmp_path / 'copy', tmp_path / 'state')
    back = start()
    assert back.state.is_older
    for _ in range(2):
        back.done()
    assert 'CUSTOM_ONCE' in operator.traits()
    back.state.close()
    again = start()
    assert not again.state.is_older
    driver.traits = ('CUSTOM_OURS', 'CUSTOM_NEW')
    again.done()
    driver.traits = ('CUSTOM_OURS',)
    again.done()
    assert {'CUSTOM_NEW', 'CUSTOM_ONCE'} & operator.traits() == {'CUSTOM_ONCE'}


def test_the_present_database_is_not_old(start, driver, operator, tmp_path):
    agent = start()
    agent.done()
    put(tmp_path / 'state', tmp_path / 'copy')  # and the process is killed
    (tmp_path / 'state' / write_count.FILE_NAME).unlink()
    agent.state.close()
    put(tmp_path / 'copy', tmp_path / 'state')
    back = start()
    assert not back.state.is_older
    driver.traits = ()
    back.done()
    assert not {t for t in operator.traits() if t.startswith('CUSTOM_')}


@pytest.mark.parametrize(
    'removed', [FILES[1:], FILES[1:2], FILES[2:]], ids=['both', 'wal', 'shm']
)
@pytest.mark.parametrize('quiet', [True, False])
@pytest.mark.catches('a removed log is not noticed')
def test_a_removed_log_is_noticed_and_loses_nothing(
    start, driver, operator, tmp_path, removed, quiet
):
    agent = start()
    agent.done()
    for name in removed:
        (tmp_path / 'state' / name).unlink()
    if not quiet:
        driver.traits = ('CUSTOM_MORE',)
    before = operator.traits()
    said = f'{removed[0]} was removed or replaced while the agent was'
    with pytest.raises(errors.Unavailable, match=said):
        agent.cycle()
    assert operator.traits() == before
    # The daemon is killed: only the database itself is left.
    (tmp_path / 'copy').mkdir(mode=0o755)
    shutil.copy(tmp_path / 'state' / FILE, tmp_path / 'copy' / FILE)
    agent.state.close()
    put(tmp_path / 'copy', tmp_path / 'state')
    driver.traits = ()
    start().done()
    assert not {t for t in operator.traits() if t.startswith('CUSTOM_')}
