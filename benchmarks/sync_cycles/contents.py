# SPDX-License-Identifier: Apache-2.0
"""Direct access to the rows in placement's database, without its API.

``bench.py`` fills a crowded cloud with it, and checks that a measured cycle
wrote what it should. The statements work on both databases.
"""

from . import cloud, databases

_QUERIES = {
    'traits': 'select p.name, t.name from resource_provider_traits a '
    'join resource_providers p on p.id = a.resource_provider_id '
    'join traits t on t.id = a.trait_id',
    'inventories': 'select p.name, c.name, i.total, i.reserved '
    'from inventories i '
    'join resource_providers p on p.id = i.resource_provider_id '
    'join resource_classes c on c.id = i.resource_class_id',
    'aggregates': 'select p.name, g.uuid from resource_provider_aggregates a '
    'join resource_providers p on p.id = a.resource_provider_id '
    'join placement_aggregates g on g.id = a.aggregate_id',
}
_INSERT = (
    'insert into resource_providers '
    '(uuid, name, generation, created_at, updated_at) values'
)
_TOGETHER = 1000  # rows of one statement


class Wrong(Exception):
    """Placement does not have what the agent should have written."""


def check(
    known: databases.Databases, name: str, nodes: list[cloud.Provider]
) -> None:
    """Check that placement has these nodes with all their contents.

    :raises Wrong: rows differ; the error names the first ones
    """
    wanted = cloud.rows(nodes)
    for kind, query in _QUERIES.items():
        there = sorted(known.rows(name, query))
        if there != wanted[kind]:
            lacks = sorted(set(wanted[kind]) - set(there))[:3]
            extra = sorted(set(there) - set(wanted[kind]))[:3]
            raise Wrong(f'{kind}: placement lacks {lacks}, has {extra}')


def add_strangers(known: databases.Databases, name: str, count: int) -> None:
    """Add empty root providers that no agent here reports."""
    now = 'current_timestamp, current_timestamp'  # placement compares them
    for begin in range(0, count, _TOGETHER):
        numbers = range(begin, min(begin + _TOGETHER, count))
        values = ', '.join(
            f"('00000000-0000-4000-8000-{i:012x}', 'stranger-{i:05}', 1, {now})"
            for i in numbers
        )
        known.run(name, f'{_INSERT} {values}')
    known.run(
        name,
        'update resource_providers set root_provider_id = id '
        'where root_provider_id is null',
    )
