# SPDX-License-Identifier: Apache-2.0
"""What is read is whole and fresh, or it is unknown and writes nothing."""

import pytest
from gauntlet import AGGREGATE, CONSUMER, NAME, NODE, verdict

from compute_agent.tree import inventory


def host(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


def host_with_traits(tree, node):
    host(tree, node)
    tree.declare_traits(node, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2')


def before_the_first(bench, match, act):
    """Let somebody act once, just before the first matching request."""
    left = [act]

    def hook(request):
        if left and match in str(request):
            left.pop()()

    bench.placement.before_request(hook)


# --- a read that fails --------------------------------------------------------


@pytest.mark.catches('a part that cannot be read counts as empty')
def test_a_failed_read_of_inventories_overwrites_no_operators_ratio(
    bench,
):
    """One 500 must not turn an operator's ratio into the initial one."""
    agent = bench.agent(host, ratios=inventory.Ratios(initial={'VCPU': 4.0}))
    agent.done()
    bench.operator.change_inventory('VCPU', allocation_ratio=2.5)
    bench.placement.clear()
    bench.placement.fault('GET */inventories', 500)
    agent.sync()
    with verdict():
        assert bench.placement.writes == []
        assert bench.operator.inventories()['VCPU']['allocation_ratio'] == 2.5


@pytest.mark.catches('a part that cannot be read counts as empty')
def test_a_failed_read_shrinks_nothing_that_others_added(bench):
    """What is not known to be there must not be written away."""
    agent = bench.agent(lambda tree, node: tree.declare_traits(node))
    agent.done()
    bench.operator.set_inventories({'CUSTOM_FPGA': {'total': 2}})
    agent.driver.describe = lambda tree, node: tree.declare_inventory(
        node, {'VCPU': {'total': 8}}
    )
    bench.placement.fault('GET */inventories', 500)
    agent.sync()
    with verdict():
        assert 'CUSTOM_FPGA' in bench.operator.inventories()


# --- three reads of one provider ----------------------------------------------


@pytest.mark.catches('a snapshot mixes generations')
def test_a_writer_between_two_of_our_reads_loses_nothing(bench):
    """A stale part under a current generation would pass as fresh."""
    agent = bench.agent(host)
    agent.done()
    bench.operator.allocate(CONSUMER, 'VCPU')
    agent.driver.describe = host_with_traits
    before_the_first(
        bench,
        '/inventories',
        lambda: bench.operator.add_traits('CUSTOM_OTHERS'),
    )
    agent.done()
    with verdict():
        assert 'CUSTOM_OTHERS' in bench.operator.traits()
    assert 'HW_CPU_X86_AVX2' in bench.operator.traits()


# --- sharing providers --------------------------------------------------------


@pytest.mark.catches('the driver sees the own tree alone')
def test_a_driver_sees_what_is_shared_with_its_node(bench):
    """Storage that the node has from outside must be there to be seen."""
    bench.share()
    bench.operator.create(NODE, NAME)
    bench.operator.set_aggregates(AGGREGATE)
    before = bench.operator.holdings()['nfs']
    seen = []

    def describe(tree, node):
        host(tree, node)
        seen.append(tree.has_sharing_provider('DISK_GB'))

    bench.agent(describe).done()
    with verdict():
        assert seen == [True]
    assert bench.operator.holdings()['nfs'] == before


# --- memory -------------------------------------------------------------------


@pytest.mark.catches('what was seen once is not looked at again')
def test_a_provider_deleted_behind_our_back_is_made_again(bench):
    """The cycle that sees it gone waits; the next one must bring it back."""
    agent = bench.agent(host)
    agent.done()
    agent.done()
    bench.operator.delete(NODE)
    agent.sync()
    agent.sync()
    with verdict():
        assert NAME in bench.operator.holdings()
        assert bench.operator.inventories()['VCPU']['total'] == 8


@pytest.mark.catches('what was seen once is not looked at again')
def test_what_an_operator_undoes_is_done_again(bench):
    """Drift of what is ours must be seen in the very next cycle."""
    agent = bench.agent(host_with_traits)
    agent.done()
    agent.done()
    bench.operator.remove_traits('HW_CPU_X86_AVX')
    agent.sync()
    with verdict():
        assert 'HW_CPU_X86_AVX' in bench.operator.traits()
