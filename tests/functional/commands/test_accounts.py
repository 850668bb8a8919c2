# SPDX-License-Identifier: Apache-2.0
"""A command uses the account that its operator chose, and says which it is."""

import json

import pytest
import scripted_server
import yaml

pytestmark = pytest.mark.long

PASSWORD = r'pa$$w{or}d\$end'
CLOUD, FILE, VARIABLES = 'of-the-cloud', 'of-the-file', 'of-the-variables'
NO_OPTIONS = {'auth_type': None, 'endpoint': None, 'token': None}


class Keystone:
    """Gives a token to everybody.

    :ivar catalog: service type → address
    :ivar token: the token; placement's noauth2 makes "admin" an administrator
    :ivar role: the role of the users
    :ivar refuses: answer 401 to requests for tokens
    """

    def __init__(self, url):
        self.catalog = {'placement': url}
        self.token = 'admin'
        self.role = 'service'
        self.refuses = False
        self.methods = []
        self.url = ''

    def answers(self, request):
        if request.method == 'POST' and self.refuses:
            refusal = {'error': {'code': 401, 'message': 'No such user.'}}
            return scripted_server.answer(401, refusal)
        if request.method == 'POST':
            identity = json.loads(request.body)['auth']['identity']
            self.methods.append(identity)
        return scripted_server.keystone(
            request,
            self.url,
            self.catalog,
            token_id=self.token,
            role=self.role,
        )

    @property
    def users(self):
        """The users that asked for a token."""
        return [
            method['password']['user']['name']
            for method in self.methods
            if 'password' in method
        ]


@pytest.fixture
def keystone(cli):
    made = Keystone(cli.url)
    with scripted_server.scripted(made.answers) as server:
        made.url = server.url
        yield made


@pytest.fixture(autouse=True)
def clouds(cli, keystone, monkeypatch):
    """The clouds that the commands find; there are no other variables."""
    for name in ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE', 'OS_REGION_NAME'):
        monkeypatch.delenv(name, raising=False)
    file = cli.folder / 'clouds.yaml'
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(file))
    account = {
        'auth_url': keystone.url,
        'username': CLOUD,
        'password': PASSWORD,
        'project_name': 'service',
        'user_domain_name': 'Default',
        'project_domain_name': 'Default',
    }
    made = {
        'prod': {'auth': account, 'region_name': 'one'},
        'any-region': {'auth': account},
        'elsewhere': {'auth': account, 'region_name': 'two'},
        'credential': {
            'auth_type': 'v3applicationcredential',
            'auth': {
                'auth_url': keystone.url,
                'application_credential_id': 'c0ffee',
                'application_credential_secret': PASSWORD,
            },
        },
        'broken': {'auth_type': 'passwort', 'auth': {}},
        'incomplete': {'auth': {'username': 'x'}},
        'no-ca': {'auth': account, 'cacert': '/no/such/ca.pem'},
    }
    file.write_text(yaml.safe_dump({'clouds': made}))
    return file


@pytest.fixture
def in_file(cli, keystone):
    """Return what writes a user into [placement]."""

    def write(**more):
        cli.configure(
            {
                **NO_OPTIONS,
                'auth_type': 'password',
                'auth_url': keystone.url,
                'username': FILE,
                'password': 'of-the-file',
                'project_name': 'service',
                'user_domain_name': 'Default',
                'project_domain_name': 'Default',
            },
            **more,
        )

    return write


@pytest.fixture
def variables(keystone, monkeypatch):
    """Return what sets the variables of a user."""

    def set_them():
        for name, value in {
            'OS_AUTH_URL': keystone.url,
            'OS_USERNAME': VARIABLES,
            'OS_PASSWORD': PASSWORD,
            'OS_PROJECT_NAME': 'service',
            'OS_USER_DOMAIN_NAME': 'Default',
            'OS_PROJECT_DOMAIN_NAME': 'Default',
        }.items():
            monkeypatch.setenv(name, value)

    return set_them


def test_the_option_of_the_command_precedes_everything(
    cli, keystone, in_file, variables
):
    in_file()
    variables()
    result = cli.run('--os-cloud', 'prod', 'trait', 'list')
    assert result.code == 0, result.err
    assert set(keystone.users) == {CLOUD}


def test_the_option_may_stand_after_the_command(cli, keystone, in_file):
    in_file()
    assert cli.run('trait', 'list', '--os-cloud', 'prod').code == 0
    assert set(keystone.users) == {CLOUD}


def test_an_option_without_a_name_is_refused_not_ignored(
    cli, keystone, in_file
):
    in_file()
    for words in (
        ('--os-cloud', '', 'trait', 'list'),
        ('trait', 'list', '--os-cloud='),
    ):
        result = cli.run(*words)
        assert result.code == 1
        assert '--os-cloud has no name: give the name' in result.line
    assert not keystone.methods


