# SPDX-License-Identifier: Apache-2.0
"""Rows hold plain values; each format prints them in its way."""

import io
import json

import pytest
import yaml

from compute_agent.cmd import listing, main

ROWS = [('one', None, ['A', 'B'], 1), ('two\x1b[2J', 'x', (), 2)]


class Things(listing.Listing):
    """List two things."""

    COLUMNS = ('Name', 'Parent', 'Some Traits', 'Count')

    def rows(self, parsed_args):
        return ROWS, 'two of them', 2


@pytest.fixture
def printed():
    """Run the command; return exit code, stdout and stderr."""

    def run(*words):
        options = main.GlobalOptions(
            config_files=(), config_dirs=(), debug=False
        )
        app = main.ComputeAgent(options)
        app.stdout, app.stderr = io.StringIO(), io.StringIO()
        command = Things(app, None)
        code = command.run(command.get_parser('things').parse_args(words))
        return code, app.stdout.getvalue(), app.stderr.getvalue()

    return run


def test_what_is_said_goes_to_stderr_and_the_code_is_the_command_s(printed):
    code, out, err = printed('-f', 'value')
    assert (code, err) == (2, 'compute-agent: two of them\n')
    assert 'two of them' not in out


def test_programs_get_null_and_arrays(printed):
    names = Things.COLUMNS
    rows = [
        dict(zip(names, ('one', None, ['A', 'B'], 1), strict=True)),
        dict(zip(names, ('two\x1b[2J', 'x', [], 2), strict=True)),
    ]
    assert json.loads(printed('-f', 'json')[1]) == rows
    assert yaml.safe_load(printed('-f', 'yaml')[1])[0] == rows[0]


def test_lines_get_nothing_and_commas(printed):
    lines = printed('-f', 'csv')[1].splitlines()
    assert lines[:2] == [
        '"Name","Parent","Some Traits","Count"',
        '"one","","A,B",1',
    ]
    assert printed('-f', 'value')[1].splitlines()[0] == 'one  A,B 1'


def test_people_get_names_below_each_other_and_no_escape_sequence(printed):
    out = printed()[1]
    cells = [
        [cell.strip() for cell in line.strip('|').split('|')]
        for line in out.splitlines()
        if line.startswith('|')
    ]
    assert cells[1:3] == [['one', '', 'A', '1'], ['', '', 'B', '']]
    assert cells[3] == [r'two\x1b[2J', 'x', '', '2']
    assert '\x1b' not in out


def test_columns_are_chosen_and_sorted_by_name(printed):
    words = ('-c', 'some_traits', '-c', 'count', '--sort-column', 'count')
    out = printed(*words, '--sort-descending', '-f', 'value')[1]
    assert out == ' 2\nA,B 1\n'


def test_a_column_that_is_none_is_one_line(printed):
    code, out, err = printed('-c', 'Traits')
    assert (code, out) == (1, '')
    assert "no column 'Traits' here; there are Name, Parent, Some" in err
