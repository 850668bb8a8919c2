# SPDX-License-Identifier: Apache-2.0
"""Every mistake is one line that says what to change, exit 1, no write."""

import errno

import pytest
import requests
import requests_mock as requests_mock_api

from compute_agent.cmd.app import main


@pytest.fixture
def nothing_written(cli):
    """Whatever the test did, placement has no provider afterwards."""
    yield
    assert cli.providers() == {}


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize('command', ['plan', 'sync', 'run'])
def test_an_unknown_driver_names_those_installed(cli, command):
    cli.configure(compute_driver='vmware')
    result = cli.run(command)
    assert result.code == 1
    assert "no driver 'vmware' is installed" in result.line
    assert 'fake, fake.FakeDriver, host, ironic' in result.line


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
    assert result.line == (
        'compute-agent: no token for placement: keystone at '
        f'http://127.0.0.1:{unused_port}/v3 cannot be reached (Connection '
        'refused): check that it runs, and auth_url in [placement]'
    )


PASSWORD = {
    'auth_type': 'password',
    'auth_url': 'http://keystone.test/v3',
    'username': 'agent',
    'password': 'secret',
    'endpoint': None,
    'token': None,
}


def test_a_user_without_a_project_gets_no_catalog_and_is_told(
    cli, requests_mock
):
    requests_mock.get('http://keystone.test/v3', status_code=404)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens',
        status_code=201,
        headers={'X-Subject-Token': 'unscoped'},
        json={
            'token': {
                'methods': ['password'],
                'user': {'id': 'a', 'name': 'agent', 'domain': {'id': 'd'}},
                'issued_at': '2026-01-01T00:00:00.000000Z',
                'expires_at': '2036-01-01T00:00:00.000000Z',
                'audit_ids': ['x'],
            }
        },
    )
    unscoped = {**PASSWORD, 'user_domain_name': 'Default', 'project_name': ''}
    cli.configure(unscoped)
    assert 'set project_name and project_domain_name' in cli.run('plan').line
    scoped = {**unscoped, 'project_name': 'service', 'project_domain_id': 'd'}
    cli.configure(scoped)
    line = cli.run('plan').line
    assert 'check region_name, valid_interfaces and service_type' in line


def test_a_keystone_that_answers_with_an_error_is_named(cli, requests_mock):
    requests_mock.get('http://keystone.test/v3', status_code=503)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens', status_code=503, text='down'
    )
    cli.configure({**PASSWORD, 'project_name': 'service'})
    line = cli.run('plan').line
    assert 'keystone at http://keystone.test/v3 cannot be reached' in line
    assert 'HTTP 503' in line


@pytest.mark.parametrize('path', ['/', '/v3', '/v3/', '/identity'])
def test_a_keystone_that_asks_for_a_token_before_it_gives_one_is_named(
    cli, requests_mock, path
):
    """keystoneauth would wait for ever for the lock that it holds."""
    requests_mock.get(requests_mock_api.ANY, status_code=401)
    requests_mock.post(requests_mock_api.ANY, status_code=401)
    url = f'http://keystone.test{path}'
    cli.configure({**PASSWORD, 'auth_url': url, 'project_name': 'service'})
    line = cli.run('plan').line
    assert line.startswith('compute-agent: no token for placement: ')
    if path.startswith('/v3'):  # the address tells the version
        assert 'Unauthorized (HTTP 401); the user agent' in line
    else:
        assert f'keystone at {url} cannot be reached' in line
        assert f'GET {url} needs a token (HTTP 401)' in line


def test_a_keystone_whose_discovery_needs_a_token_gives_one_at_v3(
    cli, requests_mock
):
    requests_mock.get('http://keystone.test/v3', status_code=401)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens',
        status_code=201,
        json=GOOD,
        headers=TOKEN,
    )
    cli.configure({**PASSWORD, 'project_name': 'service'})
    assert 'no endpoint for placement in the catalog' in cli.run('plan').line