def test_the_file_precedes_the_environment(
    cli, keystone, in_file, variables, monkeypatch
):
    in_file()
    variables()
    monkeypatch.setenv('OS_CLOUD', 'prod')
    assert cli.run('trait', 'list').code == 0
    assert set(keystone.users) == {FILE}


def test_the_file_may_name_a_cloud(cli, keystone, in_file):
    in_file(agent={'os_cloud': 'prod'})
    assert cli.run('trait', 'list').code == 0
    assert set(keystone.users) == {CLOUD}
    result = cli.run('--os-cloud', 'elsewhere', 'trait', 'list')
    assert result.line.endswith(
        'in the region two: the catalog has placement in one; correct '
        'region_name of the cloud elsewhere'
    )


@pytest.mark.parametrize('cloud', [None, 'prod'])
def test_without_options_the_environment_counts(
    cli, keystone, variables, monkeypatch, cloud
):
    cli.configure(NO_OPTIONS)
    if cloud:
        monkeypatch.setenv('OS_CLOUD', cloud)
    else:
        variables()
    result = cli.run('trait', 'list')
    assert result.code == 0, result.err
    assert set(keystone.users) == {CLOUD if cloud else VARIABLES}


def test_the_region_of_the_environment_goes_with_its_cloud(
    cli, monkeypatch, in_file
):
    cli.configure(NO_OPTIONS)
    monkeypatch.setenv('OS_CLOUD', 'any-region')
    assert cli.run('trait', 'list').code == 0
    monkeypatch.setenv('OS_REGION_NAME', 'two')
    assert 'no endpoint for placement' in cli.run('trait', 'list').line
    in_file()
    assert cli.run('trait', 'list').code == 0


def test_the_daemon_takes_no_account_from_the_environment(
    cli, keystone, variables
):
    cli.configure(NO_OPTIONS)
    variables()
    result = cli.run('run')
    assert result.code == 1
    assert '[placement] auth_type is not set' in result.line
    assert not keystone.methods


def test_the_environment_has_the_name_envvars(cli, keystone, variables):
    cli.configure(NO_OPTIONS)
    variables()
    result = cli.run('--os-cloud', 'envvars', 'trait', 'list')
    assert result.code == 0, result.err
    assert set(keystone.users) == {VARIABLES}


def test_a_password_arrives_as_it_is_written(cli, keystone):
    cli.configure(NO_OPTIONS)
    assert cli.run('--os-cloud', 'prod', 'trait', 'list').code == 0
    sent = [m['password']['user']['password'] for m in keystone.methods]
    assert set(sent) == {PASSWORD}


def test_an_application_credential_of_a_cloud_is_used(cli, keystone, in_file):
    in_file()
    assert cli.run('--os-cloud', 'credential', 'trait', 'list').code == 0
    (sent,) = {(m['application_credential']['id'],) for m in keystone.methods}
    assert sent == ('c0ffee',)


@pytest.mark.parametrize(
    ('cloud', 'said'),
    [
        (
            'prdo',
            (
                'there is no cloud prdo in {file}; it has any-region, broken, '
                'credential, elsewhere, incomplete, no-ca, prod'
            ),
        ),
        ('broken', 'the cloud broken of {file} cannot be used: '),
        ('incomplete', 'the cloud incomplete of {file} cannot be used: '),
        (
            'no-ca',
            (
                'cacert of the cloud no-ca: /no/such/ca.pem cannot be read: No '
                'such file or directory; '
            ),
        ),
    ],
)
def test_a_cloud_that_cannot_be_used_is_one_line(cli, clouds, cloud, said):
    result = cli.run('--os-cloud', cloud, 'trait', 'list')
    assert result.code == 1
    assert f'compute-agent: {said.format(file=clouds)}' in result.line


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('clouds:\n  prod: {auth: [\n', '{file}:3: not YAML: '),
        ('clouds:\n\tprod: {}\n', '{file}:2: not YAML: '),
        ('- prod\n', '{file}:1: a list is wrong here; write a mapping'),
        ('clouds:\n  - prod\n', '{file}:2: clouds: a list is wrong here'),
        ('clouds:\n', '{file}:1: clouds: an empty value is wrong here'),
        (
            'clouds:\n  prod:\n',
            '{file}:2: clouds.prod: an empty value is wrong here',
        ),
        (
            'clouds:\n  prod:\n    auth: password\n',
            "{file}:3: clouds.prod.auth: 'password' is wrong here",
        ),
        (
            'clouds:\n  prod:\n    auth:\n',
            '{file}:3: clouds.prod.auth: an empty value is wrong here',
        ),
    ],
)
@pytest.mark.parametrize('variable', ['CONFIG', 'SECURE'])
def test_a_broken_file_of_clouds_is_named_once_with_the_line(
    cli, clouds, monkeypatch, text, said, variable
):
    file = clouds.with_name(f'{variable}.yaml')
    file.write_text(text)
    monkeypatch.setenv(f'OS_CLIENT_{variable}_FILE', str(file))
    result = cli.run('--os-cloud', 'prod', 'trait', 'list')
    assert result.code == 1
    assert result.line.startswith(f'compute-agent: {said.format(file=file)}')
    assert result.err.count(str(file)) == 1


