# SPDX-License-Identifier: Apache-2.0
"""A list of providers that arrives in chunks is complete, or an error."""

import itertools
import json
import random
import sys
import tracemalloc

import pytest
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from report_client import errors
from report_client.http.messages import codec, list_stream

KEY = 'resource_providers'
UUID = '11111111-1111-4111-8111-111111111111'
ROOT = '22222222-2222-4222-8222-222222222222'


def provider(**fields):
    """Return a row as placement has it."""
    return {
        'uuid': UUID,
        'name': 'cn1',
        'generation': 3,
        'links': [{'rel': 'self', 'href': f'/resource_providers/{UUID}'}],
        'parent_provider_uuid': None,
        'root_provider_uuid': UUID,
        **fields,
    }


def text(*some, **beside):
    return json.dumps({KEY: list(some), **beside})


def pieces(body, lengths):
    """Yield a body in pieces of these lengths, over and over."""
    at = 0
    for length in itertools.cycle(lengths):
        if at >= len(body):
            return
        yield body[at : at + length]
        at += length


def read(body, lengths=(1,), at_once=40):
    """Return the rows of a body in pieces, or that it is malformed."""
    try:
        return list_stream.listed_providers(pieces(body, lengths), at_once)
    except errors.MalformedAnswer:
        return 'malformed'


def read_whole(body):
    """Return the rows of a body that is decoded at once."""
    try:
        return codec.listed_providers(json.loads(body.decode('utf-8')))
    except (errors.MalformedAnswer, ValueError, RecursionError):
        return 'malformed'


# --- any list, any pieces -----------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(['ü', '\N{SNOWMAN}', '\N{GOAT}', '"', '\\', ']', '}, {'])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
uuids = st.sampled_from([UUID, ROOT, 'u'])
providers = st.builds(
    provider,
    uuid=uuids,
    name=st.text(max_size=30),
    generation=st.integers(min_value=0, max_value=10**30),
    parent_provider_uuid=st.none() | uuids,
    root_provider_uuid=uuids,
    links=anything,
)
others = st.dictionaries(st.text(max_size=3), anything, max_size=2)
blank = st.sampled_from(['', ' ', '\n', ' \r\n\t '])


@st.composite
def bodies(draw):
    """Draw the text of a list, in one of the many ways to write it."""
    body = {
        **draw(st.just({}) | others),
        KEY: draw(st.lists(providers, max_size=5)),
        **draw(st.just({}) | others),
    }
    written = json.dumps(
        body,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 1])),
        separators=(draw(blank) + ',' + draw(blank), draw(blank) + ':'),
    )
    surrounded = draw(blank) + written + draw(blank)
    return surrounded.encode('utf-8', 'replace')


lengths = st.lists(st.integers(1, 60), min_size=1, max_size=4)
at_once = st.integers(1, 200)
law = settings(max_examples=examples(150), deadline=None)


@law
@given(bodies(), lengths, at_once)
def test_in_whatever_pieces_it_comes_it_is_what_json_says(body, cut, gathered):
    assert read(body, cut, gathered) == read_whole(body)


@law
@given(bodies(), lengths, at_once, st.data())
def test_a_part_of_it_is_no_list(body, cut, gathered, data):
    end = data.draw(st.integers(0, len(body.rstrip()) - 1))
    assert read(body[:end], cut, gathered) == 'malformed'


@law
@given(bodies(), lengths, at_once, st.data())
def test_a_byte_too_few_is_what_json_says(body, cut, gathered, data):
    at = data.draw(st.integers(0, len(body) - 1))
    changed = body[:at] + body[at + 1 :]
    assert read(changed, cut, gathered) == read_whole(changed)


@law
@given(bodies(), lengths, at_once, st.data())
def test_another_byte_is_what_json_says(body, cut, gathered, data):
    at = data.draw(st.integers(0, len(body) - 1))
    byte = data.draw(st.integers(0, 255) | st.sampled_from(b'"\\,:[]{}.e-0 '))
    changed = body[:at] + bytes([byte]) + body[at + data.draw(st.booleans()) :]
    assert read(changed, cut, gathered) == read_whole(changed)


@law
@given(st.lists(st.sampled_from(b'{}[]:,"ue0 \\-.'), max_size=12), lengths)
@example(list(b'.5}'), [1])
@example(list(b'}}'), [1])
@example(list(b',}'), [1])
def test_behind_the_list_comes_its_end_and_nothing_else(tail, cut):
    body = text(provider(), provider())[:-1].encode() + bytes(tail)
    assert read(body, cut) == read_whole(body)


# --- what has been thought of -------------------------------------------------

