# SPDX-License-Identifier: Apache-2.0
"""``doctor`` finds what really is wrong, and says how to mend it."""

import contextlib
import datetime as dt
import email.utils
import errno
import json
import os
import pathlib
import socket
import socketserver
import ssl
import threading
import time

import installed_package
import pytest
import scripted_server
import trustme

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.doctor import (
    certificate_checks,
    configuration_checks,
    doctor,
    finding,
    state_checks,
)
from compute_agent.identity import nova_compute
from compute_agent.state.state import State

OK, WARNING, FAILED, UNKNOWN = (o.value for o in finding.Outcome)
NOVA = b'/usr/bin/python3\0/usr/bin/nova-compute\0'


def examined(cli, code):
    """Run the doctor; return its findings by check."""
    result = cli.run('doctor', '-f', 'json')
    assert result.code == code, result.out
    return {row['check']: row for row in result.data}


@pytest.fixture(autouse=True)
def no_nova(monkeypatch, tmp_path):
    """No nova-compute of this machine counts."""
    monkeypatch.setattr(nova_compute.look, '__defaults__', (tmp_path,))


@pytest.fixture
def asked(cli):
    """Return what answers in placement's place."""

    def serve(answers):
        made = scripted_server.scripted(answers)
        server = made.__enter__()
        opened.append(made)
        cli.configure({'endpoint': server.url})
        return server

    opened = []
    yield serve
    for made in opened:
        made.__exit__(None, None, None)


def versions(**headers):
    body = {'versions': [{'id': 'v1.0', 'max_version': '1.39'}]}
    return scripted_server.answer(body=body, headers=headers)


def test_all_is_well(cli):
    cli.config.chmod(0o600)
    found = examined(cli, 0)
    assert {row['outcome'] for row in found.values()} <= {OK, WARNING}
    assert list(found) == [
        'configuration',
        'packages',
        'state directory',
        'free space',
        'state database',
        'daemon',
        'other agents',
        'driver fake',
        'provider-config',
        'compute_id',
        'nova-compute',
        'placement',
        'account',
        'role',
        'microversion',
        'clock',
        'os-traits',
        'marks',
    ]
    assert found['driver fake']['said'] == 'it lists cn1'
    assert found['role']['said'].startswith('the account may read, write')
    assert found['microversion']['outcome'] == OK
    assert found['os-traits']['outcome'] == OK


def test_a_file_that_is_given_twice_is_named_once(cli):
    cli.config.chmod(0o600)
    given = cli.run('--config-file', str(cli.config), 'doctor', '-f', 'json')
    assert given.data[0]['said'] == f'read {cli.config}'


def test_the_working_directory_may_be_closed_to_the_user(cli, monkeypatch):
    """Root types "runuser -u compute-agent …" in a folder of root's own."""
    stat = pathlib.Path.stat

    def denied(self, **how):
        if str(self) == '.':
            raise PermissionError(errno.EACCES, 'Permission denied', '.')
        return stat(self, **how)

    monkeypatch.setattr(pathlib.Path, 'stat', denied)
    assert examined(cli, 0)['placement']['outcome'] == OK


def test_nothing_is_written(cli):
    before = cli.placement('/traits'), cli.placement('/resource_providers')
    cli.run('doctor')
    assert not cli.state_path.exists()
    after = cli.placement('/traits'), cli.placement('/resource_providers')
    assert after == before


def test_each_check_is_a_line_with_its_fix(cli):
    cli.configure({'token': 'somebody'})
    result = cli.run('doctor')
    assert result.code == 1
    (line,) = [r for r in result.out.split('\n') if r.startswith('role ')]
    assert line.split()[1] == FAILED
    assert 'needs a user with the role admin or service' in line


def test_a_configuration_that_cannot_be_read_hides_only_what_needs_it(cli):
    cli.config.write_text('[compute_agent]\nmax_removed_percent = many\n')
    found = examined(cli, 1)
    assert found['configuration']['outcome'] == FAILED
    assert 'many' in found['configuration']['said']
    assert found['packages']['outcome'] == OK
    assert found['placement']['outcome'] == UNKNOWN