def test_a_broken_json_file_of_clouds_is_named_with_the_line(
    cli, clouds, monkeypatch
):
    file = clouds.with_name('clouds.json')
    file.write_text('{"clouds": {\n\t"prod": }}')
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(file))
    result = cli.run('--os-cloud', 'prod', 'trait', 'list')
    assert f'{file}:2: not JSON: ' in result.line


def test_a_broken_file_does_not_matter_to_an_account_of_variables(
    cli, clouds, keystone, variables
):
    cli.configure(NO_OPTIONS)
    variables()
    clouds.write_text('clouds: [')
    assert cli.run('trait', 'list').code == 0
    assert set(keystone.users) == {VARIABLES}


def test_another_cloud_may_be_broken(cli, clouds, keystone):
    made = yaml.safe_load(clouds.read_text())
    made['clouds']['other'] = {'auth': 'x'}
    made['clouds'][2024] = {}  # a key that is no text
    clouds.write_text(yaml.safe_dump(made))
    cli.configure(NO_OPTIONS)
    result = cli.run('--os-cloud', 'prod', 'trait', 'list')
    assert result.code == 0, result.err
    assert set(keystone.users) == {CLOUD}


def test_without_clouds_yaml_the_line_says_where_it_is_looked_for(
    cli, clouds, monkeypatch
):
    loader = pytest.importorskip('openstack.config.loader')
    monkeypatch.setattr(loader, 'CONFIG_FILES', [])
    clouds.unlink()
    result = cli.run('--os-cloud', 'prod', 'trait', 'list')
    assert 'there is no cloud prod, because no clouds.yaml' in result.line


def test_the_account_is_said_with_debug_and_never_its_secret(
    cli, clouds, in_file
):
    in_file()
    result = cli.run('--debug', 'trait', 'list')
    line = 'placement is asked as the user {} of the project service, from {}'
    assert line.format(FILE, f'[placement] in {cli.config}') in result.err
    assert 'of-the-file\n' not in result.err
    result = cli.run('--debug', '--os-cloud', 'prod', 'trait', 'list')
    assert line.format(CLOUD, f'the cloud prod in {clouds}') in result.err
    for secret in (PASSWORD, PASSWORD.replace('$', '$$'), 'X-Auth-Token: a'):
        assert secret not in result.err


def test_a_refused_user_is_named_with_its_origin(cli, keystone, clouds):
    keystone.refuses = True
    line = cli.run('--os-cloud', 'prod', 'trait', 'list').line
    assert 'No such user.' in line
    assert (
        f'the user {CLOUD} of the project service comes from the cloud prod in '
        f'{clouds}: check auth_type, username and password in the cloud prod'
    ) in line


def test_a_user_without_the_role_is_told_which_is_missing(
    cli, keystone, in_file
):
    keystone.token, keystone.role = 'nobody', 'reader'
    in_file()
    line = cli.run('resource', 'provider', 'list').line
    assert (
        f'refuses the user {FILE} of the project service with the role '
        'reader: [placement] needs a user with the role admin or service'
    ) in line


def test_ironic_is_asked_with_the_account_of_the_cloud(cli, keystone):
    def nodes(request):
        if scripted_server.is_keystones(request):
            return keystone.answers(request)
        return scripted_server.answer(body={'nodes': []})

    with scripted_server.scripted(nodes) as ironic:
        keystone.catalog['baremetal'] = ironic.url
        cli.configure(NO_OPTIONS, compute_driver='ironic')
        result = cli.run('--os-cloud', 'prod', 'probe')
        assert result.code == 0, result.err
        (request,) = [r for r in ironic.received if 'nodes' in r.path]
    assert request.headers['x-auth-token'] == 'admin'
    assert keystone.users == [CLOUD]
    keystone.refuses = True
    result = cli.run('--os-cloud', 'prod', 'probe')
    assert 'username and password in the cloud prod' in result.err


def test_the_options_may_stand_in_another_section(cli, keystone, in_file):
    in_file()
    text = cli.config.read_text()
    there = text.replace('[placement]', '[service_user]')
    cli.config.write_text(
        f'{there}\n[placement]\nauth_section = service_user\n'
    )
    keystone.token, keystone.role = 'nobody', 'reader'
    assert (
        f'refuses the user {FILE} of'
        in cli.run('resource', 'provider', 'list').line
    )
    keystone.token = 'admin'
    assert cli.run('--os-cloud', 'prod', 'trait', 'list').code == 0
    assert keystone.users[-1] == CLOUD
