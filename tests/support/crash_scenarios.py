# SPDX-License-Identifier: Apache-2.0
"""What an agent may be doing when it dies: named scenarios, as data.

Each goes from one description of the nodes to another. ``least`` is how many
requests its cycle has at least, so that none is left out unnoticed.
"""

import collections.abc
import dataclasses
import typing

import agents
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.virt import driver as virt

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER_AGGREGATE = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
SHARED = '55555555-5555-4555-8555-555555555555'
SECOND, SECOND_NAME = '22222222-2222-4222-8222-222222222222', 'node-2'
NUMA0 = '33333333-3333-4333-8333-333333333330'
NUMA1 = '33333333-3333-4333-8333-333333333331'
DEVICE = '33333333-3333-4333-8333-333333333332'
ONE = {NODE: NAME}
BOTH = {NODE: NAME, SECOND: SECOND_NAME}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One provider as a description wants it.

    :ivar exclusive: names are given as the whole set, not beside others'
    """

    uuid: str
    name: str = ''
    parent: str | None = None
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    inventory: tuple[tuple[str, int], ...] = ()
    exclusive: bool = False


def root(uuid: str = NODE, **what: typing.Any) -> Wish:
    """Return what is wanted of a node's own provider."""
    return Wish(uuid=uuid, **{'inventory': (('MEMORY_MB', 64),), **what})


def numa(uuid: str = NUMA0, name: str = '', **what: typing.Any) -> Wish:
    """Return a child of the node, unless another parent is given."""
    defaults = {
        'name': name or f'numa{uuid[-1]}',
        'parent': NODE,
        'traits': ('HW_NUMA_ROOT',),
        'inventory': (('VCPU', 4),),
    }
    return Wish(uuid=uuid, **{**defaults, **what})


class Wishes(dict[str, tuple[Wish, ...]]):
    """A description: what is wanted by node, parents first."""

    def __call__(self, tree: typing.Any, nodename: str) -> None:
        """Edit the tree until it is as wanted."""
        (uuid,) = (u for u, name in BOTH.items() if name == nodename)
        wanted = {wish.uuid: wish for wish in self[uuid]}
        for each in tree.get_provider_uuids(uuid)[1:]:
            if tree.exists(each) and not _as_wanted(tree, each, wanted):
                tree.remove(each)
        for wish in wanted.values():
            _describe(tree, wish)


def _as_wanted(
    tree: typing.Any, uuid: str, wanted: collections.abc.Mapping[str, Wish]
) -> bool:
    data, wish = tree.data(uuid), wanted.get(uuid)
    return wish is not None and (wish.name, wish.parent) == (
        data.name,
        data.parent_uuid,
    )


def _describe(tree: typing.Any, wish: Wish) -> None:
    uuid = wish.uuid
    if not tree.exists(uuid) and wish.parent:
        tree.new_child(wish.name, wish.parent, uuid)
    elif not tree.exists(uuid):
        tree.new_root(wish.name, uuid)
    records = {rc: {'total': total} for rc, total in wish.inventory}
    tree.update_inventory(uuid, records)
    if wish.exclusive:
        tree.update_traits(uuid, wish.traits)
        tree.update_aggregates(uuid, wish.aggregates)
    else:
        tree.declare_traits(uuid, *wish.traits)
        tree.declare_aggregates(uuid, *wish.aggregates)


class Moving(Wishes):
    """What the node has of VCPU moves to its child, with all who use it."""

    def __call__(
        self,
        tree: typing.Any,
        nodename: str,
        allocations: typing.Any = None,
    ) -> None:
        if 'VCPU' in tree.data(NODE).inventory:
            if allocations is None:
                raise errors.ReshapeNeeded
            for consumer in allocations.values():
                parts = consumer['allocations']
                if NODE in parts:
                    parts[NUMA0] = parts.pop(NODE)
        super().__call__(tree, nodename)