@pytest.mark.catches('anybody may write the configuration')
@pytest.mark.catches('each mount counts as read-only')
def test_a_configuration_that_everybody_may_write_is_refused(cli, tmp_path):
    cli.config.chmod(0o666)
    line = (
        f'the configuration file {cli.config} is not read: everybody may write '
        f'to it; run "chmod go-w {cli.config}"'
    )
    assert cli.run('plan').line == f'compute-agent: {line}'
    assert examined(cli, 1)['configuration']['said'] == line
    cli.config.chmod(0o620)
    folder = tmp_path / 'conf.d'
    folder.mkdir()
    folder.chmod(0o777)
    assert cli.run('--config-dir', str(folder), 'plan').line == (
        f'compute-agent: --config-dir: {folder} is not read: everybody may write to it; run '
        f'"chmod go-w {folder}"'
    )
    folder.chmod(0o755)
    config = ['--config-file', str(cli.config)]
    assert cli.run(*config, '--config-dir', str(folder), 'plan').code == 2


def test_files_that_others_may_write_are_named_with_the_command(cli, tmp_path):
    """Of the operator's providers, of facts and of rules."""
    folders = {n: tmp_path / n for n in ('facts.d', 'rules.d')}
    folders['providers'] = cli.provider_configs
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
        (folder / 'a.yaml').write_text('{}')
        (folder / 'a.yaml').chmod(0o666)
    cli.configure(compute_driver='host')
    with cli.config.open('a') as file:
        file.write(
            f'\n[facts]\ndirectories = {folders["facts.d"]}\n'
            f'[rules]\ndirectory = {folders["rules.d"]}\n'
        )
    found = examined(cli, 1)
    for check, names in {
        'driver host': ['facts.d', 'rules.d'],
        'provider-config': ['providers'],
    }.items():
        assert found[check]['outcome'] != OK
        for name in names:
            said = f'run "chmod go-w {folders[name]}/a.yaml"'
            assert said in found[check]['said']


def test_a_misspelt_option_is_named(cli):
    cli.configure(agent={'max_removed_procent': 3})
    row = examined(cli, 0)['configuration']
    assert row['outcome'] == WARNING
    assert 'did you mean max_removed_percent' in row['said']


def test_a_password_that_everybody_may_read_is_a_warning(cli):
    cli.config.chmod(0o644)
    row = examined(cli, 0)['configuration']
    assert row['outcome'] == WARNING
    assert f'chmod o-r {cli.config}' in row['fix']
    cli.config.chmod(0o640)
    assert examined(cli, 0)['configuration']['outcome'] == OK


def test_another_distribution_with_our_names_is_a_failure(
    tmp_path, monkeypatch
):
    installed_package.install(tmp_path, 'other', tops=['drivers'])
    assert configuration_checks.packages().outcome is finding.Outcome.OK
    monkeypatch.syspath_prepend(str(tmp_path))
    row = configuration_checks.packages()
    assert row.outcome is finding.Outcome.FAILED
    assert 'other installs a package drivers, too' in row.said


def test_a_state_directory_that_others_may_write_is_a_failure(cli):
    cli.state_path.mkdir()
    cli.state_path.chmod(0o777)
    row = examined(cli, 1)['state directory']
    assert row['outcome'] == FAILED
    assert f'chmod go-w {cli.state_path}' in row['said']


def test_a_file_of_another_user_is_a_failure(tmp_path):
    if os.geteuid():
        pytest.skip('only root can give files away')
    (tmp_path / 'state.sqlite').touch()
    os.chown(tmp_path / 'state.sqlite', 65534, -1)
    row = state_checks.directory(tmp_path)
    assert row.outcome is finding.Outcome.FAILED
    assert 'these files in it do not: state.sqlite' in row.said
    assert 'chown root' in row.fix


