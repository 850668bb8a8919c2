# SPDX-License-Identifier: Apache-2.0
"""The advice for an account names the options that its kind has."""

from oslo_config import cfg

from compute_agent.conf import placement
from compute_agent.transport import account, clouds


def accounts(tmp_path, **options):
    file = tmp_path / 'agent.conf'
    lines = '\n'.join(f'{k} = {v}' for k, v in options.items())
    file.write_text(f'[placement]\n{lines}\n')
    conf = cfg.ConfigOpts()
    placement.register_opts(conf)
    conf([f'--config-file={file}'])
    return clouds.account_of(conf, 'placement')


def test_a_user_has_a_name_and_a_password(tmp_path):
    advice = accounts(tmp_path, auth_type='password').advice('auth_url')
    assert advice == (
        'check auth_type, auth_url, username and password in [placement]'
    )


def test_an_application_credential_has_its_own_options(tmp_path):
    advice = accounts(tmp_path, auth_type='v3applicationcredential').advice()
    assert 'application_credential_secret in [placement]' in advice
    assert 'that it has not expired' in advice
    assert 'username' not in advice


def test_the_variables_of_a_credential_are_named_as_they_are_spelled():
    made = account.Account(
        section='placement',
        origin=account.Origin.ENVIRONMENT,
        is_credential=True,
    )
    assert 'OS_APPLICATION_CREDENTIAL_ID' in made.advice()
