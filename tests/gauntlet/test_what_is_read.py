# SPDX-License-Identifier: Apache-2.0
"""What is read is whole and fresh, or it is unknown and writes nothing."""

import agents
from gauntlet import Plant, Variant, against, verdict

from compute_agent import errors
from compute_agent.tree import (
    allocation_ratios,
    names,
    provider,
    provider_tree,
)
from report_client import client
from report_client.http import placement
from report_client.observe import observation, reader

NODE, NAME = agents.NODE, agents.NAME
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARED = '55555555-5555-4555-8555-555555555555'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'


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


class _FailedIsEmpty(placement.Placement):
    """Takes inventories that cannot be read for none."""

    def reply(self, request, *args, **kwargs):
        try:
            return super().reply(request, *args, **kwargs)
        except errors.UnknownState:
            path, _, what = request.path.rpartition('/')
            if what != 'inventories':
                raise
            one = super().get(path)
            generation = one['generation']
            body = {
                'resource_provider_generation': generation,
                'inventories': {},
            }
            return placement.Reply(status=200, body=body)


FAILED_IS_EMPTY = Variant(
    'inventories that cannot be read are taken for none',
    Plant(placement.Placement, _FailedIsEmpty),
)


@against(FAILED_IS_EMPTY)
def test_a_failed_read_of_inventories_overwrites_no_operators_ratio(
    bench,
):
    """One 500 must not turn an operator's ratio into the initial one."""
    agent = bench.agent(
        host, ratios=allocation_ratios.Ratios(initial={'VCPU': 4.0})
    )
    agent.done()
    bench.operator.change_inventory('VCPU', allocation_ratio=2.5)
    bench.placement.clear()
    bench.placement.fault('GET */inventories', 500)
    agent.sync()
    with verdict():
        assert bench.placement.writes == []
        assert bench.operator.inventories()['VCPU']['allocation_ratio'] == 2.5


@against(FAILED_IS_EMPTY)
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


def _mixture(self, row):
    """Read a provider in three reads; keep the generation of the last."""
    parts = {k: self.contents(row.uuid, k) for k in reader.FIELDS}
    one = provider.Provider(
        uuid=row.uuid,
        name=row.name,
        parent_uuid=row.parent_uuid,
        generation=[generation for generation, _ in parts.values()][-1],
        **{reader.FIELDS[k]: content for k, (_, content) in parts.items()},
    )
    return provider.Reading(
        provider=one, root_uuid=row.root_uuid, read_at=self._clock()
    )


@against(
    Variant(
        'parts read at different generations are kept together',
        Plant(reader.Reader.provider, _mixture),
    )
)
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


def _own_tree_alone(self):
    """Return a tree without the sharing providers."""
    return provider_tree.ProviderTree.from_providers(
        one for one in self.providers.values() if one.uuid in self.home
    )


@against(
    Variant(
        'the driver sees the own tree alone',
        Plant(observation.Observation.tree, _own_tree_alone),
    )
)
def test_a_driver_sees_what_is_shared_with_its_node(bench):
    """Storage that the node has from outside must be there to be seen."""
    bench.operator.create(SHARED, 'nfs')
    bench.operator.set_inventories({'DISK_GB': {'total': 100}}, SHARED)
    bench.operator.add_traits(names.MISC_SHARES_VIA_AGGREGATE, uuid=SHARED)
    bench.operator.set_aggregates(AGGREGATE, uuid=SHARED)
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


class _Remembers(client.SchedulerReportClient):
    """Looks at a node once, and trusts its memory until a write fails."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._memory = {}

    def observe(self, node_uuids, *args, **kwargs):
        unknown = [u for u in node_uuids if u not in self._memory]
        if unknown:
            self._memory.update(super().observe(unknown, *args, **kwargs))
        return {u: self._memory[u] for u in node_uuids}

    def apply(self, plan, *args, **kwargs):
        if plan.operations:
            self._memory.pop(plan.node_uuid, None)
        return super().apply(plan, *args, **kwargs)


REMEMBERS = Variant(
    'what was seen once is not looked at again',
    Plant(client.SchedulerReportClient, _Remembers),
)


@against(REMEMBERS)
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


@against(REMEMBERS)
def test_what_an_operator_undoes_is_done_again(bench):
    """Drift of what is ours must be seen in the very next cycle."""
    agent = bench.agent(host_with_traits)
    agent.done()
    agent.done()
    bench.operator.remove_traits('HW_CPU_X86_AVX')
    agent.sync()
    with verdict():
        assert 'HW_CPU_X86_AVX' in bench.operator.traits()
