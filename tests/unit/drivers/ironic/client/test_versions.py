# SPDX-License-Identifier: Apache-2.0
"""The newest version both sides have is spoken; too old lists nothing."""

import pytest

from compute_agent import errors
from drivers.ironic.nodes import answers

HEADER = 'X-OpenStack-Ironic-API-Version'
MINE = answers.spelled(answers.NEWEST)


def headers(oldest, newest):
    return {
        'content-type': 'application/json',
        'X-OpenStack-Ironic-API-Minimum-Version': answers.spelled(oldest),
        'X-OpenStack-Ironic-API-Maximum-Version': answers.spelled(newest),
    }


@pytest.fixture
def ironic(play):
    """An Ironic without nodes; after an answer of None comes the next one.

    :param supported: the oldest and newest version; None for an outage
    """

    def ironic(*supported):
        play('/v1/nodes', *(_answer(one) for one in supported))
        known = [one for one in supported if one]
        play('/v1', {'json': {}, 'headers': headers(*known[0])})

    return ironic


def _answer(supported):
    if supported is None:
        return {'status_code': 503}
    oldest, newest = supported

    def answer(request, context):
        asked = tuple(int(n) for n in request.headers[HEADER].split('.'))
        if not oldest <= asked <= newest:
            context.status_code = 406
        return {'nodes': []}

    return {'json': answer, 'headers': headers(oldest, newest)}


@pytest.fixture
def asked(requests_mock):
    """The versions of the requests for nodes so far."""
    return lambda: [
        r.headers[HEADER]
        for r in requests_mock.request_history
        if r.path == '/v1/nodes'
    ]


@pytest.fixture(autouse=True)
def _no_cache_file(monkeypatch):
    """Fail when the client reads or writes its cache in a home directory."""

    def refuse(*args, **kwargs):
        raise AssertionError(args, kwargs)

    for name in ('save_data', 'retrieve_data'):
        monkeypatch.setattr(f'ironicclient.common.filecache.{name}', refuse)


def test_a_newer_ironic_is_asked_in_our_version(ironic, make_api, asked):
    ironic(((1, 1), (1, 115)))
    make_api().nodes()
    assert asked() == [MINE]


def test_an_older_ironic_is_asked_in_its_version_from_then_on(
    ironic, make_api, asked
):
    ironic(((1, 1), (1, 82)))
    api = make_api(shard='a')
    api.nodes()
    api.nodes()
    assert asked() == [MINE, '1.82', '1.82']


@pytest.mark.parametrize(
    ('options', 'newest', 'line'),
    [
        (
            {'shard': 's'},
            (1, 81),
            r'^\[ironic\] shard needs Ironic API 1\.82 or newer; .* has 1\.81: ',
        ),
        (
            {'conductor_group': ''},
            (1, 45),
            r'\[ironic\] conductor_group needs Ironic API 1\.46 or newer; ',
        ),
        (
            {'conductor_group': 'g', 'shard': 's'},
            (1, 60),
            r'\[ironic\] shard needs',
        ),
        ({}, (1, 36), r'the ironic driver needs Ironic API 1\.37 or newer; '),
    ],
)
def test_an_ironic_that_is_too_old_lists_nothing(
    ironic, make_api, asked, options, newest, line
):
    ironic(((1, 1), newest))
    with pytest.raises(errors.ConfigError, match=line) as raised:
        make_api(**options).nodes()
    assert '\n' not in str(raised.value)
    assert asked() == [MINE]


@pytest.mark.parametrize(
    ('options', 'newest'),
    [
        ({'shard': 's'}, (1, 82)),
        ({'conductor_group': 'g'}, (1, 46)),
        ({}, (1, 37)),
    ],
)
def test_an_ironic_that_is_just_new_enough_will_do(
    ironic, make_api, asked, options, newest
):
    ironic(((1, 1), newest))
    assert make_api(**options).nodes().nodes == {}
    assert asked() == [MINE, answers.spelled(newest)]


def test_an_ironic_that_forgot_our_version_is_unknown(ironic, make_api, asked):
    ironic(((1, 200), (1, 300)))
    with pytest.raises(errors.UnknownState, match='no API version in common'):
        make_api().nodes()
    assert asked() == [MINE]


def test_a_refusal_that_contradicts_itself_ends(play, make_api, asked):
    said = headers((1, 1), (1, 115))
    play('/v1/nodes', {'status_code': 406, 'headers': said})
    play('/v1', {'json': {}, 'headers': said})
    with pytest.raises(errors.UnknownState, match='no API version in common'):
        make_api().nodes()
    assert asked() == [MINE]


def test_a_406_of_something_else_is_no_ironic(play, make_api):
    play('/v1/nodes', {'status_code': 406})
    play('/v1', {'text': 'hello'})
    with pytest.raises(errors.Unavailable, match='cannot be reached'):
        make_api().nodes()


def test_an_ironic_that_was_away_may_have_been_upgraded(
    ironic, make_api, asked
):
    old, new = ((1, 1), (1, 82)), ((1, 1), (1, 115))
    ironic(old, old, None, new)
    api = make_api()
    api.nodes()
    with pytest.raises(errors.Unavailable):
        api.nodes()
    api.nodes()
    assert asked() == [MINE, '1.82', '1.82', MINE]


@pytest.mark.parametrize(
    'text',
    [
        'Supported version range is 1.1 to 1.72',
        'Supported\nversion range is:\n1.1 to\n1.72',
    ],
)
def test_a_refusal_tells_the_range_however_its_lines_break(text):
    assert answers.supported(text) == ((1, 1), (1, 72))


def test_a_refusal_without_a_range_tells_nothing():
    assert answers.supported('Not acceptable') is None
