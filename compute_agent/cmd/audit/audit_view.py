# SPDX-License-Identifier: Apache-2.0
"""The result of an audit as text for people and as data for programs.

Results with the same cause are shown together, the first of them by name.
"""

import collections
import typing
from collections.abc import Iterable, Iterator, Sequence

from ...audit import cloud, finding
from ..plan import outcomes
from . import mending

_SHOWN = 5  # subjects with the same cause
TITLES = {
    finding.Kind.DEAD_HOST: 'hosts that are gone',
    finding.Kind.NO_HOST: 'roots that belong to no host',
    finding.Kind.REINSTALLED: 'hosts that nova knows by another uuid',
    finding.Kind.RENAMED: 'hosts that nova knows by another name',
    finding.Kind.UNREPORTED: 'hypervisors without a provider',
    finding.Kind.SIMILAR_NAMES: 'providers that may be the same host',
    finding.Kind.DIVIDED_SHARE: 'shares that several agents have marked',
    finding.Kind.ORPHANED_CHILD: 'orphaned children',
    finding.Kind.UNRECORDED_CHILD: 'children of other writers',
    finding.Kind.EMPTY_PROVIDER: 'empty providers',
    finding.Kind.ORPHANED_ALLOCATIONS: 'allocations without a consumer',
    finding.Kind.NODE_WITHOUT_INSTANCE: 'nodes allocated to something else',
    finding.Kind.LEFT_ALLOCATIONS: 'allocations left on another host',
    finding.Kind.OVER_CAPACITY: 'inventories used above their capacity',
    finding.Kind.FULLY_RESERVED: 'inventories that are fully reserved',
    finding.Kind.UNUSED_TRAIT: 'custom traits that nobody uses',
    finding.Kind.WANTED_TRAIT: 'custom traits that a flavor requires in vain',
    finding.Kind.UNUSED_CLASS: 'custom resource classes that nobody uses',
    finding.Kind.WANTED_CLASS: 'custom resource classes that a flavor asks '
    'for in vain',
    finding.Kind.MISSING_TRAIT: 'standard traits that placement lacks',
    finding.Kind.UNLIKE_PEERS: 'traits that nearly all peers have',
    finding.Kind.EQUAL_CHILDREN: 'trees with many equal children',
    finding.Kind.CARVED_CARD: 'cards that can be allocated twice',
    finding.Kind.CHANGING: 'providers that could not be read',
}
_HEADERS = {
    finding.Level.FINDING: '',
    finding.Level.UNKNOWN: 'unknown: ',
    finding.Level.NOTE: 'note: ',
}


def text(found: Sequence[finding.Finding], known: cloud.Cloud) -> list[str]:
    """Return the lines of a report."""
    lines = [line for level in finding.Level for line in _level(found, level)]
    if not any(one.level is finding.Level.FINDING for one in found):
        lines.append('nothing was found that is wrong')
    return [*lines, *_table(found), *asked(known)]


def _table(found: Sequence[finding.Finding]) -> list[str]:
    """Return the number of results of each kind, if there are several."""
    counts = collections.Counter((one.level, one.kind) for one in found)
    rows = [
        (level.value, counts[level, kind], TITLES[kind])
        for level in finding.Level
        for kind in finding.Kind
        if counts[level, kind]
    ]
    if len(rows) < 2:
        return []
    return outcomes.table(('result', 'number', 'of'), rows)


def _level(
    found: Sequence[finding.Finding], level: finding.Level
) -> Iterator[str]:
    for kind in finding.Kind:
        same = [o for o in found if o.kind is kind and o.level is level]
        if same:
            yield f'{_HEADERS[level]}{TITLES[kind]}: {len(same)}'
            yield from _causes(same)


def _causes(found: Sequence[finding.Finding]) -> Iterator[str]:
    by_cause: dict[tuple[str, str], list[str]] = {}
    for one in found:
        by_cause.setdefault((one.why, one.advice), []).append(one.subject)
    for (why, advice), subjects in by_cause.items():
        for subject in subjects[:_SHOWN]:
            yield f'  {subject}'
        if len(subjects) > _SHOWN:
            yield (f'  and {len(subjects) - _SHOWN} more; "-f json" lists all')
        yield f'      {why}'
        if advice:
            yield f'      → {advice}'


def asked(known: cloud.Cloud) -> list[str]:
    """Return a line for each service: how far it was asked."""
    placement, nova, ironic = known.placement, known.nova, known.ironic
    count = len(placement.providers)
    read = (
        'all of them'
        if placement.is_complete
        else f'{len(placement.contents)} of them; "--allocations" reads all'
    )
    return [
        f'placement: {count} providers, and the contents of {read}',
        nova.problem
        or f'nova: {len(nova.hypervisors)} hypervisors, '
        f'{len(nova.services)} nova-compute services',
        ironic.problem or f'Ironic: {len(ironic.instances)} nodes',
    ]


def data(
    found: Iterable[finding.Finding],
    known: cloud.Cloud,
    outcomes: Iterable[mending.Outcome],
) -> dict[str, typing.Any]:
    """Return the report as data."""
    return {
        'asked': {
            'placement': {
                'providers': len(known.placement.providers),
                'read': len(known.placement.contents),
                'complete': known.placement.is_complete,
            },
            'nova': _asked(known.nova.problem, len(known.nova.hypervisors)),
            'ironic': _asked(
                known.ironic.problem, len(known.ironic.instances)
            ),
        },
        'results': [
            {
                'kind': one.kind.value,
                'level': one.level.value,
                'subject': one.subject,
                'why': one.why,
                'advice': one.advice,
                'repair': None if one.repair is None else str(one.repair),
            }
            for one in found
        ],
        'repairs': [
            {
                'repair': str(one.repair),
                'done': not one.problem,
                'problem': one.problem,
            }
            for one in outcomes
        ],
    }


def _asked(problem: str, hosts: int) -> dict[str, typing.Any]:
    return {'complete': not problem, 'problem': problem, 'hosts': hosts}
