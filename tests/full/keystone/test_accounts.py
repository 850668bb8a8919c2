# SPDX-License-Identifier: Apache-2.0
"""A real keystone behind TLS lets the agent in, or one line says why not."""

import contextlib
import datetime as dt
import ssl

import pytest
import secure_cloud
import tls_front
import trustme
import yaml

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import agent as wiring
from compute_agent.cycle.node.node_result import Status
from drivers.fake import driver as fake
from report_client import errors

pytestmark = pytest.mark.long

FAKE_FILE = """
nodes:
  - name: cn1
    uuid: 11111111-1111-4111-8111-111111111111
    inventories: {VCPU: 8}
    traits: [CUSTOM_GOLD]
"""


class Setup:
    """The configuration of an agent, and the commands that read it."""

    def __init__(self, folder, cloud, capsys):
        self.folder = folder
        self.cloud = cloud
        self.config = folder / 'agent.conf'
        self.cafile = folder / 'ca.pem'
        self._capsys = capsys
        cloud.authority.cert_pem.write_to_path(str(self.cafile))
        (folder / 'fake.yaml').write_text(FAKE_FILE)

    def configure(self, user=None, **options):
        """Write the options of [placement]; None leaves one out."""
        given = {
            'auth_type': 'password',
            'auth_url': f'{self.cloud.keystone}/v3',
            'cafile': self.cafile,
            'region_name': 'one',
            'valid_interfaces': 'internal',
        }
        if user:
            given |= {
                'username': user,
                'password': secure_cloud.PASSWORD.replace('$', '$$'),
                'project_name': 'service',
                'user_domain_id': 'default',
                'project_domain_id': 'default',
            }
        given |= options
        lines = [f'{k} = {v}' for k, v in given.items() if v is not None]
        self.config.write_text(
            '\n'.join(
                [
                    '[DEFAULT]',
                    'compute_driver = fake',
                    'host = cn1',
                    f'state_path = {self.folder / "state"}',
                    '[fake]',
                    f'file = {self.folder / "fake.yaml"}',
                    '[placement]',
                    *lines,
                ]
            )
        )

    def run(self, *words):
        """Run a command; return its exit code and its output."""
        self._capsys.readouterr()
        code = main.main(['--config-file', str(self.config), *words])
        out, err = self._capsys.readouterr()
        assert 'Traceback' not in err
        assert secure_cloud.PASSWORD not in err
        return code, out, err

    def refusal(self, *words):
        """Return the one line of a command that fails."""
        code, _, err = self.run(*words)
        assert code == 1
        assert err.count('\n') == 1, err
        return err

    @contextlib.contextmanager
    def agent(self):
        """The agent of the daemon, in this process."""
        options = main.GlobalOptions(
            config_files=[str(self.config)], config_dirs=[], debug=False
        )
        conf = configuration.load(options, environment=False)
        with wiring.open_agent(conf, read_only=False, unlimited=True) as made:
            made.begin_files()
            yield made


@pytest.fixture
def setup(tmp_path, cloud, capsys):
    return Setup(tmp_path, cloud, capsys)


@pytest.fixture(scope='module')
def service(cloud):
    """A user with the role service."""
    return cloud.user('service')[0]


def test_a_user_with_the_role_service_syncs(setup, service):
    setup.configure(service)
    code, _, err = setup.run('sync', '--yes')
    assert code == 0, err
    assert setup.run('plan')[0] == 0
    assert 'cn1' in setup.run('provider', 'list')[1]


def test_an_application_credential_is_enough(setup, cloud):
    name, user_id = cloud.user('service')
    token = cloud.token(name, secure_cloud.PASSWORD, 'service')
    answer = cloud.ask_as(
        token,
        'POST',
        f'/v3/users/{user_id}/application_credentials',
        {'application_credential': {'name': 'agent'}},
    )
    made = answer.json()['application_credential']
    setup.configure(
        auth_type='v3applicationcredential',
        application_credential_id=made['id'],
        application_credential_secret=made['secret'],
    )
    code, _, err = setup.run('trait', 'list')
    assert code == 0, err


def test_a_cloud_of_clouds_yaml_is_enough(setup, service, monkeypatch):
    file = setup.folder / 'clouds.yaml'
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(file))
    cloud = {
        'region_name': 'one',
        'cacert': str(setup.cafile),
        'auth': {
            'auth_url': f'{setup.cloud.keystone}/v3',
            'username': service,
            'password': secure_cloud.PASSWORD,
            'project_name': 'service',
            'user_domain_id': 'default',
            'project_domain_id': 'default',
        },
    }
    file.write_text(yaml.safe_dump({'clouds': {'prod': cloud}}))
    setup.configure('nobody')
    code, _, err = setup.run('--os-cloud', 'prod', 'trait', 'list')
    assert code == 0, err


