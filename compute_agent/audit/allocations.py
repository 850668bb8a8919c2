# SPDX-License-Identifier: Apache-2.0
"""Find allocations without a consumer, and inventories that do not fit.

Pure: no I/O, configuration, logging or clock. Also find allocations that an
evacuation left behind. A consumer of placement is a server or a migration of
nova. Nova must have been asked for each of them; otherwise the consumer is
unknown.
"""

from collections.abc import Iterator

from . import cloud, finding, hosts

Kind = finding.Kind


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the findings about the providers that were read."""
    consumers = known.placement.consumers()
    for consumer in sorted(consumers):
        yield from _consumer(known, consumer, consumers[consumer])
    for uuid in sorted(known.placement.contents):
        one = known.placement.providers[uuid]
        yield from _node(known, one)
        yield from _inventories(one, known.placement.contents[uuid])
    for uuid in sorted(known.placement.changing):
        yield finding.Finding(
            kind=Kind.CHANGING,
            level=finding.Level.UNKNOWN,
            subject=str(known.placement.providers[uuid]),
            why='it changed, or was deleted, while it was read',
        )


def _consumer(
    known: cloud.Cloud, consumer: str, users: list[cloud.ListedProvider]
) -> Iterator[finding.Finding]:
    if consumer in known.nova.known_consumers or (
        consumer in known.ironic.instances.values()
    ):
        return
    why = known.nova.problem
    if not why and any(one.is_like_ironic for one in users):
        why = known.ironic.problem
    titles = tuple(str(one) for one in users)
    subject = f'{consumer} on {", ".join(titles)}'
    if why:
        yield finding.Finding(
            kind=Kind.ORPHANED_ALLOCATIONS,
            level=finding.Level.UNKNOWN,
            subject=subject,
            why=why,
        )
        return
    yield finding.Finding(
        kind=Kind.ORPHANED_ALLOCATIONS,
        subject=subject,
        why='nova has no server and no migration of this uuid',
        advice='audit --repair deletes these allocations',
        repair=finding.DeleteAllocations(consumer=consumer, providers=titles),
    )


def _node(
    known: cloud.Cloud, one: cloud.ListedProvider
) -> Iterator[finding.Finding]:
    """Yield an Ironic node that is allocated, but not to its instance."""
    if known.ironic.problem or one.uuid not in known.ironic.instances:
        return
    instance = known.ironic.instances[one.uuid]
    for consumer in sorted(known.placement.contents[one.uuid].allocations):
        if consumer != instance:
            has = f'instance {instance}' if instance else 'no instance'
            yield finding.Finding(
                kind=Kind.NODE_WITHOUT_INSTANCE,
                level=finding.Level.NOTE,
                subject=str(one),
                why=f'it is allocated to {consumer}, and has {has} in Ironic; '
                'while nova builds or deletes a server, this is normal',
            )


def _inventories(
    one: cloud.ListedProvider, contents: cloud.Contents
) -> Iterator[finding.Finding]:
    used: dict[str, int] = {}
    for resources in contents.allocations.values():
        for rc, amount in resources.items():
            used[rc] = used.get(rc, 0) + amount
    for rc in sorted({*used, *contents.inventories}):
        has = contents.inventories.get(rc)
        capacity = has.capacity if has else 0
        if has and capacity < 0:
            yield _over(
                one,
                f'{rc}: {has.reserved} of a total of {has.total} are reserved',
            )
        elif used.get(rc, 0) > capacity:
            yield _over(
                one,
                f'{rc}: {used[rc]} are used, and the capacity is {capacity:g}',
            )
        elif has and has.total and has.reserved == has.total:
            yield finding.Finding(
                kind=Kind.FULLY_RESERVED,
                level=finding.Level.NOTE,
                subject=str(one),
                why=f'{rc}: the whole total of {has.total} is reserved',
            )


def _over(one: cloud.ListedProvider, why: str) -> finding.Finding:
    return finding.Finding(
        kind=Kind.OVER_CAPACITY,
        subject=str(one),
        why=why,
        advice='nothing more fits; migrate instances, or correct the '
        'inventory or its ratio',
    )


def left_findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield servers that use another compute node than the one they are on.

    An evacuated server keeps its allocations on the failed host until the
    nova-compute there starts again. Only nova proves it: the server is on one
    of the hosts, nova is doing nothing to it, and a finished evacuation took
    it from the other host.
    """
    for consumer, roots in sorted(known.placement.divided().items()):
        home = known.nova.homes.get(consumer)
        if home is None:
            continue
        by_name = {known.placement.providers[u].name: u for u in roots}
        here = [n for n in by_name if hosts.are_similar(n, home.host)]
        for name, uuid in sorted(by_name.items()):
            if len(here) == 1 and name not in here:
                root = known.placement.providers[uuid]
                yield _left(known, consumer, root, home)


def is_evacuated(home: cloud.Home, root: cloud.ListedProvider) -> bool:
    """Return True if nova proves that a server left a host for another one."""
    return (
        home.is_settled
        and not hosts.are_similar(home.host, root.name)
        and any(hosts.are_similar(root.name, one) for one in home.evacuated)
    )


def _left(
    known: cloud.Cloud,
    consumer: str,
    root: cloud.ListedProvider,
    home: cloud.Home,
) -> finding.Finding:
    subject = f'{consumer} on {root}'
    if not is_evacuated(home, root):
        return finding.Finding(
            kind=Kind.LEFT_ALLOCATIONS,
            level=finding.Level.UNKNOWN,
            subject=subject,
            why=f'nova has this server on {home.host}, and tells of no finished '
            'evacuation: a migration or a resize may be under way',
        )
    return finding.Finding(
        kind=Kind.LEFT_ALLOCATIONS,
        subject=subject,
        why=f'nova evacuated this server to {home.host}',
        advice='audit --repair takes them off this host; a nova-compute that '
        'starts there again does it, too',
        repair=finding.LeaveHost(
            consumer=consumer,
            host=root,
            providers=tuple(
                sorted(
                    one.uuid
                    for one in known.placement.consumers()[consumer]
                    if one.root_uuid == root.uuid
                )
            ),
        ),
    )
