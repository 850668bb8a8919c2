# SPDX-License-Identifier: Apache-2.0
"""Keep a reporter's assertions away from the part that nova-compute reports.

Pure: no I/O, configuration, logging or clock. With ``mode = reporter``,
nova-compute starts the guests of a node with a driver that describes nothing
(the distribution compute-agent-nova), and the agent reports the node.
nova-compute still adds the capabilities of its driver's class, COMPUTE_NODE,
OWNER_NOVA and COMPUTE_STATUS_DISABLED to the root, and has a child for each PCI
device that it manages. ``confine`` leaves these alone, and ``doubt`` finds a
nova-compute that reports the node after all. ``cycle/`` calls both.
"""

import dataclasses
from collections.abc import Iterable

from ... import error_text
from ...tree import assertion, provider_tree
from ...tree.assertion import Kind
from .. import nova_traits

# Seconds in which nova-compute undoes a second time: it reads its providers anew
# every five minutes. And for which the agent then writes nothing.
WITHIN = 3600.0
REST = 3600.0


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


def undone(
    node_uuid: str, restored: Iterable[assertion.Named], *, is_host: bool
) -> frozenset[str]:
    """Return the names of a root that a reporting nova-compute would undo.

    :param restored: the names that another writer took away or changed
    :param is_host: True for a hypervisor; False for a bare-metal node, where
        nova-compute replaces all traits
    """
    return frozenset(
        name
        for uuid, kind, name in restored
        if uuid == node_uuid
        and (
            kind is Kind.INVENTORY
            or (
                kind is Kind.TRAIT
                and (nova_traits.is_novas(name) or not is_host)
                and not nova_traits.is_nova_computes(name)
            )
        )
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Names of a node's root that another writer undid, and when.

    :ivar names: the names that were undone last
    :ivar at: when the agent first planned to restore some, in seconds
    :ivar is_restored: True if it has restored them since
    :ivar until: the time up to which the agent writes nothing; 0 if it goes on
    """

    names: frozenset[str]
    at: float
    is_restored: bool = False
    until: float = 0


def doubt(
    before: Doubt | None, found: frozenset[str], now: float
) -> Doubt | None:
    """Return the doubt about a node after a plan; None without a doubt.

    A person may change a name once, and the agent restores it. If the same name
    is undone again within an hour, nova-compute reports the node.

    :param found: the names that the plan would restore
    """
    is_recent = before is not None and 0 <= now - before.at <= WITHIN
    if before is None or not is_recent:
        return Doubt(names=found, at=now) if found else None
    if not found:
        return before
    again = found & before.names
    if before.is_restored and again:
        return Doubt(names=again, at=before.at, until=now + REST)
    return dataclasses.replace(before, names=before.names | found)


def stepped_back(what: Doubt) -> str:
    """Return the line about a node that the agent leaves alone."""
    return (
        'nova-compute seems to report this node, because another writer undid '
        f'{error_text.listed(what.names)} twice within an hour; the agent '
        'writes nothing of the node for an hour, and then tries again: give '
        'nova-compute the driver of compute-agent-nova, or set '
        '[compute_agent] mode = companion'
    )


def _novas(found: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_nova_computes, found))
