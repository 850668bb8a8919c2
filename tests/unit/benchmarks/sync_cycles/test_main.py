# SPDX-License-Identifier: Apache-2.0
"""The command line: what it writes, and where."""

import contextlib
import json
import re

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import __main__ as command
from benchmarks.sync_cycles import measurement, options, scenarios


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
        ('--databases', 'mysql', 'none of postgresql, sqlite'),
        ('--nodes', 'many', "numbers from 1 .* not 'many'"),
        ('--nodes', '1,', 'numbers from 1'),
        ('--nodes', '0', 'numbers from 1'),
        ('--repeats', '0', 'number from 1'),
        ('--repeats', '1,2', 'number from 1'),
        ('--shapes', 'flat,round', "'round' is none of flat, nested, crowded"),
        ('--add-to', '/no/such.json', 'is no results file'),
        ('--render', '/no/such.json', 'is no results file'),
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


def test_a_run_goes_on_with_earlier_results(tmp_path, monkeypatch):
    file = tmp_path / '2026-01-02.json'
    before = made.results(made.measured())
    file.write_text(json.dumps(before.data()))
    monkeypatch.setattr(command, '_bench', lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(
        command,
        '_measure',
        lambda _on, _group, results: results.measurements.append(made.nova()),
    )
    words = ['--nodes', '1', '--shapes', 'flat', '--repeats', '1', '--add-to']
    assert command.main([*words, str(file)]) == 0
    after = measurement.Results.parsed(json.loads(file.read_text()))
    assert after.measurements[: len(before.measurements)] == (
        before.measurements
    )
    assert made.nova() in after.measurements
    assert list(tmp_path.glob('*.json')) == [file]
