# SPDX-License-Identifier: Apache-2.0
"""The nodes that both agents report, and what placement must hold of them.

Pure, and of the standard library alone: it runs in nova's environment too.
Both agents parse the text of ``listing`` anew in each cycle, as drivers do that
ask a server: what did not change is equal and never identical.
"""

import enum
import json
import typing
import uuid

RESOURCE_CLASS = 'CUSTOM_GOLD'
# What the agent adds; nova's is told to, so that both write the same.
ROOT_TRAITS, CHILD_TRAITS = ('COMPUTE_NODE', 'OWNER_NOVA'), ('OWNER_NOVA',)
FIRMWARE, NEW_FIRMWARE = 'CUSTOM_BENCH_FIRMWARE_1', 'CUSTOM_BENCH_FIRMWARE_2'
TRAITS = (FIRMWARE, 'CUSTOM_BENCH_RACK', 'CUSTOM_BENCH_RAID')
AGGREGATE = '5f1a0a30-5d0c-4d4e-9b0e-6d7f4c1f0001'
TREE_SIZE = 50  # providers, the root among them
STRANGERS = 50_000  # providers of a crowded cloud, ours among them

_NAMESPACE = uuid.UUID('5f1a0a30-5d0c-4d4e-9b0e-6d7f4c1f0000')


class Change(enum.Enum):
    """What is not as it was in the cycle before."""

    NOTHING = 'nothing'
    TRAIT = 'trait'
    CONTENTS = 'contents'
    ALLOCATIONS = 'allocations'


class Provider(typing.TypedDict):
    """A provider as the listing has it."""

    uuid: str
    name: str
    traits: list[str]
    inventory: dict[str, dict[str, float]]
    aggregates: list[str]
    children: list['Provider']


def changed(nodes: int) -> int:
    """Return how many of these nodes change: one in a hundred, at least one.

    It is the first ones that do.
    """
    return max(1, nodes // 100)


def listing(
    nodes: int, tree_size: int = 1, change: Change = Change.NOTHING
) -> str:
    """Return the listing of so many nodes, as JSON.

    :param tree_size: how many providers each node is
    """
    few = changed(nodes)
    return json.dumps(
        [
            _node(i, tree_size, change if i < few else Change.NOTHING)
            for i in range(nodes)
        ]
    )


def parse(text: str) -> list[Provider]:
    """Return the nodes of a listing."""
    found: list[Provider] = json.loads(text)
    return found


def rows(nodes: list[Provider]) -> dict[str, list[str]]:
    """Return what placement must hold of these nodes: kind → sorted rows."""
    every = [one for node in nodes for one in (node, *node['children'])]
    roots = {node['name'] for node in nodes}
    found = {
        'traits': [
            f'{one["name"]}|{trait}'
            for one in every
            for trait in reported_traits(one, is_root=one['name'] in roots)
        ],
        'inventories': [
            f'{one["name"]}|{rc}|{record["total"]}|{record["reserved"]}'
            for one in every
            for rc, record in one['inventory'].items()
        ],
        'aggregates': [
            f'{o["name"]}|{a}' for o in every for a in o['aggregates']
        ],
    }
    return {kind: sorted(some) for kind, some in found.items()}


def reported_traits(one: Provider, *, is_root: bool) -> list[str]:
    """Return a provider's traits with those that its agent adds."""
    return [*one['traits'], *(ROOT_TRAITS if is_root else CHILD_TRAITS)]


def _node(number: int, tree_size: int, change: Change) -> Provider:
    node = _provider(f'bench-{number:05}', change)
    node['aggregates'] = [AGGREGATE]
    node['children'] = [
        _provider(f'{node["name"]}-{below:02}', Change.NOTHING)
        for below in range(1, tree_size)
    ]
    return node


def _provider(name: str, change: Change) -> Provider:
    new = change in {Change.TRAIT, Change.CONTENTS}
    return Provider(
        uuid=str(uuid.uuid5(_NAMESPACE, name)),
        name=name,
        traits=[NEW_FIRMWARE if new else FIRMWARE, *TRAITS[1:]],
        inventory={
            RESOURCE_CLASS: {
                'total': 1,
                'reserved': 1 if change is Change.CONTENTS else 0,
                'min_unit': 1,
                'max_unit': 1,
                'step_size': 1,
                'allocation_ratio': 1.0,
            }
        },
        aggregates=[],
        children=[],
    )