ROW = json.dumps(provider())
WELL = {
    'no provider': text(),
    'no provider, with blanks': f'{{"{KEY}" : [ ] }}',
    'something beside it': text(provider(), more={KEY: [1]}, of=[{}]),
    'something before it': f'{{"a": [1, {{}}], "{KEY}": [{ROW}]}}',
    'blanks everywhere': f'\n{{ "{KEY}"\t: [ {ROW} ,\r\n {ROW} ] , "a" : 1 }} ',
    'blanks of a kilobyte': f'{" " * 999}{{"{KEY}": [{ROW},{" " * 999}{ROW}]}}',
    'a row longer than all pieces': text(provider(links='x' * 5000)),
    'a name of very many blanks': text(provider(name=f'a{" " * 500}b')),
    'characters of many bytes': text(provider(name='ü\N{GOAT}' * 40)),
    'the same as bytes': json.dumps(
        {KEY: [provider(name='ü\N{GOAT}' * 40)] * 3}, ensure_ascii=False
    ),
    'escapes': text(*[provider(name='"\\\n\t]}{[,\x7f')] * 3),
    'half of a character': text(provider(name='\ud83d')),
    'what is no number': f'{{"{KEY}": [{ROW}, {ROW[:-1]}, "x": NaN}}]}}',
    'a name twice in a row': f'{{"{KEY}": [{{"uuid": 5, {ROW[1:]}, {ROW}]}}',
    'its name escaped': f'{{"resource\\u005fproviders": [{ROW}]}}',
}
ILL = {
    'nothing': '',
    'blanks': '  \n',
    'a blank that JSON does not know': f'\x0b{text(provider())}',
    'no list': '{}',
    'a list alone': f'[{ROW}]',
    'a text': '"text"',
    'another list': f'{{"providers": [{ROW}]}}',
    'an object in its place': f'{{"{KEY}": {{"item": {ROW}}}}}',
    'null in its place': f'{{"{KEY}": null}}',
    'a list in it': f'{{"{KEY}": [[{ROW}]]}}',
    'a text in it': f'{{"{KEY}": ["x"]}}',
    'a row that is a number': f'{{"{KEY}": [{ROW}, 5]}}',
    'a row that is null': f'{{"{KEY}": [{ROW}, null, {ROW}]}}',
    'a row without a name': f'{{"{KEY}": [{ROW}, {{"uuid": "{UUID}"}}]}}',
    'a generation in words': text(provider(generation='3')),
    'a generation of truth': text(provider(), provider(generation=True)),
    'a generation too long': text(provider()).replace('3', '3' * 9999, 1),
    'a comma too many': f'{{"{KEY}": [{ROW}, ]}}',
    'a comma too few': f'{{"{KEY}": [{ROW} {ROW}]}}',
    'nothing between': f'{{"{KEY}": [{ROW}, , {ROW}]}}',
    'no end': f'{{"{KEY}": [{ROW}, {ROW}]',
    'no end of the list': f'{{"{KEY}": [{ROW}, {ROW}',
    'no end of the list but the object': f'{{"{KEY}": [{ROW}, {ROW}}}',
    'cut between rows': f'{{"{KEY}": [{ROW}, ',
    'more behind it': text(provider()) + text(provider()),
    'a line break in a name': text(provider()).replace('cn1', 'cn\n'),
    'an unknown word': f'{{"{KEY}": [{ROW}, nil]}}',
    'one list after another': f'{{"{KEY}": [{ROW}], "{KEY}": [{ROW}]}}',
    'nothing after a list': f'{{"{KEY}": [{ROW}], "{KEY}": null}}',
    'deep in front': '[' * 100_000,
    'deep in a row': f'{{"{KEY}": [{ROW}, {{"links": {"[" * 100_000}',
    'deep behind': f'{{"{KEY}": [{ROW}], "x": {"[" * 100_000}',
}
PIECES = [[1], [2, 3], [7], [10**6]]


def chunked(cases, *kinds):
    """Return a parameter for each case in each kind of pieces."""
    return [
        pytest.param(body, kind, id=f'{name}-{"+".join(map(str, kind))}')
        for name, body in cases.items()
        for kind in kinds
    ]


@pytest.mark.parametrize(('body', 'cut'), chunked(WELL, *PIECES))
def test_what_json_takes_is_taken(body, cut):
    sent = body.encode()
    found = read(sent, cut)
    assert found != 'malformed'
    assert found == read_whole(sent)


@pytest.mark.parametrize(('body', 'cut'), chunked(ILL, *PIECES))
def test_what_is_no_list_is_malformed(body, cut):
    assert read(body.encode(), cut) == 'malformed'