@pytest.mark.parametrize('cafile', [None, 'ca.pem'])
def test_a_certificate_that_is_refused_names_the_cafile(
    cli, requests_mock, cafile
):
    bundle = cli.folder / 'ca.pem'
    bundle.write_text('')
    why = (
        "HTTPSConnectionPool(host='placement.test', port=443): Max retries "
        'exceeded with url: / (Caused by SSLError(SSLCertVerificationError(1, '
        "'[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
        "self-signed certificate (_ssl.c:1006)')))"
    )
    requests_mock.get(
        'https://placement.test/resource_providers',
        exc=requests.exceptions.SSLError(why),
    )
    cli.configure(
        {
            'endpoint': 'https://placement.test',
            'cafile': cafile and str(bundle),
        }
    )
    named = f'{bundle}; ' if cafile else 'not set; '
    assert cli.run('plan').line == (
        'compute-agent: the certificate of placement at '
        'https://placement.test is refused (certificate verify failed: '
        f'self-signed certificate): [placement] cafile is {named}set it to '
        'the file of the authority that signed the certificate'
    )


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (
            {'valid_interfaces': 'internl'},
            "[placement]: 'internl' is not a valid value for valid_interfaces",
        ),
        (
            {'cafile': '/no/such'},
            '[placement] cafile: /no/such cannot be read: No such file',
        ),
        (
            {'certfile': '/no/such'},
            '[placement] certfile: /no/such cannot be read: No such file',
        ),
        (
            {'auth_type': 'pasword'},
            (
                "[placement] auth_type: keystoneauth has no plugin 'pasword'; did "
                'you mean password'
            ),
        ),
        (
            {**PASSWORD, 'password': None},
            '[placement] password is not set',
        ),
        (
            {'endpoint': 'http://a:b@127.0.0.1:99999/'},
            '[placement] endpoint is not an address, for its host or port cannot',
        ),
        (
            {'endpoint': '127.0.0.1:8778'},
            "[placement] endpoint '127.0.0.1:8778' is not an address",
        ),
        # A whole number, says keystoneauth before 5.12.
        ({'timeout': 'ten'}, "is not valid: 'ten' is not a "),
        (
            {**PASSWORD, 'password': 'pa$word'},
            'agent.conf has a "$", and what follows it is not the name of',
        ),
    ],
)
def test_a_wrong_option_of_placement_is_one_line(cli, options, said):
    cli.configure(options)
    result = cli.run('plan')
    assert result.code == 1
    assert said in result.line


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize('command', ['plan', 'run', 'doctor'])
def test_a_password_with_a_dollar_is_named_and_not_shown(cli, command):
    cli.configure({**PASSWORD, 'password': 'pa$TopSecret'})
    result = cli.run(command)
    assert result.code == 1
    said = result.out + result.err
    assert f'[placement] password in {cli.config} has a "$"' in said
    assert 'write "$$" for each "$" of the value' in said
    assert 'TopSecret' not in said
    assert 'Traceback' not in said


GOOD = {
    'token': {
        'methods': ['password'],
        'user': {'id': 'a', 'name': 'agent', 'domain': {'id': 'd'}},
        'project': {'id': 'p', 'name': 'service', 'domain': {'id': 'd'}},
        'issued_at': '2026-01-01T00:00:00.000000Z',
        'expires_at': '2036-01-01T00:00:00.000000Z',
        'catalog': [],
    }
}
NO_EXPIRY = {'token': {**GOOD['token'], 'expires_at': None}}
TOKEN = {'X-Subject-Token': 'scoped'}


@pytest.mark.parametrize(
    'answer',
    [
        {'text': '<html>hi</html>', 'headers': TOKEN},
        {'json': [], 'headers': TOKEN},
        {'json': {'token': None}, 'headers': TOKEN},
        {'json': GOOD},
        {'json': NO_EXPIRY, 'headers': TOKEN},
    ],
    ids=['html', 'a list', 'null', 'no token', 'no expiry'],
)
def test_an_answer_that_is_no_token_is_laid_to_keystone(
    cli, requests_mock, answer
):
    requests_mock.get('http://keystone.test/v3', status_code=404)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens', status_code=201, **answer
    )
    cli.configure({**PASSWORD, 'project_name': 'service'})
    assert cli.run('plan').line == (
        'compute-agent: no token for placement: keystone at '
        "http://keystone.test/v3 gave an answer that is not keystone's: "
        'check auth_url in [placement], and the proxies in front of keystone'
    )


def test_an_account_with_a_second_factor_is_told_what_to_use(
    cli, requests_mock
):
    requests_mock.get('http://keystone.test/v3', status_code=404)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens',
        status_code=401,
        headers={'Openstack-Auth-Receipt': 'r'},
        json={
            'receipt': {
                'methods': ['password'],
                'expires_at': '2036-01-01T00:00:00Z',
            },
            'required_auth_methods': [['password', 'totp']],
        },
    )
    cli.configure({**PASSWORD, 'project_name': 'service'})
    line = cli.run('plan').line
    assert 'no token for placement: keystone asks for a second factor' in line
    assert 'use an account that needs none, or an application cred' in line


@pytest.mark.usefixtures('nothing_written')
def test_a_configuration_that_cannot_be_read_says_why(cli, monkeypatch):
    refused = PermissionError(errno.EACCES, 'Permission denied')

    def denied(*_args, **_how):
        raise refused

    with monkeypatch.context() as patch:
        patch.setattr('oslo_config.iniparser.open', denied, raising=False)
        patch.setattr('oslo_config.cfg.open', denied, raising=False)
        result = cli.run('plan')
    assert (
        f'the configuration file {cli.config} cannot be read: Permission '
        'denied'
    ) in result.line
    cli.config.unlink()
    cli.config.mkdir()
    assert (
        f'the configuration file {cli.config} cannot be read: Is a directory'
    ) in cli.run('plan').line


