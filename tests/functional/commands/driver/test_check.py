# SPDX-License-Identifier: Apache-2.0
"""``driver check`` prints the result of each rule, and writes the proof.

Each command runs in a process of its own: a process has one placement, and one
pytest.
"""

import json
import os
import signal
import subprocess
import sys

import installed_package
import pytest

from compute_agent.cmd.app import main
from compute_agent.cmd.driver import driver_check
from compute_agent.testing.contract.rules import catalogue

pytestmark = pytest.mark.long

DRIVERS = """
import itertools
import os
import signal

from oslo_config import cfg

from compute_agent import errors
from compute_agent.virt import driver

OPTS = [
    cfg.IntOpt('watts', default=9, help='The power of the shelf, in watts.')
]
GROWING = itertools.count(1)


def list_opts():
    return [('shelf', OPTS)]


class Shelf(driver.ComputeDriver):
    def __init__(self, watts):
        self.watts = watts

    @classmethod
    def register_opts(cls, conf):
        conf.register_opts(OPTS, group='shelf')

    @classmethod
    def from_conf(cls, conf):
        return cls(conf.shelf.watts)

    def get_available_nodes(self):
        return ['shelf-1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': self.watts}})


class Moody(Shelf):
    def update_provider_tree(self, tree, nodename, allocations=None):
        total = next(GROWING)
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': total}})


class Ragged(Shelf):
    def update_provider_tree(self, tree, nodename, allocations=None):
        for number, letter in enumerate(set('abcdefgh')):
            name = f'{nodename}-{number}'
            if not tree.exists(name):
                tree.new_child(name, nodename)
            tree.declare_traits(name, f'CUSTOM_{letter.upper()}')


class Ending(Shelf):
    def update_provider_tree(self, tree, nodename, allocations=None):
        if os.environ['ENDS_BY'] == '0':
            os._exit(0)
        os.kill(os.getpid(), signal.SIGSEGV)


class Refused(Shelf):
    @classmethod
    def from_conf(cls, conf):
        raise errors.ConfigError('shelves of this year are not supported')
"""
CONTRACTS = """
import os
import signal
import threading

import pytest

from compute_agent import testing


class ShelfContract(testing.DriverContract):
    driver = 'shelf'

    @pytest.fixture
    def world(self, tmp_path):
        return testing.World(conf={'shelf': {'watts': 7}}, is_shared=True)


class RaggedContract(ShelfContract):
    driver = 'ragged'


class OfAnother(ShelfContract):
    pass


class Generous(ShelfContract):
    driver = 'generous'

    def test_rule(self):
        pass


class TestLazy(ShelfContract):
    driver = 'lazy'
    pytestmark = pytest.mark.skip('not today')


class NoWorld(testing.DriverContract):
    driver = 'nowhere'

    @pytest.fixture
    def world(self):
        raise OSError('the rack is not plugged in')


class ThreadLeft(testing.DriverContract):
    driver = 'thread'

    @pytest.fixture
    def world(self):
        threading.Thread(target=threading.Event().wait).start()
        raise OSError('the rack is not plugged in')


class Signalled(testing.DriverContract):
    driver = 'signalled'

    @pytest.fixture
    def world(self, tmp_path):
        for process in (os.getppid(), os.getpid()):  # as a terminal does
            os.kill(process, int(os.environ['SIGNAL']))
        return testing.World()


class Ending(testing.DriverContract):
    driver = 'ending'


class Misnamed(testing.DriverContract):
    driver = 'misnamed'

    @pytest.fixture
    def world(self):
        return testing.World(seams=[testing.Seam('os', os, 'listdirs')])
"""
ENTRY_POINTS = """
[compute_agent.drivers]
shelf = shelves:Shelf
moody = shelves:Moody
nowhere = shelves:Shelf
ragged = shelves:Ragged
nothing = shelves:Shelf
refused = shelves:Refused
thread = shelves:Shelf
signalled = shelves:Shelf
ending = shelves:Ending
misnamed = shelves:Shelf
other = shelves:Moody
generous = shelves:Shelf
lazy = shelves:Shelf
[compute_agent.driver_contracts]
shelf = shelf_contracts:ShelfContract
nowhere = shelf_contracts:NoWorld
ragged = shelf_contracts:RaggedContract
nothing = shelves:Shelf
thread = shelf_contracts:ThreadLeft
signalled = shelf_contracts:Signalled
ending = shelf_contracts:Ending
misnamed = shelf_contracts:Misnamed
other = shelf_contracts:OfAnother
generous = shelf_contracts:Generous
lazy = shelf_contracts:TestLazy
[oslo.config.opts]
shelf = shelves:list_opts
"""
PYTEST = ('-c', 'import sys, pytest; %ssys.exit(pytest.main())')
NO_MORE = {}
MAIN = 'from compute_agent.cmd.app import start; sys.exit(start.main())'
COMMAND = ('-c', f'import sys; %s{MAIN}')


