# SPDX-License-Identifier: Apache-2.0
"""Which uuid a node has."""

import pytest

from compute_agent import errors
from compute_agent.identity import identity

ONE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'


def unasked():
    raise AssertionError("the host's uuid is not needed here")


def uuids(nodes):
    return [(node.name, node.uuid) for node in nodes]


def test_the_only_node_has_the_hosts_uuid():
    nodes = identity.identify(['host-1'], {}, lambda: ONE)
    assert uuids(nodes) == [('host-1', ONE)]


def test_a_driver_may_tell_the_uuids():
    nodes = identity.identify(['a', 'b'], {ONE: 'b', TWO: 'a'}, unasked)
    assert uuids(nodes) == [('a', TWO), ('b', ONE)]


def test_a_node_named_by_a_uuid_has_that_one():
    nodes = identity.identify([ONE, TWO.upper()], {}, unasked)
    assert [n.uuid for n in nodes] == [ONE, TWO]


def test_what_the_driver_tells_comes_before_the_name():
    nodes = identity.identify([ONE], {TWO: ONE}, unasked)
    assert uuids(nodes) == [(ONE, TWO)]


def test_no_node_needs_no_uuid():
    assert identity.identify([], {}, unasked) == []


def test_several_nodes_without_uuids_say_what_the_driver_lacks():
    with pytest.raises(errors.DriverError, match='get_nodenames_by_uuid'):
        identity.identify(['a', 'b'], {}, unasked)


def test_a_name_twice_is_refused():
    with pytest.raises(errors.DriverError, match='name a more than once'):
        identity.identify(['a', 'a'], {ONE: 'a'}, unasked)


def test_a_uuid_twice_is_refused_whatever_its_case():
    letters = 'abcdefab-cdef-4abc-8def-abcdefabcdef'
    told = {letters: 'a', letters.upper(): 'b'}
    with pytest.raises(errors.DriverError, match='uuid abc.*more than once'):
        identity.identify(['a', 'b'], told, unasked)


def test_a_uuid_that_is_none_is_the_drivers_error():
    with pytest.raises(errors.DriverError, match='node a'):
        identity.identify(['a'], {'not-a-uuid': 'a'}, unasked)


@pytest.mark.parametrize(
    ('names', 'by_uuid', 'expected'),
    [
        (['cn1'], {}, True),
        (['cn1'], {TWO: 'cn1'}, False),
        ([ONE], {}, False),
        (['cn1', 'cn2'], {}, False),
        ([], {}, False),
    ],
)
def test_only_the_one_node_that_nobody_tells_the_uuid_of_has_the_host_s(
    names, by_uuid, expected
):
    assert identity.has_host_uuid(names, by_uuid) is expected
