# SPDX-License-Identifier: Apache-2.0
"""The nodes that both agents report, and their expected rows in placement.

Pure. It uses only the standard library, because it runs in nova's environment
too. Both agents parse the text of ``listing`` in each cycle, like drivers that
query a server: unchanged values are equal, but not identical.
"""

import enum
import json
import typing
import uuid

RESOURCE_CLASS = 'CUSTOM_GOLD'
# Traits that this agent adds; nova's agent is told to add them as well.
ROOT_TRAITS, CHILD_TRAITS = ('COMPUTE_NODE', 'OWNER_NOVA'), ('OWNER_NOVA',)
FIRMWARE, NEW_FIRMWARE = 'CUSTOM_BENCH_FIRMWARE_1', 'CUSTOM_BENCH_FIRMWARE_2'
TRAITS = (FIRMWARE, 'CUSTOM_BENCH_RACK', 'CUSTOM_BENCH_RAID')
AGGREGATE = '5f1a0a30-5d0c-4d4e-9b0e-6d7f4c1f0001'
TREE_SIZE = 50  # providers, including the root
STRANGERS = 50_000  # providers of a crowded cloud, including ours

_NAMESPACE = uuid.UUID('5f1a0a30-5d0c-4d4e-9b0e-6d7f4c1f0000')


class Change(enum.Enum):
    """The change since the previous cycle."""

    NOTHING = 'nothing'
    TRAIT = 'trait'
    CONTENTS = 'contents'
    ALLOCATIONS = 'allocations'


class Provider(typing.TypedDict):
    """A provider in the listing."""

    uuid: str
    name: str
    traits: list[str]
    inventory: dict[str, dict[str, float]]
    aggregates: list[str]
    children: list['Provider']


def changed(nodes: int) -> int:
    """Return the number of changed nodes: one in a hundred, at least one.

    The first nodes of the listing change.
    """
    return max(1, nodes // 100)


def listing(
    nodes: int, tree_size: int = 1, change: Change = Change.NOTHING
) -> str:
    """Return the listing as JSON.

    :param nodes: the number of nodes
    :param tree_size: the number of providers of each node
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
    """Return the expected rows in placement: kind → sorted rows."""
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
    """Return a provider's traits, including those that the agent adds."""
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
