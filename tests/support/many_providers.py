# SPDX-License-Identifier: Apache-2.0
"""Thousands of hosts in a placement's database, written in a moment.

The requests for as many would take minutes. The rows are as placement itself
writes them, a week ago.
"""

import collections.abc
import contextlib
import sqlite3
import typing
import uuid

# What ``ServedPlacement.database`` is.
Database: typing.TypeAlias = collections.abc.Callable[
    [], contextlib.AbstractContextManager[sqlite3.Connection]
]
_THEN = "datetime('now', '-7 days')"


def age(database: Database) -> None:
    """Make all providers look unchanged for a week."""
    with database() as opened:
        opened.execute(
            f'UPDATE resource_providers SET updated_at = {_THEN}, '
            f'created_at = {_THEN}'
        )


def add_hosts(
    database: Database, numbers: collections.abc.Iterable[int]
) -> dict[str, str]:
    """Add hosts, each with a child; return their names by uuid.

    A host has COMPUTE_NODE and VCPU. A child has VGPU and no trait.

    :param numbers: those in the names
    """
    hosts = {str(uuid.uuid4()): f'host-{n:05}' for n in numbers}
    with database() as opened:
        _insert(opened, hosts)
    return hosts


def _insert(opened: sqlite3.Connection, hosts: dict[str, str]) -> None:
    def one(query: str) -> int:
        (found,) = opened.execute(query).fetchone()
        return int(found)

    trait = one("SELECT id FROM traits WHERE name = 'COMPUTE_NODE'")
    vcpu = one("SELECT id FROM resource_classes WHERE name = 'VCPU'")
    vgpu = one("SELECT id FROM resource_classes WHERE name = 'VGPU'")
    first = one('SELECT coalesce(max(id), 0) FROM resource_providers') + 1
    for number, (root, name) in enumerate(hosts.items()):
        ident = first + 2 * number
        for row in (
            (ident, root, name, ident, None),
            (ident + 1, str(uuid.uuid4()), f'{name}_gpu', ident, ident),
        ):
            opened.execute(
                'INSERT INTO resource_providers (id, uuid, name, generation, '
                'root_provider_id, parent_provider_id, created_at, updated_at)'
                f' VALUES (?, ?, ?, 2, ?, ?, {_THEN}, {_THEN})',
                row,
            )
        opened.execute(
            'INSERT INTO resource_provider_traits (resource_provider_id, '
            'trait_id) VALUES (?, ?)',
            (ident, trait),
        )
        for owner, rc, total in ((ident, vcpu, 64), (ident + 1, vgpu, 4)):
            opened.execute(
                'INSERT INTO inventories (resource_provider_id, '
                'resource_class_id, total, reserved, min_unit, max_unit, '
                'step_size, allocation_ratio) '
                'VALUES (?, ?, ?, 0, 1, ?, 1, 1.0)',
                (owner, rc, total, total),
            )
