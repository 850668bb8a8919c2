# SPDX-License-Identifier: Apache-2.0
"""Every mistake is one line that says what to change, exit 1, no write."""

import pytest

from compute_agent.cmd.app import main


@pytest.fixture
def nothing_written(cli):
    """Whatever the test did, placement has no provider afterwards."""
    yield
    answer = cli.placement('/resource_providers')
    assert answer['resource_providers'] == []


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize('command', ['plan', 'sync', 'run'])
def test_an_unknown_driver_names_those_installed(cli, command):
    cli.configure(compute_driver='vmware')
    result = cli.run(command)
    assert result.code == 1
    assert "no driver 'vmware' is installed" in result.line
    assert 'fake, fake.FakeDriver, ironic' in result.line


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize(
    ('option', 'value', 'said'),
    [
        ('reserved_host_cpus', -1, 'greater than or equal to 0'),
        ('cpu_allocation_ratio', 'much', 'cpu_allocation_ratio'),
        ('update_resources_interval', -5, 'update_resources_interval'),
    ],
)
def test_an_option_out_of_range_is_named_with_its_file(
    cli, option, value, said
):
    cli.configure(**{option: value})
    result = cli.run('sync')
    assert result.code == 1
    assert said in result.line
    assert str(cli.config) in result.line


@pytest.mark.usefixtures('nothing_written')
def test_a_state_path_that_cannot_be_written_is_named(cli):
    blocked = cli.folder / 'file'
    blocked.write_text('')
    cli.configure(state_path=blocked / 'state')
    result = cli.run('sync')
    assert result.code == 1
    assert '[DEFAULT] state_path' in result.line


@pytest.mark.usefixtures('nothing_written')
def test_a_missing_configuration_file_is_named(cli):
    cli.config.unlink()
    result = cli.run('plan')
    assert result.code == 1
    assert result.line.endswith(f'no such configuration file: {cli.config}')


@pytest.mark.usefixtures('nothing_written')
def test_a_malformed_fake_file_is_named_with_its_line(cli):
    cli.fake_file.write_text('nodes:\n  - name: cn1\n    trait: [X]\n')
    result = cli.run('sync')
    assert result.code == 1
    assert f'{cli.fake_file}:3: ' in result.line


def test_an_unreachable_placement_is_one_line(cli, unused_port):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    for command in ('plan', 'sync', 'tree show'):
        result = cli.run(*command.split())
        assert result.code == 1
        assert 'cannot be reached (Connection refused)' in result.line


@pytest.mark.usefixtures('nothing_written')
def test_a_wrong_token_says_which_role_is_needed(cli):
    cli.configure({'token': 'somebody'})
    result = cli.run('sync')
    assert result.code == 1
    assert 'HTTP 403' in result.line
    assert 'role admin or service' in result.line


@pytest.mark.usefixtures('nothing_written')
def test_without_an_auth_type_the_line_says_what_to_write(cli):
    cli.configure({'auth_type': None})
    result = cli.run('sync')
    assert result.code == 1
    assert '[placement] auth_type is not set' in result.line


def test_keystone_away_or_no_keystone_is_one_line(cli, unused_port):
    cli.configure(
        {
            'auth_type': 'password',
            'auth_url': f'http://127.0.0.1:{unused_port}/v3',
            'username': 'agent',
            'password': 'secret',
            'endpoint': None,
            'token': None,
        }
    )
    result = cli.run('sync')
    assert result.code == 1
    refused = f'Connection refused at http://127.0.0.1:{unused_port}'
    assert refused in result.line
    assert 'secret' not in result.line


def test_a_placement_that_is_too_old_is_said(cli, requests_mock):
    body = {
        'errors': [
            {
                'status': 406,
                'title': 'Not Acceptable',
                'detail': 'Unacceptable version header: 1.39',
                'max_version': '1.29',
                'min_version': '1.0',
            }
        ]
    }
    requests_mock.get(
        f'{cli.url}/resource_providers', json=body, status_code=406
    )
    result = cli.run('sync')
    assert result.code == 1
    assert 'has API version 1.29' in result.line
    assert 'needs 1.30 or newer' in result.line
    assert {r.method for r in requests_mock.request_history} == {'GET'}


_BELOW_ZERO = {
    'uuid': 'dddddddd-dddd-4ddd-8ddd-dddddddddddd',
    'name': 'n',
    'generation': -5,
    'parent_provider_uuid': None,
    'root_provider_uuid': 'dddddddd-dddd-4ddd-8ddd-dddddddddddd',
}


@pytest.mark.parametrize(
    ('answer', 'said'),
    [
        ({'text': '<html>hello</html>'}, 'answer is not JSON'),
        ({'text': '{"resource_providers": [{"uuid'}, 'answer is not JSON'),
        ({'text': '[' * 200_000}, 'answer is not JSON'),
        ({'json': {'providers': []}}, 'not have the documented shape'),
        ({'json': {'resource_providers': [_BELOW_ZERO]}}, 'is below 0'),
        (
            {'json': {'resource_providers': [{'uuid': 5}]}},
            'not have the documented shape',
        ),
        ({'json': []}, 'not have the documented shape'),
        ({'text': ''}, 'not have the documented shape'),
        ({'status_code': 500, 'text': 'oops'}, 'HTTP 500'),
        ({'status_code': 503, 'text': ''}, 'HTTP 503'),
        ({'status_code': 404, 'text': 'nothing here'}, 'HTTP 404'),
    ],
)
def test_an_answer_that_makes_no_sense_is_one_line_and_no_write(
    cli, requests_mock, answer, said
):
    requests_mock.get(f'{cli.url}/resource_providers', **answer)
    result = cli.run('sync')
    assert result.code == 1
    assert said in result.line
    assert {r.method for r in requests_mock.request_history} == {'GET'}


@pytest.mark.parametrize(
    'words',
    [
        ['plann'],
        ['plan', '--nope'],
        ['plan', '-f', 'xml'],
        ['tree', 'show', '--config-fil', 'x'],
        ['--config-file'],
    ],
)
def test_a_mistyped_command_line_exits_1_not_2(words, capsys):
    assert main.main(words) == 1
    assert 'Traceback' not in capsys.readouterr().err


def test_an_unknown_node_is_named(cli):
    result = cli.run('tree', 'show', 'cn9')
    assert result.code == 1
    assert 'no node cn9' in result.line
