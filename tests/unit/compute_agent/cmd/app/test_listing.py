# SPDX-License-Identifier: Apache-2.0
"""Rows hold plain values; each format prints them in its way."""

import errno
import io
import json

import pytest
import yaml

from compute_agent.cmd.app import command, listing, main, output

ROWS = [('one', None, ['A', 'B'], 1), ('two\x1b[2J', 'x', (), 2)]


class FullDisk(io.StringIO):
    """A file on a disk that is full."""

    def write(self, text):
        raise OSError(errno.ENOSPC, 'No space left on device')


class Things(listing.Listing):
    """List two things."""

    COLUMNS = ('Name', 'Parent', 'Some Traits', 'Count')
    ROWS = ROWS

    def rows(self, parsed_args):
        return self.ROWS, 'two of them', 2


@pytest.fixture
def printed():
    """Run the command; return exit code, stdout and stderr."""

    def run(*words, kind=Things, out=None):
        options = main.GlobalOptions(
            config_files=(), config_dirs=(), debug=False
        )
        app = main.ComputeAgent(options)
        app.stdout, app.stderr = out or io.StringIO(), io.StringIO()
        asked = kind(app, None)
        code = asked.run(asked.get_parser('things').parse_args(words))
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
    assert "no column 'Traits'; the columns are Name, Parent, Some" in err


class NoThings(Things):
    """List nothing."""

    ROWS = ()


class Thing(command.Report):
    """Report one thing."""

    def report(self, parsed_args):
        return {'name': 'a\nb'}, 'a\x1b\nΩ', 0


class Unreadable(command.Report):
    """Read a file that cannot be read."""

    def report(self, parsed_args):
        raise PermissionError(errno.EACCES, 'Permission\x1b denied')


@pytest.mark.parametrize('form', ['csv', 'value'])
def test_lines_have_no_escape_sequence_either(printed, form):
    out = printed('-f', form)[1]
    assert r'two\x1b[2J' in out.replace('\\\\', '\\')  # CSV doubles it
    assert '\x1b' not in out


def test_yaml_has_the_columns_in_their_order_and_letters_as_they_are(printed):
    class Letters(Things):
        """List a letter."""

        ROWS = (('Ω', None, [], 1),)

    out = printed('-f', 'yaml', kind=Letters)[1]
    assert [
        line.strip('- ').partition(':')[0] for line in out.splitlines()
    ] == list(Things.COLUMNS)
    assert 'Name: Ω' in out


def test_an_empty_table_is_nothing_unless_it_is_wanted(printed):
    assert printed(kind=NoThings)[1] == ''
    assert '| Name |' in printed('--print-empty', kind=NoThings)[1]
    assert json.loads(printed('-f', 'json', kind=NoThings)[1]) == []
    assert yaml.safe_load(printed('-f', 'yaml', kind=NoThings)[1]) == []


def test_a_report_has_lines_and_no_escape_sequence(printed):
    assert printed(kind=Thing)[1] == 'a\\x1b\nΩ\n'
    assert json.loads(printed('-f', 'json', kind=Thing)[1])['name'] == 'a\nb'


@pytest.mark.parametrize('kind', [Things, Thing])
@pytest.mark.parametrize('form', ['json', 'yaml'])
def test_a_full_disk_is_one_line(printed, kind, form):
    code, _, err = printed('-f', form, kind=kind, out=output.Out(FullDisk()))
    assert code == 1
    assert err.endswith(
        'compute-agent: cannot write: No space left on device\n'
    )


def test_a_file_that_cannot_be_read_is_no_full_disk(printed):
    code, out, err = printed(kind=Unreadable)
    assert (code, out) == (1, '')
    assert 'unexpected PermissionError' in err
    assert r'Permission\x1b denied' in err
