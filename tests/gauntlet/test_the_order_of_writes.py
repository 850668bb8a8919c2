# SPDX-License-Identifier: Apache-2.0
"""At no moment may anybody get a provider without its traits."""

import pytest
from gauntlet import verdict

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


@pytest.mark.catches('inventory is written before traits')
def test_a_new_provider_is_never_to_be_had_without_its_traits(bench):
    """Who forbids a trait must not be given its holder as it comes up."""
    moments = wrongly_schedulable(bench)
    agent = bench.agent(licensed)
    agent.done()
    agent.done()  # once more, to look after the last write
    with verdict():
        assert moments == []


@pytest.mark.catches('traits are always written first')
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