@pytest.mark.usefixtures('nothing_written')
@pytest.mark.parametrize(
    ('line', 'said'),
    [
        ('password s3cret', "line 2: No ':' or '=' found in assignment"),
        ('  s3cret', 'line 2: Unexpected continuation line'),
        ('= s3cret', 'line 2: Key cannot be empty'),
        ('[s3cret', 'line 2: Invalid section (must end with ])'),
    ],
)
def test_a_line_that_cannot_be_parsed_has_its_number_and_is_not_quoted(
    cli, line, said
):
    cli.config.write_text(f'[DEFAULT]\n{line}\n')
    result = cli.run('--debug', 'plan')
    assert result.code == 1
    assert f'the configuration file {cli.config} cannot be read: {said}' in (
        result.err
    )
    assert 's3cret' not in result.err


@pytest.mark.usefixtures('nothing_written')
def test_an_option_before_any_section_is_not_quoted(cli):
    cli.config.write_text('password = s3cret\n')
    line = cli.run('plan').line
    assert 'line 1: Section must be started before assignment' in line
    assert 's3cret' not in line


@pytest.mark.usefixtures('nothing_written')
def test_a_configuration_that_is_no_text_is_named(cli):
    cli.config.write_bytes(b'[DEFAULT]\nhost = \xff\n')
    assert f'{cli.config} is not UTF-8 text' in cli.run('plan').line


@pytest.mark.usefixtures('nothing_written')
def test_a_configuration_directory_must_be_one(cli):
    missing = cli.run('plan', '--config-dir', '/no/such').line
    assert missing.endswith('no such configuration directory: /no/such')
    a_file = cli.run('plan', '--config-dir', str(cli.fake_file)).line
    assert f'--config-dir: {cli.fake_file} is not a directory' in a_file


def test_without_any_configuration_file_that_is_said(capsys, monkeypatch):
    monkeypatch.setattr(
        'oslo_config.cfg.find_config_files', lambda *_, **__: []
    )
    assert main.main(['plan']) == 1
    assert (
        'no configuration file was found; --config-file names one'
    ) in capsys.readouterr().err


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (
            {'use_journal': True},
            (
                '[DEFAULT] use_journal cannot be used: Systemd bindings do not '
                'exist; install the Python package systemd-python'
            ),
        ),
        (
            {'use_syslog': True, 'syslog_log_facility': 'nope'},
            'syslog_log_facility) cannot be used: syslog facility must be one',
        ),
    ],
)
def test_a_log_option_that_cannot_be_used_is_one_line(
    cli, monkeypatch, options, said
):
    monkeypatch.setattr('oslo_log.handlers.journal', None)
    cli.configure(**options)
    result = cli.run('run')
    assert result.code == 1
    assert said in result.line


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


def test_a_value_that_makes_no_sense_fails_its_node_without_a_write(
    cli, requests_mock
):
    requests_mock.get(
        f'{cli.url}/resource_providers',
        json={'resource_providers': [_BELOW_ZERO]},
    )
    result = cli.run('sync')
    assert result.code == 1
    (line,) = result.out.splitlines()
    assert 'is below 0' in line
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
    out, err = capsys.readouterr()
    assert out == ''
    assert err.startswith('compute-agent: ')
    assert err.count('\n') == 1
    assert ' --help" ' in err


@pytest.mark.parametrize(
    ('words', 'near'),
    [
        (['plann'], 'plan'),
        (
            ['resource', 'provider', 'lst', '-f', 'json'],
            'resource provider list',
        ),
    ],
)
def test_an_unknown_command_is_answered_with_near_ones(words, near, capsys):
    assert main.main(words) == 1
    assert f'or {near}' in capsys.readouterr().err.replace('mean ', 'or ')


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (
            {'auth_type': 'none', 'cafile': '/no/such'},
            '[ironic] cafile: /no/such cannot be read: No such file',
        ),
        (
            {'auth_type': 'pasword'},
            "[ironic] auth_type: keystoneauth has no plugin 'pasword'",
        ),
        (
            {'auth_type': 'none', 'valid_interfaces': 'internl'},
            "[ironic]: 'internl' is not a valid value for valid_interfaces",
        ),
    ],
)
def test_a_wrong_option_of_ironic_is_one_line(cli, options, said):
    cli.configure(compute_driver='ironic')
    lines = [f'{name} = {value}' for name, value in options.items()]
    with cli.config.open('a') as config:
        config.write('\n'.join(['', '[ironic]', *lines, '']))
    result = cli.run('plan')
    assert result.code == 1
    assert said in result.line


def test_ironic_s_keystone_away_is_named(cli, unused_port):
    cli.configure(compute_driver='ironic')
    own = {**PASSWORD, 'auth_url': f'http://127.0.0.1:{unused_port}/v3'}
    with cli.config.open('a') as config:
        config.write('\n[ironic]\n')
        config.writelines(f'{k} = {v}\n' for k, v in own.items() if v)
        config.write('project_name = service\n')
    assert cli.run('plan').line == (
        'compute-agent: no token for Ironic: keystone cannot be reached '
        f'(Connection refused at http://127.0.0.1:{unused_port}): check that '
        'it runs, and auth_url in [ironic]'
    )


def test_an_unknown_node_is_named(cli):
    result = cli.run('tree', 'show', 'cn9')
    assert result.code == 1
    assert 'no node cn9' in result.line