def test_a_directory_that_cannot_be_written_is_a_failure(tmp_path):
    folder = tmp_path / 'state'
    folder.mkdir(mode=0o500)
    before = os.geteuid()
    if not before:  # root may write everywhere
        os.seteuid(65534)
    try:
        row = state_checks.directory(folder)
    finally:
        os.seteuid(before)
    assert row.outcome is finding.Outcome.FAILED
    assert f'{folder} cannot be written by user' in row.said


def test_a_full_file_system_is_a_failure(tmp_path, monkeypatch):
    usage = state_checks.shutil.disk_usage(tmp_path)
    for free, outcome in (
        (1 << 20, finding.Outcome.FAILED),
        (100 << 20, finding.Outcome.WARNING),
        (1 << 40, finding.Outcome.OK),
    ):
        monkeypatch.setattr(
            state_checks.shutil,
            'disk_usage',
            lambda _path, free=free: usage._replace(free=free),
        )
        assert state_checks.space(tmp_path / 'new').outcome is outcome


def test_a_damaged_state_database_is_a_failure(cli):
    cli.state_path.mkdir(mode=0o755)
    State.open(cli.state_path).close()
    assert examined(cli, 0)['state database']['outcome'] == OK
    (cli.state_path / 'state.sqlite').write_bytes(b'not a database' * 100)
    row = examined(cli, 1)['state database']
    assert row['outcome'] == FAILED
    assert 'state.sqlite' in row['said']


def test_a_driver_that_fails_is_a_failure(cli):
    cli.fake_file.write_text('nodes: {}')
    row = examined(cli, 1)['driver fake']
    assert row['outcome'] == FAILED
    assert str(cli.fake_file) in row['said']


def test_two_uuids_of_this_host_are_a_failure(cli):
    for folder, digit in ((cli.state_path, '1'), (cli.folder, '2')):
        folder.mkdir(exist_ok=True)
        uuid = '-'.join(digit * n for n in (8, 4, 4, 4, 12))
        (folder / 'compute_id').write_text(uuid)
    row = examined(cli, 1)['compute_id']
    assert row['outcome'] == FAILED
    assert 'compute_id' in row['said']


@pytest.mark.parametrize(
    ('mode', 'state', 'outcome', 'words'),
    [
        (None, 'STOPPED', OK, 'none is seen'),
        (None, 'UNKNOWN', OK, 'none is seen'),
        (None, 'REPORTS', WARNING, 'mode is not set'),
        (None, 'SILENT', WARNING, 'set mode = reporter'),
        ('owner', 'STOPPED', OK, 'none is seen'),
        ('owner', 'STARTS', WARNING, 'wait two minutes'),
        ('owner', 'REPORTS', FAILED, 'both report this host'),
        ('owner', 'SILENT', WARNING, 'set mode = reporter'),
        ('companion', 'REPORTS', OK, 'mode is companion'),
        ('companion', 'STARTS', OK, 'mode is companion'),
        ('companion', 'SILENT', FAILED, 'nobody reports this host'),
        ('companion', 'UNKNOWN', WARNING, 'start it'),
        ('reporter', 'SILENT', OK, 'mode is reporter'),
        ('reporter', 'STARTS', WARNING, 'wait two minutes'),
        ('reporter', 'STOPPED', WARNING, 'start it'),
        ('reporter', 'UNKNOWN', WARNING, 'steps back'),
        ('reporter', 'REPORTS', FAILED, 'restart nova-compute'),
    ],
)
def test_a_nova_compute_beside_must_fit_the_mode(
    cli, monkeypatch, mode, state, outcome, words
):
    sign = nova_compute.Sign(
        state=nova_compute.NovaState[state], fact='process 123'
    )
    monkeypatch.setattr(nova_compute, 'look', lambda _directories: sign)
    cli.configure(agent={'mode': mode} if mode else None)
    row = examined(cli, int(outcome == FAILED))['nova-compute']
    assert row['outcome'] == outcome
    assert words in f'{row["said"]}: {row["fix"]}'