@pytest.mark.parametrize('role', ['reader', 'member'])
def test_a_user_without_the_role_is_told_which_is_missing(setup, cloud, role):
    name, _ = cloud.user(role)
    setup.configure(name)
    line = setup.refusal('provider', 'list')
    assert f'refuses the user {name} of the project service with the' in line
    assert role in line
    assert 'needs a user with the role admin or service' in line


def test_a_wrong_password_names_the_user_and_the_file(setup, service):
    setup.configure(service, password='wrong')
    line = setup.refusal('provider', 'list')
    assert f'the user {service} of the project service comes from' in line
    assert f'[placement] in {setup.config}: check auth_type' in line


def test_a_region_that_the_catalog_lacks_is_one_line(setup, service):
    setup.configure(service, region_name='two')
    line = setup.refusal('provider', 'list')
    assert 'no endpoint for placement in the catalog: check region_' in line


def test_a_token_that_expires_in_a_cycle_is_replaced(
    setup, cloud, service, monkeypatch
):
    setup.configure(service)
    describe = fake.FakeDriver.update_provider_tree
    revoked = []

    def revoking(self, *words, **named):
        """Describe a node; the token has expired since it was observed."""
        if not revoked:
            revoked.append(cloud.front.tokens[-1])
            cloud.revoke(revoked[0])
        return describe(self, *words, **named)

    with setup.agent() as agent:
        agent.tracker.sync()
        (setup.folder / 'fake.yaml').write_text(
            FAKE_FILE.replace('VCPU: 8', 'VCPU: 9')
        )
        monkeypatch.setattr(fake.FakeDriver, 'update_provider_tree', revoking)
        (result,) = agent.tracker.sync()
    assert result.status is Status.DONE, result
    assert revoked
    after = cloud.front.tokens[cloud.front.tokens.index(revoked[0]) :]
    assert len({token for token in after if token}) == 2


def test_a_user_that_is_disabled_is_one_line(setup, cloud):
    name, user_id = cloud.user('service')
    setup.configure(name)
    with setup.agent() as agent:
        (result,) = agent.tracker.sync()
        assert result.status is Status.DONE
        cloud.disable(user_id)
        with pytest.raises(errors.NotAuthorised) as raised:
            agent.tracker.sync()
    said = str(raised.value)
    assert '\n' not in said
    assert f'the user {name} of the project service comes from' in said
    assert secure_cloud.PASSWORD not in said


def front(cloud, certificate, **how):
    """Return another server with TLS in front of keystone."""
    context = secure_cloud.server_context(certificate)
    for name, value in how.items():
        setattr(context, name, value)
    return context, tls_front.tls_front(cloud.behind, context)


@pytest.mark.parametrize(
    ('made', 'said'),
    [
        (
            lambda _ca: trustme.CA().issue_cert('127.0.0.1'),
            'set it to the file of the authority that signed',
        ),
        (
            lambda ca: ca.issue_cert(
                '127.0.0.1', not_after=dt.datetime(2020, 1, 2, tzinfo=dt.UTC)
            ),
            'certificate has expired): renew it, or set the clock',
        ),
        (
            lambda ca: ca.issue_cert('keystone.example'),
            'use the name that the certificate is for in [placement] auth_url',
        ),
    ],
    ids=['another authority', 'expired', 'another name'],
)
def test_a_certificate_that_is_refused_is_one_line(
    setup, cloud, service, made, said
):
    _, serving = front(cloud, made(cloud.authority))
    with serving as at:
        setup.configure(service, auth_url=f'{at.url}/v3')
        line = setup.refusal('trait', 'list')
    assert f'the certificate of keystone at {at.url}/v3 is refused' in line
    assert said in line


def test_a_client_certificate_is_asked_for_and_shown(setup, cloud, service):
    context, serving = front(
        cloud,
        cloud.authority.issue_cert('127.0.0.1'),
        verify_mode=ssl.CERT_REQUIRED,
    )
    cloud.authority.configure_trust(context)
    own = cloud.authority.issue_cert('agent.example')
    certfile, keyfile = setup.folder / 'own.pem', setup.folder / 'own.key'
    own.cert_chain_pems[0].write_to_path(str(certfile))
    own.private_key_pem.write_to_path(str(keyfile))
    with serving as at:
        setup.configure(service, auth_url=f'{at.url}/v3')
        line = setup.refusal('trait', 'list')
        assert 'set certfile and keyfile in [placement]' in line
        setup.configure(
            service,
            auth_url=f'{at.url}/v3',
            certfile=certfile,
            keyfile=keyfile,
        )
        at.tokens.clear()
        setup.run('trait', 'list')
        # Keystone's discovery names itself by this address, too.
        assert at.tokens
