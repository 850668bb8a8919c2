# SPDX-License-Identifier: Apache-2.0
"""The nodes of several drivers: one list, and the drivers of each node."""

import pytest

from compute_agent import errors
from compute_agent.cycle import node_list
from compute_agent.state.nodes import KnownNode
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt
from compute_agent.virt.drivers import Drivers

A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'


class Driver(virt.ComputeDriver):
    """A driver whose answers a test gives; an exception is raised."""

    def __init__(self, nodes, titles=None, hypervisors=None):
        self.nodes = nodes
        self.titles = titles or {}
        self.hypervisors = hypervisors or {}

    @classmethod
    def from_conf(cls, conf):
        raise AssertionError

    def get_available_nodes(self):
        if isinstance(self.nodes, Exception):
            raise self.nodes
        return list(self.nodes.values())

    def get_nodenames_by_uuid(self):
        return self.nodes

    def get_titles(self):
        return self.titles

    def get_hypervisor_hostnames(self):
        return self.hypervisors


class Second(Driver):
    pass


class Third(Driver):
    pass


def identify(names, by_uuid, by_nova):
    uuids = {name: uuid for uuid, name in by_uuid.items()}
    return [Node(uuid=uuids[n], name=by_nova.get(n, n)) for n in names]


def listed(*drivers, known=None):
    """Return the nodes, and for each its drivers and those that failed."""
    named = dict(zip('abc', drivers, strict=False))
    found = node_list.NodeList(Drivers(named), identify, lambda: known or {})
    nodes = found.nodes()
    by = {n.uuid: found.described_by(n) for n in nodes}
    return nodes, {
        uuid: ([one.name for one in each.listing], sorted(each.failed))
        for uuid, each in by.items()
    }


def had(name, *drivers):
    references = frozenset(f'{d.__module__}:{d.__name__}' for d in drivers)
    return KnownNode(name=name, drivers=references)


def test_a_node_of_two_drivers_is_one_with_the_first_one_s_name():
    nodes, by = listed(
        Driver({A: 'cn1'}),
        Second({A: 'other', B: 'cn2'}, titles={'other': 'rack 7'}),
    )
    assert nodes == [
        Node(uuid=A, name='cn1', title='rack 7'),
        Node(uuid=B, name='cn2'),
    ]
    assert by == {A: (['a', 'b'], []), B: (['b'], [])}


def test_the_name_of_the_hypervisor_is_every_driver_s():
    nodes, by = listed(
        Driver({A: 'service'}),
        Second({A: 'service'}, hypervisors={'service': 'cn1.example.org'}),
    )
    assert nodes == [Node(uuid=A, name='cn1.example.org')]
    assert by == {A: (['a', 'b'], [])}


def test_the_nodes_of_a_driver_without_a_list_stay():
    away = errors.DriverError('away')
    nodes, by = listed(
        Driver({A: 'cn1'}),
        Second(away),
        known={B: had('cn2', Second), A: had('cn1', Driver, Second)},
    )
    assert nodes == [Node(uuid=A, name='cn1'), Node(uuid=B, name='cn2')]
    assert by == {A: (['a'], ['driver:b']), B: ([], ['driver:b'])}


def test_a_driver_that_never_had_a_list_may_have_any_node():
    nodes, by = listed(
        Driver({A: 'cn1', B: 'cn2'}),
        Second(errors.DriverError('away')),
        Third({}),
        known={A: had('cn1', Driver)},
    )
    assert len(nodes) == 2
    assert by == {A: (['a'], ['driver:b']), B: (['a'], ['driver:b'])}


def test_a_driver_that_has_one_node_has_no_other_without_a_list():
    _, by = listed(
        Driver({A: 'cn1', B: 'cn2'}),
        Second(RuntimeError('away')),
        known={A: had('cn1', Driver, Second), B: had('cn2', Driver)},
    )
    assert by == {A: (['a'], ['driver:b']), B: (['a'], [])}


def test_no_list_at_all_is_an_error_and_not_an_empty_list():
    with pytest.raises(errors.DriverError, match='first'):
        listed(
            Driver(errors.DriverError('first')),
            Second(errors.Unavailable('second')),
        )


def test_a_wrong_list_of_one_driver_leaves_the_others():
    class Twice(Second):
        def get_nodenames_by_uuid(self):
            raise TypeError('no uuids')

    nodes, by = listed(Driver({A: 'cn1'}), Twice({A: 'cn1'}))
    assert [node.name for node in nodes] == ['cn1']
    assert by == {A: (['a'], ['driver:b'])}


def test_one_name_for_two_nodes_names_both_drivers():
    with pytest.raises(errors.DriverError) as caught:
        listed(Driver({A: 'cn1'}), Second({B: 'cn1'}))
    assert 'driver a and driver b list the node cn1' in str(caught.value)
    assert A in str(caught.value)
    assert B in str(caught.value)


def calls_of_identify(driver, times=2):
    """Return how often the nodes of a driver's lists were identified."""
    calls = []

    def counted(names, by_uuid, by_nova):
        calls.append(names)
        return identify(names, by_uuid, by_nova)

    found = node_list.NodeList(Drivers.only(driver), counted)
    lists = [found.nodes() for _ in range(times)]
    assert all(one == lists[0] for one in lists)
    return len(calls)


def test_equal_answers_about_several_nodes_are_not_identified_again():
    assert calls_of_identify(Driver({A: 'cn1', B: 'cn2'})) == 1


@pytest.mark.parametrize(
    'driver',
    [
        Driver({A: 'cn1'}),
        Driver({A: 'cn1', B: 'cn2'}, hypervisors={'cn1': 'cn1.example.org'}),
    ],
    ids=['the host', 'a hypervisor'],
)
def test_a_node_whose_uuid_or_name_others_tell_is_identified_again(driver):
    """A file of the host, or placement, may tell another one now."""
    assert calls_of_identify(driver) == 2


def test_a_driver_that_lists_again_after_a_failure_has_its_nodes_again():
    driver, other = Driver({A: 'cn1', B: 'cn2'}), Second({})
    found = node_list.NodeList(Drivers({'a': driver, 'b': other}), identify)
    before = found.nodes()
    other.nodes = OSError('gone')
    found.nodes()
    assert found.described_by(before[0]).failed
    other.nodes = {}
    assert found.nodes() == before
    assert not found.described_by(before[0]).failed
