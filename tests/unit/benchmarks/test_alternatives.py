# SPDX-License-Identifier: Apache-2.0
"""Ways that are compared come to the same, request by request."""

import pytest

from benchmarks import alternatives
from benchmarks.sync_cycles import cloud


@pytest.fixture(name='nodes')
def nodes_to_write():
    """More than the smallest POST has, and not a multiple of it."""
    return cloud.parse(cloud.listing(25))


def test_each_way_to_write_has_each_inventory_once(nodes):
    wanted = {node['uuid']: node['inventory'] for node in nodes}
    for way in alternatives.writing(nodes):
        found = []
        for method, path, body in way.requests:
            if method == 'PUT':
                found.append((path.split('/')[2], body))
            else:
                assert (method, path) == ('POST', '/reshaper')
                assert body['allocations'] == {}
                found += body['inventories'].items()
        assert len(found) == len(nodes)
        assert {uuid: one['inventories'] for uuid, one in found} == wanted


def test_a_post_has_so_many_and_the_last_one_the_rest(nodes):
    ways = {way.name: way for way in alternatives.writing(nodes)}
    few = ways['POST /reshaper, 10 in each'].requests
    assert [len(body['inventories']) for _, _, body in few] == [10, 10, 5]


def test_ways_to_look_say_how_many_rows_must_come(nodes):
    each, some, every = alternatives.looking(nodes)
    assert len(each.requests) == each.rows == some.rows == len(nodes)
    assert {path for _, path, _ in each.requests} == {
        f'/resource_providers?in_tree={node["uuid"]}' for node in nodes
    }
    assert len(some.requests) == len(every.requests) == 1
    assert every.rows == alternatives.CROWD