class Host(agents.Driver):
    """A driver whose nodes are gone when they are not listed."""

    def update_provider_tree(
        self,
        provider_tree: typing.Any,
        nodename: str,
        allocations: typing.Any = None,
    ) -> None:
        if isinstance(self.describe, Moving):
            self.describe(provider_tree, nodename, allocations)
        else:
            self.describe(provider_tree, nodename)

    def node_exists(self, nodename: str) -> virt.Existence:
        listed = nodename in self.nodes.values()
        return virt.Existence.YES if listed else virt.Existence.NO

    @classmethod
    def from_conf(cls, conf: typing.Any) -> typing.Self:
        raise errors.ConfigError('a test makes this driver itself')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """From one description to another.

    :ivar before: what is reported already; None for nothing
    :ivar nodes: who is listed when the cycle begins that is cut
    :ivar others: what somebody else does before that cycle
    :ivar marked: True if the agent puts its mark on the roots
    :ivar files: the operator's file before and in that cycle; None for none
    :ivar least: how many requests the cycle that is cut has at least
    """

    after: Wishes
    least: int
    before: Wishes | None = None
    nodes: tuple[str, ...] = (NODE,)
    authority: tuple[str, ...] = ()
    others: collections.abc.Callable[[typing.Any], object] = lambda _: None
    marked: bool = False
    files: tuple[str | None, str | None] = (None, None)


def just(*wishes: Wish) -> Wishes:
    """Return the description of the one node."""
    return Wishes({NODE: wishes})


def two(first: tuple[Wish, ...], second: tuple[Wish, ...]) -> Wishes:
    """Return the description of both nodes."""
    return Wishes({NODE: first, SECOND: second})


def _foreign(operator: typing.Any) -> None:
    operator.add_traits('HW_CPU_X86_AVX2', 'CUSTOM_OPERATOR')
    operator.add_traits('CUSTOM_OPERATOR', uuid=NUMA0)
    operator.set_aggregates(AGGREGATE, OTHER_AGGREGATE, uuid=NUMA0)


def _allocation(operator: typing.Any) -> None:
    operator.allocate('c0000000-0000-4000-8000-000000000001', 'VCPU', NUMA0)


def _allocations_of_the_node(operator: typing.Any) -> None:
    for number in '123':
        consumer = f'c0000000-0000-4000-8000-00000000000{number}'
        operator.allocate(consumer, 'VCPU', NODE)


