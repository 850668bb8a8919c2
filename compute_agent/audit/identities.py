# SPDX-License-Identifier: Apache-2.0
"""Find hosts that placement knows twice, or under another name or uuid.

Pure: no I/O, configuration, logging or clock. Placement's names are unique, so
a host that was installed again has one provider under a name or a uuid that
nova does not use any more.
"""

import itertools
from collections.abc import Iterator

from ..tree import names
from . import cloud, finding, hosts

Kind = finding.Kind


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the hosts whose name or uuid does not fit."""
    yield from _similar(known)
    roots = {root.name.casefold(): root for root in known.placement.roots()}
    for uuid, name in sorted(
        known.nova.hypervisors.items(), key=lambda item: item[1]
    ):
        yield from _hypervisor(known, roots, uuid, name)


def _similar(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield each pair of roots that may be the same host."""
    by_key: dict[str, list[cloud.ListedProvider]] = {}
    for root in known.placement.roots():
        if not root.is_like_ironic:
            by_key.setdefault(hosts.key(root.name), []).append(root)
    for same in by_key.values():
        for one, other in itertools.combinations(same, 2):
            if hosts.are_similar(one.name, other.name):
                yield finding.Finding(
                    kind=Kind.SIMILAR_NAMES,
                    subject=f'{one} and {other}',
                    why='the names may be of the same host; '
                    + _known_to_nova(known.nova, one, other),
                )


def _known_to_nova(
    nova: cloud.Nova, one: cloud.ListedProvider, other: cloud.ListedProvider
) -> str:
    if nova.problem:
        return nova.problem
    known = [str(p) for p in (one, other) if p.uuid in nova.hypervisors]
    if not known:
        return 'nova knows neither uuid'
    if len(known) == 1:
        return f'nova knows only {known[0]}'
    return 'nova knows both uuids, as two hypervisors'


def _hypervisor(
    known: cloud.Cloud,
    roots: dict[str, cloud.ListedProvider],
    uuid: str,
    name: str,
) -> Iterator[finding.Finding]:
    """Yield the findings about one hypervisor of nova."""
    own = known.placement.providers.get(uuid)
    if own is not None and own.name != name:
        yield finding.Finding(
            kind=Kind.RENAMED,
            subject=str(own),
            why=f'nova calls the hypervisor of this uuid {name}',
            advice=f'compute-agent provider rename {uuid} {name}',
        )
    holder = roots.get(name.casefold())
    if holder is not None and holder.uuid != uuid:
        yield finding.Finding(
            kind=Kind.REINSTALLED,
            subject=str(holder),
            why=f'nova knows the host {name} as hypervisor {uuid}',
            advice='if the host was installed again, give it its former uuid '
            f'there: compute-agent provider adopt {holder.uuid}',
        )
    elif own is None and not names.is_uuid(name):
        yield finding.Finding(
            kind=Kind.UNREPORTED,
            subject=f'{name} ({uuid})',
            why='nova has this hypervisor, and placement no provider for it',
            advice='look at the log of the nova-compute or compute-agent there',
        )
