# SPDX-License-Identifier: Apache-2.0
"""The environment is read once for each server."""

import pytest

from compute_agent.transport import environment

SERVER, OTHER = 'http://placement.example/rp', 'http://keystone.example/v3'
PROXY, NEW = 'http://proxy.example:3128', 'http://new.example:3128'


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setenv('http_proxy', PROXY)
    monkeypatch.setenv('no_proxy', 'keystone.example')
    monkeypatch.delenv('REQUESTS_CA_BUNDLE', raising=False)
    with environment.Session() as made:
        yield made


def settings(session, url, proxies=None, verify=True):  # noqa: FBT002
    return session.merge_environment_settings(
        url, {} if proxies is None else proxies, None, verify, None
    )


def proxy(session, url, **some):
    return settings(session, url, **some)['proxies'].get('http')


def test_a_proxy_of_the_environment_counts(session):
    assert proxy(session, SERVER) == PROXY


@pytest.mark.catches('the environment says the same of every server')
def test_each_server_has_its_own_settings(session):
    assert proxy(session, SERVER) == PROXY
    assert proxy(session, OTHER) is None
    assert proxy(session, SERVER) == PROXY


def test_another_path_of_a_server_is_not_looked_up(session, monkeypatch):
    settings(session, SERVER)
    monkeypatch.setenv('http_proxy', NEW)
    assert proxy(session, SERVER + '/another?query') == PROXY


def test_a_caller_may_change_what_it_was_given(session):
    settings(session, SERVER)['proxies']['http'] = NEW
    assert proxy(session, SERVER) == PROXY


def test_the_proxies_of_a_caller_are_not_remembered(session):
    assert proxy(session, SERVER, proxies={'http': NEW}) == NEW
    assert proxy(session, SERVER) == PROXY


def test_certificates_of_the_environment_count(session, monkeypatch):
    monkeypatch.setenv('REQUESTS_CA_BUNDLE', '/etc/ca.pem')
    assert settings(session, SERVER)['verify'] == '/etc/ca.pem'
    assert settings(session, SERVER, verify=False)['verify'] is False


def test_a_session_that_ignores_the_environment_has_no_proxy(session):
    settings(session, SERVER)
    session.trust_env = False
    assert proxy(session, SERVER) is None