def test_the_nova_compute_of_this_machine_is_seen(cli, tmp_path):
    (tmp_path / '123').mkdir()
    (tmp_path / '123' / 'cmdline').write_bytes(NOVA)
    (tmp_path / '123' / 'stat').write_text(f'123 (nova) S{" 1" * 30}')
    cli.configure(agent={'mode': 'companion'})
    row = examined(cli, 0)['nova-compute']
    assert 'process 123' in row['said']


def test_placement_away_leaves_the_rest_unchecked(cli, unused_port):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    found = examined(cli, 1)
    assert 'Connection refused' in found['placement']['said']
    for name in ('account', 'role', 'microversion', 'clock', 'marks'):
        assert found[name]['outcome'] == UNKNOWN
    assert found['driver fake']['outcome'] == OK


def test_a_wrong_password_is_a_failure_of_the_account(cli, asked):
    def refusing(request):
        if request.method == 'POST':
            refusal = {'error': {'code': 401, 'message': 'Wrong password.'}}
            return scripted_server.answer(401, refusal)
        return scripted_server.keystone(request, server.url, {})

    server = asked(refusing)
    cli.configure(
        {
            'auth_type': 'password',
            'auth_url': server.url,
            'username': 'agent',
            'password': 'secret',
            'project_name': 'service',
            'user_domain_name': 'Default',
            'project_domain_name': 'Default',
            'endpoint': None,
            'token': None,
        }
    )
    row = examined(cli, 1)['account']
    assert row['outcome'] == FAILED
    assert 'Wrong password.' in row['said']
    assert f'from [placement] in {cli.config}' in row['said']
    assert 'secret' not in json.dumps(row)


@pytest.mark.parametrize(
    ('seconds', 'outcome', 'said'),
    [
        (0, OK, 'the clock of this host is 0 s'),
        (-30, WARNING, 's ahead of'),
        (3600, FAILED, 'min behind'),
    ],
)
def test_a_clock_that_is_off_is_seen(cli, asked, seconds, outcome, said):
    asked(
        lambda _request: versions(
            Date=email.utils.formatdate(time.time() + seconds, usegmt=True)
        )
    )
    row = examined(cli, 1)['clock']
    assert row['outcome'] == outcome
    assert said in row['said']


def test_a_placement_of_another_age_is_seen(cli, asked):
    def old(request):
        if request.route == '/':
            body = {'versions': [{'id': 'v1.0', 'max_version': '1.9'}]}
            return scripted_server.answer(body=body)
        return scripted_server.answer(body={'traits': ['HW_CPU_X86_AVX2']})

    asked(old)
    found = examined(cli, 1)
    assert found['microversion']['outcome'] == FAILED
    assert 'placement has API version 1.9' in found['microversion']['said']
    assert found['os-traits']['outcome'] == WARNING
    assert '"trait sync-check"' in found['os-traits']['fix']
    # Whoever says yes to a write that is malformed is no placement.
    assert found['role']['outcome'] == FAILED


@pytest.mark.parametrize(
    ('body', 'name'),
    [
        (
            {
                'name': 'OpenStack Ironic API',
                'versions': [{'id': 'v1', 'version': '1.90'}],
            },
            'OpenStack Ironic API',
        ),
        ({'versions': {'values': [{'id': 'v3.14'}]}}, 'keystone'),
        ({'versions': [{'id': 'v2.1', 'version': '2.96'}]}, 'nova'),
    ],
    ids=['Ironic', 'keystone', 'nova'],
)
@pytest.mark.parametrize('status', [200, 300])
def test_another_service_at_the_address_is_named(
    cli, asked, body, name, status
):
    server = asked(lambda _request: scripted_server.answer(status, body))
    row = examined(cli, 1)['placement']
    assert row['outcome'] == FAILED
    assert (
        f'placement at {server.url} is {name}, not placement: correct'
        in row['said'].replace("'", '')
    )


