# SPDX-License-Identifier: Apache-2.0
"""Many bad answers, each to every read and write: one line, nothing removed.

Each answer is sent byte by byte as it stands here, over a real connection, to
the requests of an agent that would write if it were sure. Errors of the agent's
own are the only ones that may come out.
"""

import gzip
import json

import pytest
from agents import NODE
from connected import by_token, to_ironic, to_placement
from scripted_server import answer, scripted

from compute_agent import errors
from compute_agent.tree import assertion
from report_client.http.messages import codec, paths
from report_client.observe import reader

SECRET = 'TOKEN-0'
OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
DEEP = 100_000
ROW = {
    'uuid': NODE,
    'name': 'cn1',
    'generation': 1,
    'parent_provider_uuid': None,
    'root_provider_uuid': NODE,
}


def rows(**fields):
    return answer(body={'resource_providers': [{**ROW, **fields}]})


def everything(value):
    """Return an answer in which each part that is asked for has this value."""
    keys = (
        *('resource_providers', 'traits', 'aggregates', 'inventories'),
        *('resource_provider_generation', 'allocations', 'nodes', 'uuid'),
        *('resource_classes', 'generation', 'next'),
    )
    return answer(body=dict.fromkeys(keys, value))


HOSTILE = {
    # not the JSON that it seems to be
    'truncated JSON': answer(body=b'{"resource_providers": [{"uuid": "11'),
    'nothing': answer(body=b''),
    'blanks': answer(body=b' \n ' * 100),
    'HTML': answer(body=b'<html><h1>It works!</h1></html>'),
    'HTML that says so': answer(
        body=b'<html>', headers={'Content-Type': 'text/html'}
    ),
    'no UTF-8': answer(body=b'{"traits": ["\xff\xfe"]}'),
    'UTF-16': answer(body='{"traits": []}'.encode('utf-16')),
    'two documents': answer(body=b'{}{}'),
    'deep arrays': answer(body=b'[' * DEEP + b']' * DEEP),
    'deep objects': answer(body=b'{"a":' * DEEP + b'1' + b'}' * DEEP),
    'deep inside': answer(
        body=b'{"resource_providers": [' + b'[' * DEEP + b']' * DEEP + b']}'
    ),
    'NaN': answer(body=b'NaN'),
    'infinity inside': answer(
        body=b'{"resource_provider_generation": Infinity, "traits": [],'
        b'"inventories": {}, "aggregates": [], "generation": Infinity,'
        b'"resource_providers": Infinity, "nodes": Infinity}'
    ),
    'a number too long': answer(
        body=b'{"resource_provider_generation": ' + b'9' * 10_000 + b'}'
    ),
    # JSON of another shape
    'null': answer(body=b'null'),
    'a number': answer(body=b'7'),
    'an array': answer(body=b'[]'),
    'a string': answer(body=b'"ok"'),
    'an empty object': answer(body=b'{}'),
    'null inside': everything(None),
    'strings inside': everything('x\x1b[31m'),
    'numbers inside': everything(10**20),
    'true inside': everything(value=True),
    'objects inside': everything({'a': {'b': None}}),
    'arrays inside': everything([[]]),
    'halves of characters': everything(['\ud800']),
    # rows that cannot be
    'an empty uuid': rows(uuid=''),
    'a uuid that is half': rows(uuid='\udfff'),
    'no root': rows(root_provider_uuid=None),
    'a parent that is a list': rows(parent_provider_uuid=[NODE]),
    'a generation of truth': rows(generation=True),
    'a twin': answer(body={'resource_providers': [ROW, ROW]}),
    # HTTP that is not as it says
    'a length too long': answer(body=b'{}', length=100),
    'a length too short': answer(body=b'{"traits": []}', length=3),
    'a length below zero': answer(body=b'{}', length=-5),
    'gzip that is none': answer(
        body=b'{}', headers={'Content-Encoding': 'gzip'}
    ),
    'gzip cut off': answer(
        body=gzip.compress(b'{"resource_providers": []}' * 99)[:30],
        headers={'Content-Encoding': 'gzip'},
    ),
    'gzip twice': answer(
        body=gzip.compress(gzip.compress(b'{}')),
        headers={'Content-Encoding': 'gzip, gzip'},
    ),
    'chunks cut off': [OK, b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a'],
    'a chunk of no size': [OK, b'Transfer-Encoding: chunked\r\n\r\nxyz\r\n'],
    'a huge chunk': [
        OK,
        b'Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n',
    ],
    'a chunk below zero': [OK, b'Transfer-Encoding: chunked\r\n\r\n-5\r\n{}'],
    'no HTTP': [b'SSH-2.0-OpenSSH_9.6\r\n'],
    'a status of words': [b'HTTP/1.1 fine\r\n\r\n'],
    'a status out of range': [b'HTTP/1.1 999 Odd\r\n\r\n{}'],
    'no answer': [],
    'half a header': [b'HTTP/1.1 200 OK\r\nContent-Le'],
    'ten thousand headers': [OK, b'X: y\r\n' * 10_000, b'\r\n{}'],
    'a header too long': [OK, b'X: ' + b'y' * 1_000_000, b'\r\n\r\n{}'],
    'a header that is none': [OK, b'\x00\x01\x02\r\n\r\n{}'],
    # other statuses
    'a part': answer(206, {'resource_providers': [], 'nodes': []}),
    'not modified': answer(304),
    'many choices': answer(300, {'versions': []}),
    'a teapot': answer(418, b'\x1b[2Jtea\n'),
    'an error of words': answer(500, {'errors': 'all'}),
    'an error of nothing': answer(500, {'errors': []}),
    'a version of no numbers': answer(
        406, {'errors': [{'max_version': 'x.y', 'min_version': None}]}
    ),
    'the version asked for': answer(
        406, {'errors': [{'max_version': '1.39', 'min_version': '1.0'}]}
    ),
    'unauthorised': answer(401, b'\xff' * 99),
    'an error of control characters': answer(
        400, {'errors': [{'detail': 'no\nsuch \x9b thing', 'status': 400}]}
    ),
}

READS = {
    'list': lambda r: r.list_providers('/resource_providers'),
    'traits': lambda r: r.contents(NODE, assertion.Kind.TRAIT),
    'aggregates': lambda r: r.contents(NODE, assertion.Kind.AGGREGATE),
    'inventories': lambda r: r.contents(NODE, assertion.Kind.INVENTORY),
    'allocations': lambda r: r.allocated(NODE),
    'consumer': lambda r: r.consumer(NODE),
    'names': lambda r: r.known_names(),
}
WRITES = {
    ('POST', paths.PROVIDERS): codec.created_generation,
    ('PUT', f'{paths.PROVIDERS}/{NODE}/traits'): codec.generation_after,
    ('PUT', f'{paths.PROVIDERS}/{NODE}/inventories'): codec.generation_after,
}


def check(raised):
    said = str(raised.value)
    assert said
    assert said.isprintable(), said
    assert SECRET not in said
    assert 'Traceback' not in said
    assert len(said) < 1000


@pytest.mark.parametrize('what', HOSTILE)
def test_a_read_of_placement_fails_in_one_line(tmp_path, what):
    with scripted(lambda _: HOSTILE[what]) as server:
        service = to_placement(
            tmp_path, by_token(server.url), {'request_deadline': 5}
        )
        looking = reader.Reader(service, lambda: 0.0)
        for ask in READS.values():
            with pytest.raises(errors.AgentError) as raised:
                ask(looking)
            check(raised)


@pytest.mark.parametrize('what', HOSTILE)
def test_a_write_to_placement_fails_in_one_line(tmp_path, what):
    with scripted(lambda _: HOSTILE[what]) as server:
        service = to_placement(
            tmp_path, by_token(server.url), {'request_deadline': 5}
        )
        for (method, path), generation in WRITES.items():
            request = codec.Request(method=method, path=path, body={'a': 1})
            with pytest.raises(errors.AgentError) as raised:
                generation(service.send(request))
            check(raised)


@pytest.mark.parametrize('what', HOSTILE)
def test_a_list_of_ironic_fails_in_one_line(what):
    with scripted(lambda _: HOSTILE[what]) as server:
        driver = to_ironic(server.url, request_deadline=5)
        with pytest.raises(errors.AgentError) as raised:
            driver.get_available_nodes()
        check(raised)
        with pytest.raises(errors.AgentError) as raised:
            driver.node_exists(NODE)
        check(raised)


def well_framed():
    """Return name → status and body of the answers that are proper HTTP."""
    found = {}
    for name, pieces in HOSTILE.items():
        if pieces:
            head = pieces[0].split(b'\r\n')
            length = f'Content-Length: {len(pieces[-1])}'.encode()
            if length in head and b'Content-Encoding' not in pieces[0]:
                found[name] = (int(head[0].split()[1]), pieces[-1])
    return found


@pytest.mark.parametrize('what', well_framed())
def test_nothing_is_removed_because_of_it(
    placement, agent_factory, operator, caplog, what
):
    """Every read of a cycle that would remove much has this answer."""

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.update_traits(node, ['HW_CPU_X86_AVX', 'CUSTOM_A'])

    agent = agent_factory(describe, max_removed_percent=None)
    agent.done()
    before = operator.holdings()
    agent.driver.describe = lambda tree, node: tree.update_inventory(node, {})
    placement.clear()
    placement.fault('GET *', well_framed()[what], times=None)
    try:
        results = agent.sync()
    except errors.AgentError as exc:
        reasons = [str(exc)]
    else:
        reasons = [result.reason for result in results]
    assert all(reasons)
    assert all(' '.join(reason.split()) == reason for reason in reasons)
    assert 'unexpected' not in ' '.join(reasons)
    assert not [r for r in caplog.records if r.exc_info]
    assert placement.writes == []
    placement.mend()
    assert operator.holdings() == before


def test_the_table_is_long_and_has_no_twin():
    assert len(HOSTILE) >= 40
    sent = [b''.join(pieces) for pieces in HOSTILE.values()]
    assert len(set(sent)) == len(sent)
    assert json.loads(b''.join(rows()).split(b'\r\n\r\n')[1])
    assert codec.listed_providers({'resource_providers': [ROW]})
