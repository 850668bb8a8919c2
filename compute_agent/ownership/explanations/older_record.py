# SPDX-License-Identifier: Apache-2.0
"""Recognize a state database that is older than placement.

Pure: no I/O, configuration, logging or clock. If a host, or its state
database, is restored from a copy, placement has changes that the agent made
and does not know. They look like another writer's, so nothing of them is
removed. Two signs tell such a database from one that is new and from the
changes of others: names that others seem to have added since the last reading
and that a source of this agent begins to report, and children with the uuids
that the agent derives. ``cycle/planning/wanted_providers.py`` asks once for
each node.
"""

from ...tree import provider_tree
from .. import claims, undeletable
from ..record import Record

_FEW = 5  # names that the line lists


def line(
    tree: provider_tree.ProviderTree, record: Record, node_uuid: str
) -> str | None:
    """Return the line about an older database; None without a sign of it.

    :param tree: the tree as it was described
    """
    if not any(uuid == node_uuid for uuid, _ in record.claims):
        return None  # the record of the node is new
    found = sorted(_names(tree, record) | _children(tree, record))
    if not found:
        return None
    few, more = found[:_FEW], len(found) - _FEW
    rest = f' and {more} more' if more > 0 else ''
    return (
        f'placement has {", ".join(few)}{rest}, as if this agent had added it, '
        'but the state database does not know of it: the database is older '
        'than placement (was the host or the file restored from a copy?), or '
        'another agent reports this node too; the agent removes nothing that '
        'it does not know: if it should go, run "compute-agent sync --prune '
        'NAME", or "compute-agent provider adopt UUID" for a provider'
    )


def _names(tree: provider_tree.ProviderTree, record: Record) -> set[str]:
    """Return the names that a source begins to report and that came before.

    The last reading lacks them, and the record does not have them.
    """
    found = set[str]()
    for key, by_source in tree.assertions.items():
        uuid, kind = key
        if uuid not in record.was or uuid not in tree.baseline:
            continue
        reported = claims.union(each.names for each in by_source.values())
        known = (
            record.was[uuid].names_of(kind)
            | claims.union(record.claims.get(key, {}).values())
            | record.claimed_for_other_nodes(key)
            | record.ours.get(key, frozenset())
        )
        found |= (reported & tree.baseline[uuid].names_of(kind)) - known
    return found


def _children(tree: provider_tree.ProviderTree, record: Record) -> set[str]:
    """Return the children that this agent seems to have created."""
    known = record.created | {uuid for uuid, _ in record.claims}
    return {
        one.name
        for uuid, one in tree.baseline.items()
        if uuid not in known and undeletable.is_derived(tree.baseline, uuid)
    }
