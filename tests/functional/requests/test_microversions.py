# SPDX-License-Identifier: Apache-2.0
"""The microversion: learned from a refusal, and enough for the request."""

import pytest

from report_client import errors
from report_client.http.messages import codec


def test_the_newest_is_asked_for_and_an_older_one_is_learned_once(
    placement, service, newest
):
    newest('1.30')
    service.get('/traits')
    service.get('/traits')
    asked = [request.microversion for request in placement.requests]
    assert asked == ['1.39', '1.30', '1.30']


def test_two_who_learn_it_at_the_same_time_both_go_on(
    placement, service, newest
):
    newest('1.30')
    left = [lambda: service.get('/resource_classes')]

    def meanwhile(request):
        if request.path == '/traits' and left:
            left.pop()()

    placement.before_request(meanwhile)
    assert codec.traits(service.get('/traits'))
    asked = [(r.path, r.microversion, r.status) for r in placement.requests]
    assert asked == [
        ('/resource_classes', '1.39', 406),
        ('/resource_classes', '1.30', 200),
        ('/traits', '1.39', 406),
        ('/traits', '1.30', 200),
    ]


@pytest.mark.parametrize('needed', [(1, 32), (1, 39)])
def test_what_an_older_one_lacks_is_not_sent_to_it(
    placement, service, newest, needed
):
    newest('1.31')
    with pytest.raises(errors.TooOld) as raised:
        service.get('/traits', needed)
    assert str(raised.value) == (
        'the placement of this test has API version 1.31; GET /traits needs '
        f'1.{needed[1]} or newer: upgrade placement'
    )
    assert [r.status for r in placement.requests] == [406]
    assert codec.traits(service.get('/traits', (1, 31)))


def test_what_a_reply_says_besides_its_body_is_its_status(service):
    request = codec.Request(method='PUT', path='/traits/CUSTOM_A')
    assert service.reply(request).status == 201
    again = service.reply(request)
    assert (again.status, again.body) == (204, None)


@pytest.mark.parametrize('path', ['/traits/CUSTOM_A', '/resource_providers/x'])
@pytest.mark.parametrize('body', ['', '<h1>Not Found</h1>', '[]'])
def test_a_404_in_other_words_than_placement_s_is_no_placement(
    placement, service, path, body
):
    placement.fault('GET *', (404, body))
    with pytest.raises(errors.Unreachable, match=r'is no placement \(HTTP'):
        service.get(path)


REFUSED = 'the placement of this test refuses API version 1.39 (HTTP 406) and '
SPOKEN = '; this agent speaks 1.30 to 1.39: '
ELSE = (
    ', or set endpoint_override in [placement] if that is not placement itself'
)


@pytest.mark.parametrize(
    ('body', 'offer', 'advice'),
    [
        ('<h1>no</h1>', 'does not say which it takes', 'upgrade placement'),
        (
            {'errors': [{'max_version': 'latest', 'min_version': '1.0'}]},
            'does not say which it takes',
            'upgrade placement',
        ),
        (
            {'errors': [{'max_version': '1.39', 'min_version': '1.0'}]},
            'says it takes 1.0 to 1.39',
            'upgrade placement',
        ),
        (
            {'errors': [{'max_version': '2.7', 'min_version': '2.1'}]},
            'says it takes 2.1 to 2.7',
            'upgrade this agent',
        ),
    ],
)
def test_one_that_refuses_every_version_is_asked_once_and_said(
    placement, service, body, offer, advice
):
    placement.fault('*', (406, body), times=None)
    with pytest.raises(errors.TooOld) as raised:
        service.get('/traits')
    assert str(raised.value) == REFUSED + offer + SPOKEN + advice + ELSE
    assert len(placement.requests) == 1


def test_one_that_refuses_what_it_offers_is_asked_twice_and_said(
    placement, service
):
    offer = {'max_version': '1.35', 'min_version': '1.0'}
    placement.fault('*', (406, {'errors': [offer]}), times=None)
    with pytest.raises(errors.TooOld, match=r'refuses API version 1\.35 '):
        service.get('/traits')
    asked = [request.microversion for request in placement.requests]
    assert asked == ['1.39', '1.35']
