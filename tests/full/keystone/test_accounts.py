# SPDX-License-Identifier: Apache-2.0
"""A real keystone behind TLS lets the agent in, or one line says why not."""

import datetime as dt
import ssl

import pytest
import secure_cloud
import tls_front
import trustme
import yaml
from agent_setup import FAKE_FILE

from compute_agent.cycle.node.node_result import Status
from drivers.fake import driver as fake
from report_client import errors

pytestmark = pytest.mark.long


@pytest.fixture(scope='module')
def service(cloud):
    """A user with the role service."""
    return cloud.user('service')[0]


def test_a_user_with_the_role_service_syncs(setup, service):
    setup.configure(service)
    code, _, err = setup.run('sync', '--yes')
    assert code == 0, err
    assert setup.run('plan')[0] == 0
    assert 'cn1' in setup.run('resource', 'provider', 'list')[1]


def test_an_application_credential_is_enough(setup, cloud):
    made = cloud.application_credential(*cloud.user('service'))
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
    line = setup.refusal('resource', 'provider', 'list')
    assert f'refuses the user {name} of the project service with the' in line
    assert role in line
    assert 'needs a user with the role admin or service' in line


def test_a_wrong_password_names_the_user_and_the_file(setup, service):
    setup.configure(service, password='wrong')
    line = setup.refusal('resource', 'provider', 'list')
    assert f'the user {service} of the project service comes from' in line
    assert f'[placement] in {setup.config}: check auth_type' in line


def test_a_region_that_the_catalog_lacks_is_one_line(setup, service):
    setup.configure(service, region_name='two')
    line = setup.refusal('resource', 'provider', 'list')
    assert 'in the region two: the catalog has placement in one; ' in line


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
