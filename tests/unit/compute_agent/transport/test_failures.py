# SPDX-License-Identifier: Apache-2.0
"""The line about a refused certificate says what to change, and where."""

import pytest

from compute_agent.transport import account, failures

OPTIONS = account.Account(section='placement', place='/etc/agent.conf')
CLOUD = account.Account(
    section='ironic',
    origin=account.Origin.CLOUD,
    place='/etc/openstack/clouds.yaml',
    cloud='prod',
)
VARIABLES = account.Account(
    section='placement', origin=account.Origin.ENVIRONMENT
)
VERIFY = 'certificate verify failed: '


@pytest.mark.parametrize(
    ('said', 'where', 'line'),
    [
        (
            f'{VERIFY}certificate has expired (_ssl.c:1006)',
            OPTIONS,
            (
                'the certificate of X is refused (certificate verify failed: '
                'certificate has expired): renew it, or set the clock of this '
                'host if that is wrong'
            ),
        ),
        (
            f'{VERIFY}certificate is not yet valid (_ssl.c:1006)',
            OPTIONS,
            (
                'not yet valid): set the clock of this host, or of the one that '
                'made it'
            ),
        ),
        (
            f"{VERIFY}Hostname mismatch, certificate is not valid for 'a'. (",
            CLOUD,
            (
                'in auth_url of the cloud prod, baremetal_endpoint_override of '
                "the cloud prod or keystone's catalog"
            ),
        ),
        (
            f'{VERIFY}unable to get local issuer certificate (_ssl.c:1006)',
            CLOUD,
            'set cacert of the cloud prod to the file of the authority',
        ),
        (
            f'{VERIFY}self-signed certificate (_ssl.c:1006)',
            VARIABLES,
            'set OS_CACERT to the file of the authority',
        ),
        (
            f'{VERIFY}CA cert does not include key usage extension (_ssl.c:1)',
            OPTIONS,
            'Python 3.13 and newer ask for what is missing; have the',
        ),
        (
            f'{VERIFY}Missing Authority Key Identifier (_ssl.c:1006)',
            OPTIONS,
            'with keyUsage, subjectKeyIdentifier and authorityKeyIdentifier',
        ),
        (
            '[SSL] tlsv13 alert certificate required (_ssl.c:2580)',
            OPTIONS,
            (
                'X refuses the certificate of this agent (certificate required): '
                'set certfile and keyfile in [placement] to a certificate'
            ),
        ),
        (
            '[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)',
            OPTIONS,
            'X does not speak TLS at that port: write http://',
        ),
        (
            '[SSL: RECORD_LAYER_FAILURE] record layer failure (_ssl.c:1032)',
            OPTIONS,
            'X does not speak TLS at that port: write http://',
        ),
        (
            '[SSL] EOF occurred in violation of protocol (_ssl.c:1006)',
            OPTIONS,
            'or write http:// in place of https:// if that port has no TLS',
        ),
        (
            '[SSL] tlsv1 alert unknown ca (_ssl.c:2580)',
            VARIABLES,
            '(unknown ca): set OS_CERT and OS_KEY in the environment to a',
        ),
    ],
)
def test_the_advice_follows_from_the_cause(said, where, line):
    assert line in failures.refused_certificate(OSError(said), 'X', where)


def test_the_file_of_authorities_is_named_if_it_is_known():
    exc = OSError(f'{VERIFY}self-signed certificate (')
    for known, named in (('', 'not set'), ('/ca.pem', '/ca.pem')):
        said = failures.refused_certificate(exc, 'X', OPTIONS, known)
        assert f'[placement] cafile is {named}; set it to' in said


@pytest.mark.parametrize(
    ('where', 'text'),
    [
        (OPTIONS, '[placement] in /etc/agent.conf'),
        (CLOUD, 'the cloud prod in /etc/openstack/clouds.yaml'),
        (VARIABLES, 'the OS_* variables of the environment'),
    ],
)
def test_an_account_names_its_origin(where, text):
    assert str(where) == text
