# SPDX-License-Identifier: Apache-2.0
"""Find providers without any contents, and children of an unknown origin.

Pure: no I/O, configuration, logging or clock. A child is orphaned if it has no
inventory, traits, aggregates and allocations, the same is true of all its
children, and this agent's state does not have it. A child without contents
above others that have some is a group, such as a NUMA node.
"""

from collections.abc import Collection, Iterator, Sequence

from . import cloud, finding, hosts

Kind = finding.Kind


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the orphaned and the empty providers, and those of unknown origin."""
    judge = hosts.Hosts(known)
    for uuid, tree in sorted(known.placement.trees().items()):
        root = known.placement.providers.get(uuid)
        if root and judge.verdict(root).is_dead:
            continue
        orphans = _orphans(known, tree)
        yield from _tops(known, tree, orphans)
        if root is not None and root.uuid in known.agent.roots:
            yield from _unrecorded(known, tree, orphans)


def _orphans(
    known: cloud.Cloud, tree: Sequence[cloud.ListedProvider]
) -> set[str]:
    """Return the empty providers above which and below which nothing is."""
    with_contents: set[str] = set()
    found: set[str] = set()
    for one in hosts.leaves_first(tree):
        if one.uuid in with_contents or not _is_empty(known, one):
            if one.parent_uuid is not None:
                with_contents.add(one.parent_uuid)
        else:
            found.add(one.uuid)
    return found


def _is_empty(known: cloud.Cloud, one: cloud.ListedProvider) -> bool:
    if (
        one.uuid in known.agent.recorded
        or one.uuid not in known.placement.traitless
    ):
        return False
    contents = known.placement.contents.get(one.uuid)
    return (
        contents is not None
        and contents.aggregates is not None
        and not contents.inventories
        and not contents.allocations
        and not contents.aggregates
    )


def _tops(
    known: cloud.Cloud,
    tree: Sequence[cloud.ListedProvider],
    orphans: Collection[str],
) -> Iterator[finding.Finding]:
    """Yield a finding for each empty provider below one that is not empty."""
    for one in sorted(tree, key=lambda p: (p.name, p.uuid)):
        if one.uuid not in orphans or one.parent_uuid in orphans:
            continue
        root = known.placement.providers.get(one.root_uuid, one.root_uuid)
        part = below(one, tree)
        if one.is_root:
            yield finding.Finding(
                kind=Kind.EMPTY_PROVIDER,
                subject=str(one),
                why='it has no inventory, no traits and no aggregates',
                advice='if nobody needs it: compute-agent resource provider delete '
                f'{one.uuid}',
            )
        else:
            yield finding.Finding(
                kind=Kind.ORPHANED_CHILD,
                subject=f'{one}, below {root}',
                why='it has no inventory, no traits, no aggregates and no '
                'allocations',
                advice='audit --repair deletes it',
                repair=finding.DeleteProviders(
                    providers=hosts.leaves_first(part)
                ),
            )


def below(
    top: cloud.ListedProvider, tree: Sequence[cloud.ListedProvider]
) -> list[cloud.ListedProvider]:
    """Return a provider of a tree and all its descendants."""
    found = {top.uuid: top}
    for one in reversed(hosts.leaves_first(tree)):  # parents first
        if one.parent_uuid in found:
            found[one.uuid] = one
    return list(found.values())


def _unrecorded(
    known: cloud.Cloud,
    tree: Sequence[cloud.ListedProvider],
    orphans: Collection[str],
) -> Iterator[finding.Finding]:
    for one in sorted(tree, key=lambda p: (p.name, p.uuid)):
        if (
            not one.is_root
            and one.uuid not in known.agent.recorded
            and one.uuid not in orphans
        ):
            yield finding.Finding(
                kind=Kind.UNRECORDED_CHILD,
                level=finding.Level.NOTE,
                subject=str(one),
                why='it is in the tree of a node of this agent, and another '
                'writer, such as nova, neutron or cyborg, created it',
                advice='if that writer is gone: compute-agent resource provider delete '
                'UUID',
            )
