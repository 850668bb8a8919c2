# SPDX-License-Identifier: Apache-2.0
"""``doctor`` tells with a real keystone what is wrong, and what mends it."""

import json

import command_line
import pytest
import trustme

pytestmark = pytest.mark.long

ASKED = ('account', 'role', 'microversion', 'clock', 'os-traits')


@pytest.fixture
def examined(setup):
    """Run the doctor; return its exit code, and outcome and text by check."""

    def examine():
        code, out, _ = setup.run('doctor', '-f', 'json')
        found = {}
        for row in json.loads(out):
            text = ': '.join(filter(None, (row['said'], row['fix'])))
            found.setdefault(row['check'], []).append((row['outcome'], text))
        return code, found

    return examine


@pytest.fixture
def service(cloud):
    """A user with the role service."""
    return cloud.user('service')[0]


def failures(found):
    """Return the texts of the checks that failed."""
    return {
        name: text
        for name, rows in found.items()
        for outcome, text in rows
        if outcome == 'failed'
    }


def outcomes(found, names):
    return {outcome for name in names for outcome, _ in found[name]}


def test_a_right_account_has_nothing_to_mend(setup, examined, service):
    setup.configure(service)
    code, found = examined()
    assert failures(found) == {}
    assert code == 0
    ((outcome, text),) = found['account']
    assert outcome == 'ok'
    assert f'the user {service} of the project service' in text
    assert 'with the role service' in text
    assert found['role'] == [
        ('ok', 'the account may read, write and move allocations')
    ]
    assert outcomes(found, ['certificate', 'placement']) == {'ok'}


def test_a_wrong_password_names_the_options(setup, examined, service):
    setup.configure(service, password='wrong')
    code, found = examined()
    assert code == 1
    assert (
        'check auth_type, username and password in [placement]'
        in (failures(found)['account'])
    )
    assert outcomes(found, ASKED[1:]) == {'not checked'}
    assert outcomes(found, ['certificate']) == {'ok'}


@pytest.mark.parametrize('role', ['reader', 'member'])
def test_a_missing_role_is_named(setup, examined, cloud, role):
    name, _ = cloud.user(role)
    setup.configure(name)
    code, found = examined()
    assert code == 1
    assert outcomes(found, ['placement', 'account']) == {'ok'}
    text = failures(found)['role']
    assert f'refuses the user {name} of the project service with the' in text
    assert role in text
    assert '[placement] needs a user with the role admin or service' in text


def test_an_account_without_reshapes_is_warned_of(setup, examined, cloud):
    name, _ = cloud.user('admin')
    setup.configure(name)
    code, found = examined()
    assert code == 0
    ((outcome, text),) = found['role']
    assert outcome == 'warning'
    assert 'add the role service, if the driver reshapes providers' in text


def test_an_expired_application_credential_is_told(setup, examined, cloud):
    made = cloud.application_credential(*cloud.user('service'))
    setup.configure(
        auth_type='v3applicationcredential',
        application_credential_id=made['id'],
        application_credential_secret=made['secret'],
    )
    assert examined()[0] == 0
    cloud.expire(made['id'])
    code, found = examined()
    assert code == 1
    text = failures(found)['account']
    assert f'the application credential {made["id"]}' in text
    assert (
        'check auth_type, application_credential_id and '
        'application_credential_secret in [placement], and that it has not '
        'expired ("openstack application credential show")'
    ) in text
    assert made['secret'] not in text


def test_a_keystone_that_is_away_is_told(setup, examined, service):
    with command_line.kept_port() as port:
        url = f'https://127.0.0.1:{port}'
        setup.configure(service, auth_url=f'{url}/v3')
        code, found = examined()
    assert code == 1
    assert (
        f'keystone at {url}/v3 cannot be reached'
        in (failures(found)['placement'])
    )
    assert 'check that' in failures(found)['placement']
    assert 'check that the server runs' in failures(found)['certificate']
    assert outcomes(found, ASKED) == {'not checked'}


def test_a_certificate_that_is_not_trusted_names_the_option(
    setup, examined, service
):
    trustme.CA().cert_pem.write_to_path(str(setup.cafile))
    setup.configure(service)
    code, found = examined()
    assert code == 1
    for name in ('certificate', 'placement'):
        text = failures(found)[name]
        assert f'[placement] cafile is {setup.cafile}' in text
        assert 'set it to the file of the authority that signed' in text
    assert outcomes(found, ASKED) == {'not checked'}
