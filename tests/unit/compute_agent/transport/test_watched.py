# SPDX-License-Identifier: Apache-2.0
"""A request counts for keystone if it goes to keystone's host and port."""

import pytest
import requests
from requests import adapters

from compute_agent.transport import watched


class Server(adapters.BaseAdapter):
    """Answers every request; nothing is sent."""

    def send(self, _request, *_args, **_how):
        answer = requests.Response()
        answer.status_code = 200
        return answer

    def close(self):
        pass


def service_of(url, keystone):
    """Return the service that a request to this address counts for."""
    adapter = watched.WatchedAdapter(Server(), 'placement', keystone)
    sent = []
    with watched.SENT.watching(sent.append):
        adapter.send(requests.Request('GET', url).prepare())
    return sent[0].service


@pytest.mark.parametrize(
    ('url', 'keystone'),
    [
        ('https://keystone.example/', 'https://keystone.example/v3'),
        ('https://keystone.example/', 'https://Keystone.Example/v3'),
        ('https://KEYSTONE.example/', 'https://keystone.example/v3'),
        ('https://keystone.example/', 'https://keystone.example:443/v3'),
        ('http://keystone.example:80/', 'http://keystone.example'),
        ('http://[2001:db8::1]:5000/', 'http://[2001:DB8::1]:5000/v3'),
    ],
)
def test_the_spelling_of_keystone_s_address_does_not_matter(url, keystone):
    assert service_of(url, keystone) == 'keystone'


@pytest.mark.parametrize(
    ('url', 'keystone'),
    [
        ('https://placement.example/', 'https://keystone.example/v3'),
        ('http://one.example:8778/', 'http://one.example:5000/v3'),
        ('http://one.example/', 'https://one.example/v3'),
        ('http://one.example/', ''),
        ('http://one.example/', 'one.example'),
        ('http://one.example/', 'http://one.example:99999/'),
        ('http://one.example/', 'http://[one.example/'),
    ],
)
def test_another_server_or_no_address_of_keystone(url, keystone):
    assert service_of(url, keystone) == 'placement'
