# SPDX-License-Identifier: Apache-2.0
"""At no moment may anybody get a provider without its traits."""

from gauntlet import Plant, Variant, against, verdict

from compute_agent.plan.operations import operations
from report_client.plan import diff


def _in_order(*kinds):
    """Return a planner that sends these kinds of writes in this order."""

    def operations_of(*args, **kwargs):
        found = list(_operations(*args, **kwargs))
        places = [n for n, op in enumerate(found) if isinstance(op, kinds)]
        wanted = sorted(
            (found[n] for n in places),
            key=lambda op: kinds.index(type(op)),
        )
        for place, operation in zip(places, wanted, strict=True):
            found[place] = operation
        return tuple(found)

    return operations_of


_operations = diff.operations
INVENTORY_FIRST = Variant(
    'inventories are always written first',
    Plant(
        diff.operations,
        _in_order(
            operations.SetInventories,
            operations.SetAggregates,
            operations.SetTraits,
        ),
    ),
)
TRAITS_FIRST = Variant(
    'traits are always written first',
    Plant(
        diff.operations,
        _in_order(
            operations.SetTraits,
            operations.SetAggregates,
            operations.SetInventories,
        ),
    ),
)
LICENSED = 'CUSTOM_LICENSED'
WITHOUT_LICENCE = (
    f'/allocation_candidates?resources=VCPU:1&required=!{LICENSED}'
)


def licensed(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, LICENSED)


def wrongly_schedulable(bench):
    """Return the requests before which anybody would have got the node."""
    bench.placement.put(f'/traits/{LICENSED}')
    moments = []

    def look(request):
        found = bench.placement.get(WITHOUT_LICENCE)
        if found['allocation_requests']:
            moments.append(str(request))

    bench.placement.before_request(look)
    return moments


@against(INVENTORY_FIRST)
def test_a_new_provider_is_never_to_be_had_without_its_traits(bench):
    """Who forbids a trait must not be given its holder as it comes up."""
    moments = wrongly_schedulable(bench)
    agent = bench.agent(licensed)
    agent.done()
    agent.done()  # once more, to look after the last write
    with verdict():
        assert moments == []


@against(TRAITS_FIRST)
def test_a_provider_that_is_emptied_is_never_to_be_had_without_its_traits(
    bench,
):
    """Nor as it goes away: the capacity goes first."""

    def emptied(tree, node):
        tree.update_inventory(node, {})
        tree.declare_traits(node)

    agent = bench.agent(licensed)
    agent.done()
    moments = wrongly_schedulable(bench)
    agent.driver.describe = emptied
    agent.done()
    agent.done()
    assert LICENSED not in bench.operator.traits()
    with verdict():
        assert moments == []
