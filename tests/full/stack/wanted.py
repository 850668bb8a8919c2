# SPDX-License-Identifier: Apache-2.0
"""Placement as it must be at the end of a day, and what is wrong with it.

Ironic says which bare-metal nodes there are; its own API is asked, not the
agent. The host's provider must be as the agent first reported it. What an
operator added to it must still be there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compute_agent.fleet.values import mark

OPERATORS = 'CUSTOM_OPERATORS_OWN'
AGENTS_OWN = frozenset({'COMPUTE_NODE', 'OWNER_NOVA'})

Held = Mapping[str, Mapping[str, Any]]  # uuid → name, traits, inventories


def bare_metal(
    nodes: Sequence[Mapping[str, Any]], held: Held
) -> Iterator[str]:
    """Yield what is wrong with the providers of bare-metal nodes.

    :param nodes: as Ironic has them
    :param held: all providers but the host's
    """
    there = {str(node['uuid']): node for node in nodes}
    for uuid in sorted(held.keys() - there.keys()):
        yield f'{held[uuid]["name"]} ({uuid}) is no node of Ironic any more'
    for uuid, node in sorted(there.items()):
        if uuid not in held:
            yield f'{node["name"]} ({uuid}) is missing'
            continue
        yield from _node(node, held[uuid])


def host(first: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the host's provider.

    :param first: as the agent first reported it
    """
    traits = set(first['traits']) | {OPERATORS}
    if set(now['traits']) != traits:
        odd = sorted(traits ^ set(now['traits']))
        yield f'the host has too many or too few traits: {odd}'
    if now['inventories'] != first['inventories']:
        yield f'the host has the inventories {now["inventories"]}'


def _node(node: Mapping[str, Any], held: Mapping[str, Any]) -> Iterator[str]:
    traits = set(node['traits'])
    lacking = sorted(traits - set(held['traits']))
    custom = {
        t
        for t in held['traits']
        if t.startswith('CUSTOM_') and mark.parse(t) is None
    }
    extra = sorted(custom - traits)
    if lacking or extra:
        yield f'{node["name"]}: traits -{lacking} +{extra}'
    if AGENTS_OWN - set(held['traits']):
        yield f"{node['name']} lacks the agent's own traits"
    wanted = {f'CUSTOM_{node["resource_class"].upper()}': 1}
    totals = {n: one['total'] for n, one in held['inventories'].items()}
    if totals != wanted:
        yield f'{node["name"]} has {totals}, not {wanted}'