def test_a_shim_that_implements_a_part_is_told_as_one(cli, asked):
    def shim(request):
        if request.route == '/':
            return versions()
        if request.method == 'GET':
            return scripted_server.answer(
                body={'resource_providers': [], 'traits': []}
            )
        return scripted_server.answer(501, {'message': 'Not Implemented'})

    asked(shim)
    row = examined(cli, 1)['role']
    assert row['outcome'] == FAILED
    assert 'is no complete placement' in row['said']
    assert 'HTTP 501' in row['said']
    assert row['fix'] == 'let the endpoint lead to placement itself'


KEYSTONE = {
    'auth_type': 'password',
    'username': 'agent',
    'password': 'secret',
    'project_name': 'service',
    'user_domain_name': 'Default',
    'project_domain_name': 'Default',
    'endpoint': None,
    'token': None,
}


@pytest.fixture
def of_regions(cli, asked):
    """A keystone whose catalog has a placement in each of two regions."""

    def answers(request):
        if request.route == '/' and request.headers.get('x-auth-token'):
            return versions()
        pieces = scripted_server.keystone(
            request, server.url, {'placement': server.url}
        )
        if request.method != 'POST':
            return pieces
        token = json.loads(pieces[1])
        (service,) = token['token']['catalog']
        one = service['endpoints'][0]
        service['endpoints'].append(
            {**one, 'id': '2', 'region': 'two', 'region_id': 'two'}
        )
        return scripted_server.answer(
            201, token, {'X-Subject-Token': 'TOKEN-1'}
        )

    server = asked(answers)

    def configure(**options):
        cli.configure({**KEYSTONE, 'auth_url': server.url, **options})

    return configure


def test_a_wrong_region_is_told_with_those_that_there_are(cli, of_regions):
    of_regions(region_name='three')
    row = examined(cli, 1)['placement']
    assert (
        'in the region three: the catalog has placement in one, two; correct '
        '[placement] region_name'
    ) in row['said']


def test_two_regions_and_no_choice_is_a_warning(cli, of_regions):
    of_regions()
    row = examined(cli, 1)['placement']
    assert row['outcome'] == WARNING
    assert 'in the regions one, two' in row['said']
    of_regions(region_name='two')
    assert examined(cli, 1)['placement']['outcome'] == OK


def test_a_proxy_that_gets_the_token_is_a_warning(cli, monkeypatch, asked):
    server = asked(lambda _request: versions())
    cli.configure({'endpoint': 'http://placement.test'})
    monkeypatch.setenv('http_proxy', f'http://user:s3cret@{server.url[7:]}')
    row = examined(cli, 1)['placement']
    assert row['outcome'] == WARNING
    assert f'through the proxy {server.url}' in row['said']
    assert 's3cret' not in json.dumps(row)


@pytest.fixture
def plain():
    """Return the address of a server without TLS; it answers to any bytes."""

    class Answering(socketserver.StreamRequestHandler):
        def handle(self):
            self.request.recv(4096)
            self.wfile.write(b'HTTP/1.1 400 Bad Request\r\n\r\n')

    with socketserver.ThreadingTCPServer(
        ('127.0.0.1', 0), Answering
    ) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f'127.0.0.1:{server.server_address[1]}'
        server.shutdown()
        thread.join()


def test_https_to_a_port_without_tls_is_told_as_that(cli, plain):
    cli.configure({'endpoint': f'https://{plain}'})
    found = examined(cli, 1)
    for check in ('certificate', 'placement'):
        assert found[check]['outcome'] == FAILED
        assert 'does not speak TLS at that port' in found[check]['said']
        assert 'write http:// in place of https://' in found[check]['said']


