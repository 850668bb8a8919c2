# SPDX-License-Identifier: Apache-2.0
"""Names with escape sequences: no output and no log line has one raw."""

import json
import logging

import pytest
import yaml
from agents import NODE

from compute_agent import errors
from compute_agent.cmd.app import command, plain_text
from compute_agent.tree import node, provider
from report_client import errors as placement_errors

CHILD = '22222222-2222-4222-8222-222222222222'
NAMES = {
    'escape': 'esc\x1b[2Jape',
    'newline': 'new\n2026-01-01 ERROR line',
    'C1': 'c1\x9b31m\x85',
    'right to left': 'rtl\u202e\u2066',
    'zero width': 'zero\u200b\ufeffwidth',
    'tag': 'tag\U000e0041',
}


@pytest.fixture(params=NAMES)
def name(request):
    return NAMES[request.param]


def is_plain(text):
    return all(line.isprintable() for line in text.split('\n'))


def test_a_title_is_printable(name):
    called = (
        str(provider.Provider(uuid=NODE, name=name)),
        str(node.Node(uuid=NODE, name='x', title=name)),
        provider.title(name, NODE),
        str(placement_errors.Exists(name, NODE)),
        str(placement_errors.Answer(status=500, detail=name, request_id=name)),
    )
    for title in called:
        assert title.isprintable(), title


def test_half_a_character_is_escaped_too():
    assert provider.title('half \ud800', NODE) == f'half \\ud800 ({NODE})'


ALL = ' '.join(NAMES.values())


@pytest.fixture
def named(cli):
    """A cloud whose node has a child of another with all such names."""
    assert cli.run('sync').code == 0
    cli.others.create(CHILD, ALL, NODE)
    return cli


COMMANDS = [
    ['tree', 'show'],
    ['plan'],
    ['sync'],
    ['resource', 'provider', 'list'],
    ['resource', 'provider', 'trait', 'list', CHILD],
    ['resource', 'provider', 'adopt', CHILD],
    ['resource', 'provider', 'delete', CHILD],
]


@pytest.mark.catches('names are printed as a server gave them')
def test_no_output_has_it_raw(named):
    for words in COMMANDS[:-2]:
        for form in ([], ['-f', 'json'], ['-f', 'yaml']):
            result = named.run(*words, *form)
            assert is_plain(result.out), words
            assert is_plain(result.err), words
    shown = named.run('tree', 'show', '-f', 'json')
    children = shown.data[0]['providers'][1:]
    assert [child['name'] for child in children] == [ALL]
    told = yaml.safe_load(named.run('tree', 'show', '-f', 'yaml').out)
    assert told == shown.data
    for words in COMMANDS[-2:]:
        result = named.run(*words)
        assert is_plain(result.out + result.err), words


def test_data_keeps_its_value(name):
    data = {'names': [name, 'Ω', '\U0001f600'], name: None}
    assert is_plain(command.as_json(data))
    assert json.loads(command.as_json(data)) == data
    assert is_plain(command.as_yaml(data))
    assert yaml.safe_load(command.as_yaml(data)) == data
    assert 'Ω' in command.as_json(['Ω'])
    assert 'Ω' in command.as_yaml(['Ω'])


@pytest.mark.parametrize('as_argument', [True, False])
def test_a_log_line_is_one_line(name, as_argument):
    said = ('%s', (name,)) if as_argument else (name.replace('%', ''), ())
    record = logging.LogRecord('x', logging.INFO, 'x', 1, *said, None)
    assert plain_text.PlainText().filter(record)
    assert record.getMessage().isprintable()


@pytest.mark.catches('messages show passwords of URLs')
def test_a_log_line_has_no_password_of_a_url():
    said = 'GET http://user:s3cret@of@host/x?y=1 and //a:b@c'
    record = logging.LogRecord('x', logging.INFO, 'x', 1, said, (), None)
    plain_text.PlainText().filter(record)
    assert record.getMessage() == 'GET http://host/x?y=1 and //c'


def test_a_log_call_with_wrong_arguments_is_left_to_logging():
    record = logging.LogRecord('x', logging.INFO, 'x', 1, '%d', ('x',), None)
    assert plain_text.PlainText().filter(record)


def test_the_daemon_logs_it_escaped(named, daemon):
    """It says that a provider that it had seen is gone."""
    assert named.run('sync').code == 0
    named.others.delete(CHILD)
    started = daemon(named.config)
    started.wait_for('gone from placement: ')
    started.end()
    assert is_plain(started.said)
    assert provider.title(ALL, CHILD) in started.said


def test_an_error_keeps_its_text():
    assert str(errors.ConfigError('[x] Ω')) == '[x] Ω'
