# SPDX-License-Identifier: Apache-2.0
"""Keep a reporter's assertions away from the part that nova-compute reports.

Pure: no I/O, configuration, logging or clock. With ``mode = reporter``,
nova-compute starts the guests of a node with a driver that describes nothing
(the distribution compute-agent-nova), and the agent reports the node.
nova-compute still adds the capabilities of its driver's class, COMPUTE_NODE,
OWNER_NOVA and COMPUTE_STATUS_DISABLED to the root, and has a child for each PCI
device that it manages. ``confine`` leaves these alone, ``given_up`` is what an
owner's record has of them, and ``doubt`` finds a nova-compute that reports the
node after all. ``cycle/planning/`` calls all three.
"""

import dataclasses
from collections.abc import Iterable

from ...tree import assertion, names, provider, provider_tree
from ...tree.assertion import Claims, Key, Kind
from ..record import Record
from . import nova_traits

_FEW = 5  # names that a message lists


def confine(tree: provider_tree.ProviderTree, node_uuid: str) -> None:
    """Drop the assertions about nova-compute's part of a node.

    A driver's complete list of the root's traits does not take them away. The
    libvirt driver itself leaves the PCI devices alone.
    """
    key = (node_uuid, Kind.TRAIT)
    there = (
        tree.baseline[node_uuid].traits if node_uuid in tree.baseline else ()
    )
    for source, asserted in dict(tree.assertions.get(key, {})).items():
        theirs = _novas((*asserted.names, *asserted.removed, *there))
        tree.replace_assertion(*key, source, asserted.disputing(theirs))


def given_up(
    record: Record, node_uuid: str, providers: provider.Snapshot
) -> Record:
    """Return the part of a reporter's record that is nova-compute's now.

    The agent has it from a time as the owner. It stays in placement. A root
    that nova-compute marked as its compute node is no longer the agent's to
    delete.
    """
    devices = {
        uuid
        for uuid, one in providers.items()
        if one.parent_uuid is not None
        and nova_traits.MANAGED_PCI in one.traits
    }
    root = providers.get(node_uuid)
    is_novas = root is not None and names.COMPUTE_NODE in root.traits
    key = (node_uuid, Kind.TRAIT)
    ours = {
        key: _novas(record.ours.get(key, ())),
        **{k: found for k, found in record.ours.items() if k[0] in devices},
    }
    claims: dict[Key, Claims] = {
        key: {
            source: _novas(found)
            for source, found in record.claims.get(key, {}).items()
        },
        **{k: by for k, by in record.claims.items() if k[0] in devices},
    }
    return Record(
        created=record.created
        & (devices | ({node_uuid} if is_novas else set())),
        ours={k: found for k, found in ours.items() if found},
        claims={k: by for k, by in claims.items() if any(by.values())},
    )


def undone(
    node_uuid: str, restored: Iterable[assertion.Named]
) -> frozenset[str]:
    """Return the names of a root that only a reporting nova-compute undoes.

    :param restored: the names that another writer took away or changed
    """
    return frozenset(
        name
        for uuid, kind, name in restored
        if uuid == node_uuid
        and (
            kind is Kind.INVENTORY
            or (
                kind is Kind.TRAIT
                and nova_traits.is_novas(name)
                and not nova_traits.is_nova_computes(name)
            )
        )
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Names of a node's root that another writer undid, and when.

    :ivar names: the names that were undone last
    :ivar at: when the agent first planned to restore some, in seconds
    :ivar until: the time up to which the agent writes nothing; 0 if it goes on
    """

    names: frozenset[str]
    at: float
    until: float = 0


def doubt(
    before: Doubt | None,
    found: frozenset[str],
    now: float,
    *,
    refresh: float,
    rest: float,
) -> Doubt | None:
    """Return the doubt about a node after a plan; None if there is none.

    A person may change a name once, and the agent restores it. If names are
    undone again within two of nova-compute's refreshes, it reports the node. A
    plan that a conflict has repeated is not counted twice.

    :param found: the names that the plan would restore
    :param refresh: the seconds between two refreshes of nova-compute
    :param rest: the seconds for which the agent then writes nothing
    """
    is_recent = before is not None and now - before.at <= 2 * refresh
    if not found:
        return before if is_recent else None
    if before is None or not is_recent:
        return Doubt(names=found, at=now)
    if now - before.at <= refresh / 10:
        return before
    return Doubt(names=found, at=before.at, until=now + rest)


def stepped_back(what: Doubt) -> str:
    """Return the line about a node that the agent leaves alone."""
    listed = sorted(what.names)
    few, more = listed[:_FEW], len(listed) - _FEW
    rest = f' and {more} more' if more > 0 else ''
    return (
        'nova-compute seems to report this node, because it is undone each '
        f'time when this agent reports {", ".join(few)}{rest}; the agent '
        'writes nothing of it for an hour, and then tries again: give '
        'nova-compute the driver of compute-agent-nova, or set '
        '[compute_agent] mode = companion'
    )


def _novas(found: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_nova_computes, found))
