# SPDX-License-Identifier: Apache-2.0
"""Requests are counted exactly: what is known already is not asked again."""

import agents
import pytest
from gauntlet import AGGREGATE, NAME, host, verdict

from compute_agent.tree import names

MANY = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(6)}
CONSUMERS = [f'cccccccc-cccc-4ccc-8ccc-{n:012}' for n in range(3)]
SHARES = names.MISC_SHARES_VIA_AGGREGATE
CLASSES = ('CUSTOM_GOLD', 'CUSTOM_SILVER', 'CUSTOM_BRONZE')


def sharing(tree, node):
    host(tree, node)
    tree.update_aggregates(node, [AGGREGATE])


def larger(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 9}})


def baremetal(tree, node):
    """One of three classes and five traits: two custom, one of the node's."""
    number = int(tree.data(node).name.partition('-')[2])
    tree.update_inventory(node, {CLASSES[number % 3]: {'total': 1}})
    tree.declare_traits(
        node,
        'HW_CPU_X86_VMX',
        'CUSTOM_RACK_7',
        f'CUSTOM_KIND_{number % 3}',
    )


def lines(bench):
    return [str(request) for request in bench.placement.requests]


# --- nothing happens ----------------------------------------------------------


@pytest.mark.catches('every provider is read in every cycle')
def test_an_idle_cloud_costs_one_request_whatever_its_size(bench):
    """Traffic must not grow with nodes of which nothing changes."""
    agent = bench.agent(host, nodes=MANY)
    agent.done()
    bench.operator.allocate(CONSUMERS[0], 'VCPU', next(iter(MANY)))
    agent.done()
    bench.placement.clear()
    agent.done()
    with verdict():
        assert lines(bench) == ['GET /resource_providers']


@pytest.mark.catches('every provider is read in every cycle')
def test_a_restart_costs_one_request(bench, tmp_path):
    """A new process must not read again what the last one knew."""
    bench.agent(host, nodes=MANY, state=tmp_path).done()
    again = bench.agent(host, nodes=MANY, state=tmp_path)
    bench.placement.clear()
    again.done()
    with verdict():
        assert lines(bench) == ['GET /resource_providers']


@pytest.mark.catches('every provider is read in every cycle')
def test_one_node_that_moved_costs_its_own_reads(bench):
    """What happens to one node must not make the others be read."""
    agent = bench.agent(host, nodes=MANY)
    agent.done()
    moved = next(iter(MANY))
    bench.operator.allocate(CONSUMERS[0], 'VCPU', moved)
    bench.placement.clear()
    agent.done()
    with verdict():
        assert sorted(lines(bench)) == [
            'GET /resource_providers',
            f'GET /resource_providers/{moved}/aggregates',
            f'GET /resource_providers/{moved}/inventories',
            f'GET /resource_providers/{moved}/traits',
        ]


@pytest.mark.catches('every provider is read in every cycle')
@pytest.mark.catches('what is shared is read for each node')
def test_what_many_nodes_share_is_asked_for_once(bench):
    """A share of all nodes must not be read again for every one of them."""
    bench.share()
    some = dict(list(MANY.items())[:3])
    agent = bench.agent(sharing, nodes=some, sharing_interval=0)
    agent.done()
    agent.done()
    bench.placement.clear()
    agent.done()
    query = f'required={SHARES}&member_of=in:{AGGREGATE}'
    with verdict():
        assert lines(bench) == [
            'GET /resource_providers',
            f'GET /resource_providers?{query}',
        ]


# --- allocations --------------------------------------------------------------


@pytest.mark.catches('allocations are asked for in every cycle')
def test_allocations_are_asked_for_only_where_something_goes(bench):
    """A node's instances must not cost a request while nothing is removed.

    The one request of a cycle that changes nothing is the check of a tree of
    one provider, which is by its allocations.
    """
    agent = bench.agent(host)
    agent.done()
    for consumer in CONSUMERS:
        bench.operator.allocate(consumer, 'VCPU')
    agent.done()
    bench.placement.clear()
    agent.done()
    agent.driver.describe = larger
    agent.done()
    with verdict():
        about = [
            line
            for line in agents.sent(bench.placement)
            if 'allocations' in line
        ]
        assert about == [f'GET {NAME}/allocations'] * 2


# --- names --------------------------------------------------------------------


@pytest.mark.catches('known names are forgotten at once')
@pytest.mark.catches('traits are asked for by name, for each node')
@pytest.mark.catches('custom names are created for each node anew')
def test_names_are_asked_for_once_and_created_once(bench):
    """Six nodes of three kinds must not ask six times for the names."""
    bench.agent(baremetal, nodes=MANY).done()
    with verdict():
        about = [
            line
            for line in lines(bench)
            if line.split()[1].startswith(('/traits', '/resource_classes'))
        ]
        assert sorted(about) == [
            'GET /resource_classes',
            'GET /traits',
            'PUT /resource_classes/CUSTOM_BRONZE',
            'PUT /resource_classes/CUSTOM_GOLD',
            'PUT /resource_classes/CUSTOM_SILVER',
            'PUT /traits/CUSTOM_KIND_0',
            'PUT /traits/CUSTOM_KIND_1',
            'PUT /traits/CUSTOM_KIND_2',
            'PUT /traits/CUSTOM_RACK_7',
        ]


@pytest.mark.catches('traits are asked for by name, for each node')
def test_no_request_line_grows_with_the_traits(bench):
    """Fifty traits of 255 characters must not make an address of 12 KiB."""
    long = [f'CUSTOM_{n:02}_'.ljust(255, 'X') for n in range(50)]

    def described(tree, node):
        host(tree, node)
        tree.add_traits(node, *long)

    agent = bench.agent(described)
    agent.sync()
    with verdict():
        assert max(len(r.path) for r in bench.placement.requests) < 1000
    assert set(long) <= bench.operator.traits()


@pytest.mark.catches('known names are forgotten at once')
def test_a_first_boot_costs_three_requests_a_node(bench):
    """Beside one list and the names: create, traits, inventories; no read."""
    bench.agent(baremetal, nodes=MANY).done()
    with verdict():
        assert len(bench.placement.requests) == 1 + 2 + 7 + 3 * len(MANY)
