# SPDX-License-Identifier: Apache-2.0
"""The command line: what it writes, and where.

White-box: one test calls the private signal handler, because a signal would end
the test run.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import __main__ as command
from benchmarks.sync_cycles import (
    agents,
    machine,
    measurement,
    options,
    scenarios,
)

ROOT = pathlib.Path(agents.__file__).parents[2]
FLAT_1 = ['--nodes', '1', '--shapes', 'flat', '--repeats', '1']


@pytest.fixture(autouse=True)
def _handlers_stay(monkeypatch):
    """The handlers of the process that runs the tests stay as they are."""
    monkeypatch.setattr(command, '_end_in_order', lambda: None)


def test_tables_and_plot_are_made_again_from_results(tmp_path):
    file = tmp_path / '2026-01-02.json'
    results = made.results(made.measured(), made.nova())
    file.write_text(json.dumps(results.data()))
    assert command.main(['--render', str(file)]) == 0
    tables = file.with_suffix('.md').read_text()
    assert '](2026-01-02.svg)' in tables
    assert '100 nodes' in file.with_suffix('.svg').read_text()
    assert json.loads(file.read_text()) == results.data()


def test_an_earlier_run_of_the_day_is_not_written_over(tmp_path):
    folder = tmp_path / 'results'
    first = command.new_path(folder)
    first.touch()
    second = command.new_path(folder)
    second.touch()
    assert second.name == f'{first.stem}-2.json'
    assert command.new_path(folder).name == f'{first.stem}-3.json'


@pytest.mark.parametrize(
    ('option', 'value', 'said'),
    [
        ('--databases', 'mysql', 'not one of postgresql, sqlite'),
        ('--nodes', 'many', "numbers of at least 1, .* not 'many'"),
        ('--nodes', '1,', 'numbers of at least 1'),
        ('--nodes', '0', 'numbers of at least 1'),
        ('--repeats', '0', 'number of at least 1'),
        ('--repeats', '1,2', 'number of at least 1'),
        (
            '--shapes',
            'flat,round',
            "'round' is not one of flat, nested, crowded",
        ),
        ('--add-to', '/no/such.json', 'is not a results file'),
        ('--render', '/no/such.json', 'is not a results file'),
    ],
)
def test_what_cannot_be_measured_is_refused(option, value, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main([option, value])
    assert ended.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.search(f'{option}: .*{said}', last)


def test_what_is_measured_can_be_chosen():
    words = '--nodes 1,20 --shapes nested,flat --databases sqlite --repeats 2'
    asked = options.parser().parse_args(words.split())
    assert (asked.nodes, asked.repeats) == ([1, 20], 2)
    assert asked.shapes == [scenarios.Shape.NESTED, scenarios.Shape.FLAT]
    assert asked.databases == ['sqlite']


def test_everything_is_measured_unless_less_is_asked_for():
    asked = options.parser().parse_args([])
    assert asked.shapes == list(scenarios.Shape)
    assert asked.databases == ['postgresql']
    assert max(asked.nodes) == 10_000


@pytest.mark.parametrize(
    'text',
    ['', '{', '[]', '{}', '{"machine": 1, "measurements": [{"place": 1}]}'],
)
@pytest.mark.parametrize('option', ['--add-to', '--render'])
def test_what_is_no_results_file_is_one_line(tmp_path, text, option):
    file = tmp_path / 'results.json'
    file.write_text(text)
    with pytest.raises(SystemExit, match='is not a results file') as ended:
        command.main([option, str(file)])
    assert '\n' not in str(ended.value.code)
    assert file.read_text() == text


def test_results_go_into_a_directory(tmp_path):
    file = tmp_path / 'file'
    file.touch()
    with pytest.raises(SystemExit, match='file cannot be a directory'):
        command.main(['--results', str(file)])


@pytest.fixture
def bench(monkeypatch):
    """What the next groups come to: a measurement, or why they failed."""
    comes_to = []

    class Bench:
        def measured(self, _group):
            one = comes_to.pop(0)
            if isinstance(one, Exception):
                raise one
            yield one

    monkeypatch.setattr(
        command, '_bench', lambda *_: contextlib.nullcontext(Bench())
    )
    return comes_to


def add_to(file):
    return command.main([*FLAT_1, '--add-to', str(file)])


@pytest.fixture
def commit(monkeypatch):
    """Set what is measured now."""

    def set_to(name):
        monkeypatch.setattr(machine, '_commit', lambda: name)

    set_to('0123abc')
    return set_to


@pytest.fixture
def earlier(tmp_path, commit):
    """The file of a run that was measured here and now."""
    file = tmp_path / '2026-01-02.json'
    before = made.results(made.measured())
    before.machine = machine.described()
    file.write_text(json.dumps(before.data()))
    return file


@pytest.mark.parametrize('name', ['commit', 'machine', 'Python'])
def test_to_what_was_measured_elsewhere_nothing_is_added(earlier, name):
    data = json.loads(earlier.read_text())
    data['machine'][name] = 'another'
    earlier.write_text(json.dumps(data))
    with pytest.raises(SystemExit, match=f'{name} was another, and is'):
        add_to(earlier)
    assert json.loads(earlier.read_text()) == data


@pytest.mark.parametrize('now', ['0123abc-dirty', 'unknown'])
def test_what_is_no_commit_is_added_to_nothing(earlier, commit, now):
    """Not even to what was measured of the like."""
    data = json.loads(earlier.read_text())
    data['machine']['commit'] = now
    earlier.write_text(json.dumps(data))
    commit(now)
    with pytest.raises(SystemExit, match=f'is not a commit .{now}'):
        add_to(earlier)


def test_a_peer_that_is_not_there_any_more_is_another_run(earlier):
    data = json.loads(earlier.read_text())
    data['machine']['a peer'] = '34.0.0'
    earlier.write_text(json.dumps(data))
    with pytest.raises(SystemExit, match='peer was 34.0.0, and is unknown'):
        add_to(earlier)


def test_both_begins_are_kept(bench, earlier):
    bench += [made.nova(), made.measured()]
    before = json.loads(earlier.read_text())['machine']
    add_to(earlier)
    after = json.loads(earlier.read_text())['machine']
    assert after['begun'].startswith(f'{before["begun"]}; ')
    assert after['commit'] == before['commit']


def test_a_group_that_failed_once_and_not_again_is_measured(bench, earlier):
    bench += [agents.Failed('it ended'), made.measured()]
    assert add_to(earlier) == 1
    assert 'Not measured' in earlier.with_suffix('.md').read_text()
    bench += [made.nova(), made.measured()]
    assert add_to(earlier) == 0
    assert 'Not measured' not in earlier.with_suffix('.md').read_text()


@pytest.mark.parametrize('name', ['SIGINT', 'SIGTERM', 'SIGHUP'])
@pytest.mark.parametrize('is_ignored', [False, True])
def test_whatever_ends_it_leaves_nothing_and_no_traceback(name, is_ignored):
    """What was begun is undone; what was to be ignored is ignored."""
    program = textwrap.dedent(
        f"""
        import contextlib, os, signal
        from benchmarks.sync_cycles import __main__ as command
        if {is_ignored}:
            signal.signal(signal.{name}, signal.SIG_IGN)
        command._end_in_order()
        with contextlib.ExitStack() as undo:
            undo.callback(print, 'undone', flush=True)
            if not {is_ignored}:  # a second one, in the middle of it
                undo.callback(os.kill, os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.{name})
            print('went on')
        """
    )
    ended = subprocess.run(
        [sys.executable, '-c', program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )
    number = 0 if is_ignored else 128 + getattr(signal, name)
    said = 'went on\nundone\n' if is_ignored else 'undone\n'
    assert (ended.returncode, ended.stdout, ended.stderr) == (number, said, '')


def test_a_run_goes_on_with_earlier_results(tmp_path, bench, earlier):
    bench += [made.nova(), made.nova()]
    before = measurement.Results.parsed(json.loads(earlier.read_text()))
    assert add_to(earlier) == 0
    after = measurement.Results.parsed(json.loads(earlier.read_text()))
    assert after.measurements[: len(before.measurements)] == (
        before.measurements
    )
    assert made.nova() in after.measurements
    assert list(tmp_path.glob('*.json')) == [earlier]