FILE = """
meta: {schema_version: '1.0'}
providers:
- identification: {uuid: $COMPUTE_NODE}
  traits: {additional: [CUSTOM_GOLD, CUSTOM_SILVER]}
  inventories: {additional: [{CUSTOM_LICENCE: {total: 5}}]}
- identification: {name: numa0}
  traits: {additional: [CUSTOM_GOLD]}
"""
NEXT_FILE = """
meta: {schema_version: '1.0'}
providers:
- identification: {uuid: $COMPUTE_NODE}
  traits: {additional: [CUSTOM_SILVER, CUSTOM_BRONZE]}
"""
NESTED = (
    root(traits=('HW_CPU_X86_AVX', 'CUSTOM_A')),
    numa(),
    numa(DEVICE, 'device', parent=NUMA0, inventory=(('CUSTOM_FPGA', 2),)),
)
SHARING = (
    root(aggregates=(AGGREGATE,)),
    Wish(
        uuid=SHARED,
        name='shared',
        traits=('MISC_SHARES_VIA_AGGREGATE',),
        aggregates=(AGGREGATE,),
        inventory=(('DISK_GB', 100),),
    ),
)
SCENARIOS = {
    'first boot': Scenario(
        after=just(root(traits=('HW_CPU_X86_AVX', 'CUSTOM_A'))), least=6
    ),
    'first boot, nested': Scenario(after=just(*NESTED), least=13),
    'first boot, with a sharing provider': Scenario(
        after=just(*SHARING), least=8
    ),
    'a sharing provider comes later': Scenario(
        before=just(root()), after=just(*SHARING), least=8
    ),
    'change': Scenario(
        before=just(*NESTED),
        after=just(
            root(traits=('CUSTOM_B',), inventory=(('MEMORY_MB', 32),)),
            numa(traits=('HW_NUMA_ROOT', 'CUSTOM_C')),
            NESTED[2],
        ),
        least=7,
    ),
    'one class smaller, another larger': Scenario(
        before=just(root(), numa(inventory=(('VCPU', 8), ('PCPU', 4)))),
        after=just(
            root(),
            numa(
                inventory=(('VCPU', 4), ('PCPU', 8), ('CUSTOM_NEW', 1)),
                traits=('HW_NUMA_ROOT', 'CUSTOM_A'),
            ),
        ),
        least=7,
    ),
    'a marked node comes': Scenario(
        before=just(root()),
        after=two(
            (root(),),
            (
                root(SECOND, traits=('CUSTOM_A',), aggregates=(AGGREGATE,)),
                numa(NUMA1, parent=SECOND),
            ),
        ),
        nodes=(NODE, SECOND),
        marked=True,
        least=8,
    ),
    'a child goes, with what is below': Scenario(
        before=just(*NESTED), after=just(NESTED[0]), least=3
    ),
    'what goes is allocated': Scenario(
        before=just(*NESTED),
        after=just(NESTED[0]),
        others=_allocation,
        least=3,
    ),
    'a node goes': Scenario(
        before=two(
            (root(), numa()),
            (
                root(SECOND, traits=('CUSTOM_A',)),
                numa(NUMA1, parent=SECOND),
            ),
        ),
        after=just(root(), numa()),
        least=5,
    ),
    'children renamed and moved': Scenario(
        before=just(*NESTED, numa(NUMA1)),
        after=just(
            NESTED[0],
            numa(NUMA1, 'renamed'),
            numa(DEVICE, 'moved', parent=NUMA1),
            numa(name='also renamed', parent=NUMA1),
        ),
        least=6,
    ),
    'two names swapped': Scenario(
        before=just(root(), numa(), numa(NUMA1)),
        after=just(root(), numa(name='numa1'), numa(NUMA1, 'numa0')),
        least=4,
    ),
    'a name is freed and used again': Scenario(
        before=just(root(), numa()),
        after=just(root(), numa(NUMA1, 'numa0', traits=('CUSTOM_A',))),
        least=6,
    ),
    'aggregates': Scenario(
        before=just(root(aggregates=(AGGREGATE,)), numa()),
        after=just(
            root(aggregates=(OTHER_AGGREGATE,)),
            numa(aggregates=(AGGREGATE, OTHER_AGGREGATE)),
        ),
        least=4,
    ),
    'custom names on two nodes': Scenario(
        after=two(
            (root(traits=('CUSTOM_A',), inventory=(('CUSTOM_X', 1),)),),
            (
                root(
                    SECOND,
                    traits=('CUSTOM_A', 'CUSTOM_B'),
                    inventory=(('CUSTOM_X', 1), ('CUSTOM_Y', 1)),
                ),
            ),
        ),
        nodes=(NODE, SECOND),
        least=12,
    ),
    'exclusive, with authority': Scenario(
        before=just(root(traits=('HW_CPU_X86_AVX',)), numa()),
        after=just(
            root(traits=('HW_CPU_X86_AVX512F',)),
            numa(traits=('CUSTOM_A',), exclusive=True),
        ),
        authority=('HW_CPU_*',),
        others=_foreign,
        least=6,
    ),
    'an operator changes a file': Scenario(
        before=just(root(), numa()),
        after=just(root(), numa()),
        files=(FILE, NEXT_FILE),
        least=5,
    ),
    'an operator removes a file': Scenario(
        before=just(root(), numa()),
        after=just(root(), numa()),
        files=(FILE, None),
        least=5,
    ),
    'what is allocated moves': Scenario(
        before=just(root(inventory=(('VCPU', 8),))),
        after=Moving({NODE: (root(), numa(traits=('CUSTOM_A',)))}),
        others=_allocations_of_the_node,
        least=8,
    ),
}


class Bare(Wishes):
    """Of all that was asserted nothing is any more."""

    def __call__(self, tree: typing.Any, nodename: str) -> None:
        super().__call__(tree, nodename)
        if tree.exists(SHARED):
            tree.declare_traits(SHARED)
            tree.declare_aggregates(SHARED)
            tree.update_inventory(SHARED, {})


BARE = Bare(
    {
        NODE: (root(inventory=(('MEMORY_MB', 1),)),),
        SECOND: (root(SECOND, inventory=(('MEMORY_MB', 1),)),),
    }
)
