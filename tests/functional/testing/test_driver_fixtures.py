# SPDX-License-Identifier: Apache-2.0
"""The fixtures of driver authors: a placement in one line, cycles, plans.

Each failure must read well, so its text is compared as a whole.
"""

import pathlib
import re

import pytest

from compute_agent import errors, testing
from compute_agent.virt import driver

DOCS = pathlib.Path(__file__).parents[3] / 'docs'
CONSUMER = '9d9a1b8c-7f0d-4f3e-9b6f-0d8f3c1a5e11'
AGGREGATE = '0f7f2c51-6a4b-4c0e-8a51-1d1f0e6f2a22'
RACK = {
    'rack1': {
        'inventories': {'VCPU': 64},
        'traits': ['COMPUTE_NODE', 'CUSTOM_RACK', 'OWNER_NOVA'],
    },
    'rack1-nic': {
        'parent': 'rack1',
        'traits': ['HW_NIC_SRIOV', 'OWNER_NOVA'],
    },
}


class Rack(driver.ComputeDriver):
    """Describes one rack; ``vcpus`` and ``traits`` are what a test changes."""

    vcpus = 64
    traits = ('CUSTOM_RACK',)

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return ['rack1']

    def facts(self, nodename):
        return 'always the same'

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(
            nodename, {'VCPU': {'total': self.vcpus}}
        )
        provider_tree.declare_traits(nodename, *self.traits)
        if not provider_tree.exists('rack1-nic'):
            provider_tree.new_child('rack1-nic', nodename)
        provider_tree.declare_traits('rack1-nic', 'HW_NIC_SRIOV')


class Restless(Rack):
    """Finds another number of processors each time."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        self.vcpus += 1
        super().update_provider_tree(provider_tree, nodename)


class Faulty(Rack):
    """Cannot read its rack."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        raise errors.DriverError('the rack does not answer')


def failure(call, *arguments):
    """Return the text of the AssertionError that a call raises."""
    with pytest.raises(AssertionError) as caught:
        call(*arguments)
    return str(caught.value)


def test_a_placement_is_one_line_and_fresh_each_time():
    for _ in range(2):
        with testing.Placement() as placement:
            assert placement.held() == {}
            testing.assert_synced(Rack(), placement, RACK)
            assert placement.held()['rack1']['uuid'] == testing.HOST_UUID


def test_a_second_placement_at_a_time_is_refused(placement):
    with (
        pytest.raises(errors.ConfigError, match='already has an open'),
        testing.Placement(),
    ):
        pass
    assert placement.held() == {}


def test_a_placement_outside_its_with_says_how_to_use_it():
    closed = testing.Placement()
    with pytest.raises(RuntimeError, match='use it in "with testing'):
        closed.held()
    with closed:
        pass
    with pytest.raises(RuntimeError, match='this placement is closed'):
        testing.assert_synced(Rack(), closed)


@pytest.mark.parametrize(
    ('call', 'problem'),
    [
        (lambda p: testing.assert_synced(Rack, p), '^Rack is no driver'),
        (lambda p: testing.plan_of(None, p), '^None is no driver'),
        (lambda _: testing.describe(Rack), '^Rack is no driver'),
        (
            lambda p: testing.assert_plan(Rack(), p, 'create rack1'),
            r"^assert_plan: 'create rack1' is no list .* write \[\.\.\.\]",
        ),
        (lambda p: p.before_request(5), '^before_request: 5 cannot be called'),
        *(
            (lambda p, m=match: p.fault(m, 500), '^fault: no request matches')
            for match in ('PUT', 'PUTT *x', 'put *', 'PUT traits', 'GETX*', 5)
        ),
        *(
            (lambda p, o=out: p.fault('PUT *x', o), '^fault: .* no outcome')
            for out in (9999, 'text', None, (500,), (9, {}), int, True)
        ),
        (lambda p: p.fault('*', 500, times=0), '^fault: times=0'),
        (lambda p: p.fault('*', 500, skip='one'), "^fault: skip='one'"),
    ],
)
def test_a_wrong_argument_is_refused_when_it_is_given(
    placement, call, problem
):
    with pytest.raises(errors.ConfigError, match=problem):
        call(placement)
    placement.get('/traits')
    assert not placement.requests


def test_another_writers_content_is_planted_and_held_alike(placement):
    planted = {
        'store': {
            'inventories': {
                'DISK_GB': {'total': 100, 'reserved': 10},
                'CUSTOM_SLOT': 3,
            },
            'traits': ['CUSTOM_FAST', 'MISC_SHARES_VIA_AGGREGATE'],
            'aggregates': [AGGREGATE],
            'allocations': {CONSUMER: {'DISK_GB': 5}},
        },
        'shelf': {'parent': 'store'},
    }
    placement.plant(planted)
    testing.assert_providers(placement, planted)
    placement.plant({'store': {'traits': {'CUSTOM_COLD'}}})
    assert placement.held()['store']['traits'] == [
        'CUSTOM_COLD', 'CUSTOM_FAST', 'MISC_SHARES_VIA_AGGREGATE',
    ]  # fmt: skip
    assert placement.requests == []


def test_what_cannot_be_planted_is_refused(placement):
    with pytest.raises(errors.TreeError, match='no provider rack1'):
        placement.plant({'nic': {'parent': 'rack1'}})
    placement.plant({'rack1': {}})
    with pytest.raises(errors.TreeError, match='leave out its uuid'):
        placement.plant({'rack1': {'uuid': CONSUMER}})