@pytest.fixture
def site(tmp_path):
    """A folder with an installed package of drivers."""
    folder = tmp_path / 'site'
    installed_package.install(
        folder,
        'shelves',
        '2.1',
        points=ENTRY_POINTS,
        modules={'shelves': DRIVERS, 'shelf_contracts': CONTRACTS},
    )
    return folder


@pytest.fixture
def run(site, tmp_path):
    """Run a command beside the package."""

    def run(*words, before='', more=NO_MORE, program=COMMAND):
        option, text = program
        return subprocess.run(
            [sys.executable, option, text % before, *words],
            env={**os.environ, 'PYTHONPATH': str(site), **more},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def line(done):
    """Return the one line of an error."""
    assert done.returncode == 1, done.stdout
    assert 'Traceback' not in done.stderr
    (only,) = done.stderr.splitlines()
    return only


def test_a_driver_that_keeps_all_rules_gets_a_proof(run, site, tmp_path):
    file = site / 'driver-check.json'
    words = ('driver', 'check', 'shelf', '--json', str(file), '-f', 'json')
    done = run(*words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert ' 0 failed' in line(done)
    assert ' not tried' in line(done)
    done = run(*words, '--allow-untried')
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(file.read_text())
    assert report['driver'] == {
        'name': 'shelf',
        'class': 'shelves:Shelf',
        'distribution': 'shelves',
        'version': '2.1',
    }
    assert report['capabilities'] == ['OPTIONS']
    assert {'python', 'openstack-placement', 'os-traits'} <= set(
        report['versions']
    )
    assert report['result']['failed'] == 0
    by_number = {row['number']: row for row in report['rules']}
    assert by_number['CA004']['status'] == 'passed'
    assert by_number['CA009']['status'] == 'not tried'
    assert 'no seams' in by_number['CA009']['reason']
    assert [row['Rule'] for row in json.loads(done.stdout)] == list(by_number)
    listed = json.loads(run('driver', 'list', '-f', 'json').stdout)
    (row,) = (one for one in listed if one['Name'] == 'shelf')
    untried = report['result']['not tried']
    assert untried
    assert row['Last Check'].startswith('passed: ')
    assert f', {untried} not tried (' in row['Last Check']


def test_a_broken_rule_is_exit_code_1(run):
    done = run('driver', 'check', 'moody', '-f', 'csv')
    assert done.returncode == 1
    assert ' failed' in line(done)
    (row,) = (r for r in done.stdout.splitlines() if r.startswith('"CA004'))
    assert 'failed' in row
    assert 'the second cycle' in row
    assert done.stdout.count('"failed"') == 1
    assert 'the check met what breaks CA004: see there' in done.stdout


def test_an_unknown_driver_is_one_line(run):
    said = line(run('driver', 'check', 'shelve'))
    assert "no driver 'shelve' is installed (did you mean 'shelf'?)" in said


def test_a_world_that_cannot_be_made_is_one_line(run):
    assert line(run('driver', 'check', 'nowhere')) == (
        'compute-agent: driver nowhere cannot be checked: OSError: the rack '
        'is not plugged in'
    )


def test_a_driver_that_is_refused_is_one_line(run):
    said = line(run('driver', 'check', 'refused'))
    assert said == 'compute-agent: shelves of this year are not supported'


def test_a_thread_that_was_left_does_not_keep_the_command(run):
    said = line(run('driver', 'check', 'thread'))
    assert said.endswith('the rack is not plugged in')


@pytest.mark.parametrize(
    ('number', 'code'), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_ends_the_check_in_silence(run, tmp_path, number, code):
    folder = tmp_path / 'temporary'
    folder.mkdir()
    done = run(
        *('driver', 'check', 'signalled'),
        more={'SIGNAL': str(int(number)), 'TMPDIR': str(folder)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, '', '')
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ('by', 'how'), [('0', 'with exit code 0'), ('11', 'by SIGSEGV')]
)
def test_a_driver_that_ends_its_process_is_one_line(run, tmp_path, by, how):
    file = tmp_path / 'driver-check.json'
    done = run(
        *('driver', 'check', 'ending', '--json', str(file)),
        more={'ENDS_BY': by},
    )
    assert done.returncode == 1
    # Python itself tells of a crash before, and may end within a line.
    *_, last = done.stderr.splitlines()
    _, found, said = last.partition('compute-agent: ')
    assert found
    assert said.startswith(
        f'driver ending ended the process that checked it, {how}, at CA003 '
        '(One cycle brings '
    )
    assert done.stdout == ''
    assert not file.exists()


def test_a_file_that_cannot_be_written_is_said_first(run, tmp_path):
    for name, why in {
        str(tmp_path): 'it is a folder',
        f'{tmp_path}/no/report.json': 'No such file or directory',
    }.items():
        said = line(run('driver', 'check', 'nowhere', '--json', name))
        assert said == (
            f'compute-agent: --json: {name} cannot be written: {why}'
        )


@pytest.fixture
def checked(monkeypatch):
    """Let the check end with one rule."""
    row = {'number': 'CA001', 'title': 'A', 'status': 'passed', 'reason': ''}
    report = {
        'contract': '1',
        'result': {'failed': 0, 'not tried': 0},
        'rules': [row],
    }
    monkeypatch.setattr(
        driver_check.DriverCheck, '_checked', lambda *_: report
    )
    return report


@pytest.mark.usefixtures('checked')
def test_the_table_is_printed_though_the_file_cannot_be_written(capsys):
    code = main.main(
        ['driver', 'check', 'fake', '-f', 'csv', '--json', '/dev/full']
    )
    printed = capsys.readouterr()
    assert code == 1
    assert '"CA001","A","passed",""' in printed.out
    assert '/dev/full cannot be written: No space left' in printed.err


def test_the_file_is_replaced_as_a_whole(checked, tmp_path):
    file, name = tmp_path / 'report.json', tmp_path / 'name'
    file.write_text('old')
    name.symlink_to(file)
    with file.open() as before:
        assert main.main(['driver', 'check', 'fake', '--json', str(name)]) == 0
        assert before.read() == 'old'
    assert json.loads(file.read_text()) == checked
    assert name.is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {'report.json', 'name'}


def test_a_wrong_seam_is_one_line(run):
    said = line(run('driver', 'check', 'misnamed'))
    assert ' cannot be checked: CA001 ' in said
    assert said.endswith("did you mean 'listdir'?")
    done = run('--compute-driver=misnamed', '-k', 'CA001', program=PYTEST)
    assert "did you mean 'listdir'?" in done.stdout
    assert 'During handling' not in done.stdout


@pytest.mark.parametrize('more', [(), ('-n2',)])
@pytest.mark.parametrize(
    ('name', 'why'),
    [('nosuch', "no driver 'nosuch' is installed"), ('', 'give the name')],
)
def test_pytest_refuses_a_driver_that_is_not_there(run, name, why, more):
    done = run(f'--compute-driver={name}', *more, program=PYTEST)
    assert done.returncode == 4, done.stdout
    assert why in done.stderr


def test_a_contract_that_is_no_contract_class_is_one_line(run):
    said = line(run('driver', 'check', 'nothing'))
    assert 'name a subclass of compute_agent.testing.DriverContract' in said


def test_a_contract_of_another_driver_is_one_line(run):
    said = line(run('driver', 'check', 'other'))
    assert "has the driver 'shelf': write \"driver = 'other'\" in it" in said


def test_a_contract_with_tests_of_its_own_proves_nothing(run):
    said = line(run('driver', 'check', 'generous'))
    assert 'overrides test_rule' in said


def test_each_rule_runs_once_for_a_proof(run):
    said = line(run('driver', 'check', 'lazy'))
    assert 'ran CA001 0 times and not once' in said


def test_the_proof_has_each_rule_whatever_the_options_of_pytest(run):
    done = run(
        *('driver', 'check', 'shelf', '-f', 'json'),
        more={'PYTEST_ADDOPTS': '-k CA001'},
    )
    assert done.returncode == 1
    assert [row['Rule'] for row in json.loads(done.stdout)] == list(
        catalogue.BY_NUMBER
    )


def test_without_the_extra_the_line_says_what_to_install(run):
    said = line(
        run(
            *('driver', 'check', 'shelf'),
            before="sys.modules['pytest'] = None; ",
        )
    )
    assert 'needs pytest: install the agent with [testing]' in said


@pytest.mark.parametrize(
    'words', [('driver', 'check', '--help'), ['complete']]
)
def test_without_the_extra_the_program_still_tells_of_itself(run, words):
    done = run(*words, before="sys.modules['pytest'] = None; ")
    assert (done.returncode, done.stderr) == (0, '')
    assert 'allow-untried' in done.stdout


def test_an_order_that_depends_on_the_hash_seed_is_found(run):
    done = run('--compute-driver=ragged', '-k', 'CA016', program=PYTEST)
    assert done.returncode == 1, done.stdout
    assert 'in two processes with other hash seeds' in done.stdout


def test_pytest_checks_an_installed_driver_by_name(run):
    done = run(
        *('--compute-driver=shelf', '-q', '-k', 'CA004 or CA026'),
        program=PYTEST,
    )
    assert done.returncode == 0, done.stdout
    assert '2 passed' in done.stdout
    done = run('--compute-driver=moody', program=PYTEST)
    assert done.returncode == 4
    assert 'name the contract class of the driver in one' in done.stderr