@pytest.mark.parametrize(
    ('field', 'value'),
    [('generation', -1), ('generation', 10**20), ('name', 'half \ud800')],
)
def test_a_value_out_of_range_is_the_fault_of_its_row(field, value):
    body = text(provider(), provider(**{field: value}), provider()).encode()
    first, broken, last = read(body, [7])
    assert (first.fault, last.fault) == ('', '')
    assert first == last
    assert broken.uuid == UUID
    assert broken.fault.isprintable()
    assert str(broken).isprintable()


@pytest.mark.parametrize('cut', PIECES)
@pytest.mark.parametrize('wrong', [b'\xff', b'\xc3', b'\xed\xa0\x80'])
def test_what_is_no_utf_8_is_malformed(wrong, cut):
    body = text(provider(), provider(name='NAME'), provider()).encode()
    assert read(body.replace(b'NAME', wrong), cut) == 'malformed'
    assert read(body + wrong, cut) == 'malformed'


# --- what is said -------------------------------------------------------------


def said(body):
    with pytest.raises(errors.MalformedAnswer) as raised:
        list_stream.listed_providers([body.encode()])
    assert '\n' not in str(raised.value)
    return str(raised.value)


def test_of_what_is_no_json_the_beginning_is_shown():
    assert said('<html>' + 'x' * 999) == (
        f"placement's answer is not JSON: {'<html>' + 'x' * 54!r}; does "
        'another service use that address?'
    )


@pytest.mark.parametrize(
    ('body', 'shown'), [('', None), ('{"a": 1}', {'a': 1}), ('[]', [])]
)
def test_of_another_thing_it_is_shown(body, shown):
    assert said(body).startswith(
        "placement's answer does not have the documented shape: "
        f'{str(shown)!r} ('
    )


@pytest.mark.parametrize(
    'cut', [f'{ROW}, {ROW}, {{"uuid', f'{ROW}, {ROW}, ', f'{ROW}, {ROW}], "a']
)
def test_of_one_that_breaks_off_its_last_provider_is_named(cut):
    assert said(f'{{"{KEY}": [{cut}') == (
        "placement's list of providers breaks off or is malformed after 2 "
        f'providers; the last one is cn1 ({UUID})'
    )


def test_of_a_wrong_row_the_row_is_shown():
    wrong = provider(generation='5')
    assert said(text(provider(), wrong)) == (
        "placement's answer does not have the documented shape: "
        f'{str(wrong)[:120]!r} '
        "(TypeError: '5' is not a whole number)"
    )


# --- what it costs ------------------------------------------------------------


def cloud(count):
    """Yield a list of so many providers in pieces."""
    random_uuid = random.Random(7)
    yield f'{{"{KEY}": ['.encode()
    for number in range(count):
        uuid = f'{random_uuid.getrandbits(128):032x}'
        links = [
            {'rel': rel, 'href': f'/resource_providers/{uuid}/{rel}'}
            for rel in ('inventories', 'usages', 'aggregates', 'traits')
        ]
        row = provider(
            uuid=uuid, name=f'cn{number}', links=links, root_provider_uuid=uuid
        )
        yield (', ' * bool(number) + json.dumps(row)).encode()
    yield b']}'


def peak(act):
    """Return what an act gives, and how many bytes it held at most."""
    tracemalloc.start()
    try:
        return act(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_it_holds_a_small_part_of_what_all_at_once_is():
    streamed, least = peak(lambda: list_stream.listed_providers(cloud(4000)))
    whole, most = peak(
        lambda: codec.listed_providers(json.loads(b''.join(cloud(4000))))
    )
    assert streamed == whole
    assert len(streamed) == 4000
    assert least < most / 5


def test_a_root_is_one_string_whatever_is_below_it():
    below = {'parent_provider_uuid': ROOT, 'root_provider_uuid': ROOT}
    body = text(provider(), provider(**below), provider(**below))
    root, one, other = list_stream.listed_providers(pieces(body.encode(), [9]))
    assert root.uuid is root.root_uuid
    assert one.root_uuid is one.parent_uuid is other.root_uuid


def tries(work):
    """Return how often something is tried as JSON while this is done."""
    count = 0

    def note(frame, event, _):
        nonlocal count
        count += event == 'call' and frame.f_code.co_name == 'raw_decode'

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_row_of_very_many_pieces_is_tried_a_few_times():
    """What is tried doubles: 20,000 pieces of 50 bytes are 2 to the 14.3."""
    body = text(provider(links='x' * 1_000_000)).encode()
    found = []
    assert (
        1
        < tries(
            lambda: found.extend(
                list_stream.listed_providers(pieces(body, [50]), 50)
            )
        )
        < 20
    )
    assert len(found) == 1