def test_a_plan_lists_the_operations_and_writes_nothing(placement):
    operations = testing.plan_of(Rack(), placement)
    assert [one.data['operation'] for one in operations][:2] == [
        'create_trait', 'create_provider',
    ]  # fmt: skip
    assert f'create provider rack1 ({testing.HOST_UUID})' in map(
        repr, operations
    )
    assert placement.writes == []
    assert placement.held() == {}
    testing.assert_synced(Rack(), placement)
    assert testing.plan_of(Rack(), placement) == []


def test_another_plan_than_expected_is_shown_in_its_order(placement):
    rack = Rack()
    testing.assert_synced(rack, placement)
    testing.assert_plan(rack, placement, [])
    rack.vcpus, rack.traits = 65, ('CUSTOM_POD',)
    expected = [
        'create trait CUSTOM_POD',
        'set traits of rack1: +CUSTOM_POD',
        'set inventories of rack1: ~VCPU total=64→65',
    ]
    found = failure(testing.assert_plan, rack, placement, expected)
    assert found == (
        'the plan is not as expected (- expected, + seen):\n'
        '  create trait CUSTOM_POD\n'
        '- set traits of rack1: +CUSTOM_POD\n'
        '+ set traits of rack1: +CUSTOM_POD, -CUSTOM_RACK (the driver no '
        'longer reports it)\n'
        '  set inventories of rack1: ~VCPU total=64→65'
    )
    expected[1] = repr(testing.plan_of(rack, placement)[1])
    testing.assert_plan(rack, placement, expected)
    assert 'CUSTOM_RACK' in placement.held()['rack1']['traits']


def test_a_name_that_the_driver_drops_goes_and_a_foreign_one_stays(placement):
    rack = Rack()
    testing.assert_synced(rack, placement)
    placement.plant({'rack1': {'traits': ['CUSTOM_PLANTED']}})
    rack.traits = ()
    testing.assert_synced(rack, placement)
    assert placement.held()['rack1']['traits'] == [
        'COMPUTE_NODE', 'CUSTOM_PLANTED', 'OWNER_NOVA',
    ]  # fmt: skip


def test_a_second_cycle_that_writes_shows_its_plan(placement):
    found = failure(testing.assert_synced, Restless(), placement)
    assert found == (
        'Restless: the second cycle wrote to placement, although nothing '
        'changed since the first. Make the driver describe the same node '
        'alike each time.\n'
        f'rack1 ({testing.HOST_UUID})\n'
        f'  set inventories of rack1 ({testing.HOST_UUID})\n'
        '      ~VCPU total=65→66\n'
        '  1 operation'
    )


@pytest.mark.parametrize('call', [testing.assert_synced, testing.plan_of])
def test_a_node_that_is_not_done_is_named_with_the_reason(placement, call):
    assert failure(call, Faulty(), placement) == (
        'Faulty: 1 node is not done:\n'
        f'  rack1 ({testing.HOST_UUID}): failed: the rack does not answer'
    )


def test_other_content_than_expected_is_a_line_for_each_difference(placement):
    expected = {
        'rack1': {
            'inventories': {
                'VCPU': 32,
                'DISK_GB': {'total': 8, 'reserved': 1},
            },
            'traits': ['COMPUTE_NODE', 'CUSTOM_RAKC', 'OWNER_NOVA'],
        },
        'rack1-gpu': {'parent': 'rack1', 'inventories': {'VGPU': 4}},
        'rack1-nic': {'parent': None},
    }
    placement.plant({'stranger': {}})
    found = failure(testing.assert_synced, Rack(), placement, expected)
    assert found == (
        '4 providers are not as expected (- expected, + seen):\n'
        'rack1\n'
        '  + trait CUSTOM_RACK\n'
        '  - trait CUSTOM_RAKC\n'
        '  - inventory DISK_GB: total=8 reserved=1\n'
        '  - inventory VCPU: total=32\n'
        '  + inventory VCPU: total=64\n'
        'rack1-gpu\n'
        '  - provider below rack1\n'
        'rack1-nic\n'
        '  - provider without a parent\n'
        '  + provider below rack1\n'
        'stranger\n'
        '  + provider'
    )


def test_the_pages_first_example_passes_with_the_minimal_driver():
    said = {'__name__': 'example'}
    for page in ('drivers.md', 'driver-fixtures.md'):
        text = (DOCS / page).read_text('utf-8')
        (block, *_) = re.findall(r'```python\n(.*?)```', text, re.DOTALL)
        exec(compile(block, page, 'exec'), said)
    said['test_a_rack']()


class Misspelt(Rack):
    """Reports names without CUSTOM_ that no library has."""

    traits = ('CUSTOM_RACK', 'HW_CPU_X86_AVX3')


@pytest.mark.catches('a misspelt standard name passes the tests of a driver')
def test_a_standard_name_that_the_library_lacks_fails(placement):
    with pytest.raises(AssertionError) as caught:
        testing.assert_synced(Misspelt(), placement)
    head, line = str(caught.value).splitlines()
    assert head.startswith('Misspelt: no os-traits and no os-resource-classes')
    assert 'begin them with CUSTOM_' in head
    assert line.startswith(f'  rack1 ({testing.HOST_UUID}): HW_CPU_X86_AVX3:')


def test_the_daemon_leaves_such_a_name_out_with_a_note(placement):
    (result,) = testing.sync(Misspelt(), placement)
    assert result.is_settled
    testing.assert_providers(placement, RACK)
    assert any(n.startswith('HW_CPU_X86_AVX3: ') for n in result.notes)