def test_the_group_of_nova_conf_stays_nova_s(cli):
    with cli.config.open('a') as config:
        config.write('\n[ironic]\npassword = secret\n')
    cli.config = cli.config.rename(cli.folder / 'nova.conf')
    cli.config.chmod(0o644)
    row = examined(cli, 0)['configuration']
    assert row['outcome'] == WARNING
    assert row['fix'].startswith(f'run "chmod o-r {cli.config}", leave nova')
    assert 'SupplementaryGroups=' in row['fix']


def test_a_second_agent_on_this_host_is_a_warning(tmp_path):
    state, proc = tmp_path / 'state', tmp_path / 'proc'
    state.mkdir()
    (state / 'lock').write_text('11\n')
    for number, words in {
        '11': [
            '/opt/compute-agent/bin/python3',
            '/opt/bin/compute-agent',
            'run',
        ],
        '12': ['/usr/bin/python3', '-m', 'compute_agent.cmd.app.start', 'run'],
        '13': ['/usr/bin/python3', '/opt/bin/compute-agent', 'doctor'],
    }.items():
        (proc / number).mkdir(parents=True)
        (proc / number / 'cmdline').write_text('\0'.join([*words, '']))
    row = state_checks.other_agents(state, proc)
    assert row.outcome is finding.Outcome.WARNING
    assert '(process 12)' in row.said


def test_a_check_that_hangs_or_breaks_hides_no_other():
    ended = threading.Event()

    def hang():
        ended.wait()
        return finding.ok('at last')

    def bug():
        raise KeyError('no such key')

    checks = [
        finding.Check(name='hangs', run=hang),
        finding.Check(name='breaks', run=bug),
        finding.Check(name='works', run=lambda: finding.ok('yes')),
    ]
    try:
        rows = [row for _, row in doctor.results(checks, 2.0)]
    finally:
        ended.set()
    assert [row.outcome.value for row in rows] == [UNKNOWN, UNKNOWN, OK]
    assert rows[0].said == 'no answer within 2 s'
    assert 'KeyError' in rows[1].said


def test_a_daemon_that_does_not_answer_is_no_daemon(tmp_path):
    said = state_checks.daemon(tmp_path).said
    assert said == 'no daemon runs with this state directory'


def test_a_driver_without_nodes_is_a_warning(cli):
    cli.fake_file.write_text('nodes: []')
    assert examined(cli, 0)['driver fake']['outcome'] == WARNING


@contextlib.contextmanager
def server_with(certificate):
    """Yield the address of a server that shows this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)

    def greet():
        taken, _ = listener.accept()
        with taken, contextlib.suppress(OSError):
            context.wrap_socket(taken, server_side=True).close()

    with socket.create_server(('127.0.0.1', 0)) as listener:
        thread = threading.Thread(target=greet)
        thread.start()
        yield f'127.0.0.1:{listener.getsockname()[1]}'
        thread.join()


def of_days(days):
    return dt.datetime.now(dt.UTC) + dt.timedelta(days=days)


@pytest.mark.parametrize(
    ('days', 'is_trusted', 'outcome', 'said'),
    [
        (90, True, OK, 'is good until'),
        (9, True, WARNING, 'is good until'),
        (-1, True, FAILED, 'renew it'),
        (90, False, FAILED, 'set it to the file of the authority'),
    ],
)
def test_a_certificate_that_ends_or_is_refused_is_seen(
    cli, days, is_trusted, outcome, said
):
    authority = trustme.CA()
    trusted = authority if is_trusted else trustme.CA()
    trusted.cert_pem.write_to_path(str(cli.folder / 'ca.pem'))
    own = authority.issue_cert('127.0.0.1', not_after=of_days(days))
    with server_with(own) as address:
        cli.configure(
            {
                'endpoint': f'https://{address}',
                'cafile': cli.folder / 'ca.pem',
            }
        )
        options = main.GlobalOptions(
            config_files=[str(cli.config)], config_dirs=[], debug=False
        )
        conf = configuration.load(options)
        (check,) = certificate_checks.checks(conf)
        row = check.run()
    assert row.outcome.value == outcome, row
    assert said in str(row)
    assert address in row.said
