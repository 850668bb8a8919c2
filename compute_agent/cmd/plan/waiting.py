# SPDX-License-Identifier: Apache-2.0
"""The list of the changes that wait for a person's approval.

``plan``, ``sync``, ``status`` and ``approve`` print the same list. It has a
digest for all changes, for each kind, for changes that are alike in many nodes,
for each node and for each change. A person approves by digest: if the changes
behind it are others by then, nothing is approved. The module does no I/O.
"""

import dataclasses
import hashlib
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ... import error_text, errors
from ...cycle.node import node_result
from ...cycle.node.node_result import HeldChange, NodeResult
from ...limits import approval
from ...tree import alike
from ...tree.node import Node

MANY = 10  # more changes of one kind are summed up

NOTHING = 'nothing waits for approval'

Data = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One change that waits, and its node."""

    node: Node
    change: HeldChange

    @property
    def subjects(self) -> frozenset[approval.Subject]:
        """The change, and the removals that are a part of it."""
        return self.change.includes | {self.change.subject}

    @property
    def pattern(self) -> str:
        """The change as a text without what only its node has."""
        node = self.node
        return alike.pattern(self.change.text, node.called, node.name)


def of(results: Iterable[NodeResult]) -> list[Waiting]:
    """Return the changes that wait, in the order of the nodes."""
    return [
        Waiting(node=result.node, change=change)
        for result in results
        for change in node_result.held_changes(result)
    ]


def digest(some: Iterable[Waiting]) -> str:
    """Return the digest of these changes.

    It covers the removals that belong to a change, but not their amounts: the
    free space of a disk would change it in each cycle.
    """
    lines = sorted(
        f'{subject.kind.value} {subject.digest}' for subject in _shown(some)
    )
    return hashlib.sha256('\n'.join(lines).encode()).hexdigest()[:16]


def _shown(some: Iterable[Waiting]) -> frozenset[approval.Subject]:
    return frozenset(
        subject
        for one in some
        for subject in one.subjects
        if subject == one.change.subject
        or subject.kind is not approval.Kind.CAPACITY
    )


def chosen(
    every: Sequence[Waiting],
    digests: Collection[str],
    nodes: Collection[str] = (),
) -> list[Waiting]:
    """Return the changes that have these digests.

    :param nodes: the nodes that a person named; these are their changes
    :raises errors.Refused: a digest is of no changes that wait now
    """
    known = {digest(some): some for some in _parts(every)}
    unknown = [each for each in digests if each not in known]
    if unknown:
        of = f' of {", ".join(nodes)}' if nodes else ''
        raise errors.Refused(
            f'nothing was approved: the changes{of} that wait now have another '
            f'digest than {" and ".join(unknown)}; "compute-agent approve" '
            'shows what waits'
            if every
            else f'nothing was approved: no change{of} waits for approval now'
        )
    wanted = {id(one) for each in digests for one in known[each]}
    return [one for one in every if id(one) in wanted]


def subjects(some: Iterable[Waiting]) -> frozenset[approval.Subject]:
    """Return the subjects of the approval of these changes."""
    return frozenset[approval.Subject]().union(*(w.subjects for w in some))


def _parts(every: Sequence[Waiting]) -> Iterator[Sequence[Waiting]]:
    """Yield each part of the list that has a digest."""
    yield from ([one] for one in every)
    yield from _by_node(every).values()
    for some in _by_kind(every).values():
        yield from _alike(some)
        yield some
    yield every


def _by_node(every: Iterable[Waiting]) -> dict[Node, list[Waiting]]:
    found: dict[Node, list[Waiting]] = {}
    for one in every:
        found.setdefault(one.node, []).append(one)
    return found


def _by_kind(
    every: Sequence[Waiting],
) -> dict[approval.Kind, list[Waiting]]:
    found: dict[approval.Kind, list[Waiting]] = {}
    for kind in approval.WORDS:
        some = [one for one in every if one.change.subject.kind is kind]
        if some:
            found[kind] = some
    return found


def _alike(some: Sequence[Waiting]) -> list[list[Waiting]]:
    """Return the changes of a kind; equal changes of many nodes are one."""
    groups: dict[object, list[Waiting]] = {}
    for one in some:
        key = one.pattern if len(some) > MANY else id(one)
        groups.setdefault(one.change.group or key, []).append(one)
    return sorted(groups.values(), key=len, reverse=True)


# --- as data and as text ------------------------------------------------------


def data(every: Sequence[Waiting]) -> Data:
    """Return the list as data: each kind summed up, and each node."""
    by_node = _by_node(every)
    return {
        'digest': digest(every) if every else '',
        'changes': len(every),
        'kinds': [
            {
                'kind': kind.value,
                'digest': digest(some),
                'changes': len(some),
                'nodes': len(_by_node(some)),
                'alike': [
                    {
                        'digest': digest(group),
                        'change': group[0].change.group
                        or group[0].change.text,
                        'is_group': bool(group[0].change.group),
                        'nodes': len(_by_node(group)),
                    }
                    for group in _alike(some)
                ],
            }
            for kind, some in _by_kind(every).items()
        ],
        'nodes': [
            {
                'node': node.called,
                'uuid': node.uuid,
                'digest': digest(some),
                'changes': _each(some),
            }
            for node, some in by_node.items()
        ],
    }


def node_data(results: Iterable[NodeResult]) -> list[Data]:
    """Return the changes of these results that wait, as data."""
    return _each(of(results))


def _each(some: Iterable[Waiting]) -> list[Data]:
    return [
        {
            'digest': digest([one]),
            'kind': one.change.subject.kind.value,
            'change': one.change.text,
        }
        for one in some
    ]


def lines_of(results: Iterable[NodeResult]) -> Iterator[str]:
    """Yield the list of these results as lines for people."""
    return lines(data(of(results)))


def lines(
    found: Mapping[str, typing.Any], nodes: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the list as lines for people; nothing if it is empty.

    :param found: as ``data`` returns it; in the daemon also ``since``
    :param nodes: the nodes that a person asked for; then each change is
        printed, however many there are
    """
    if not found['changes']:
        return
    count = error_text.counted(found['changes'], 'change')
    of = error_text.counted(len(found['nodes']), 'node')
    since = f' since {found["since"]}' if found.get('since') else ''
    verb = 'waits' if found['changes'] == 1 else 'wait'
    head = f'{count} of {of} {verb} for approval{since}'
    if found['changes'] > MANY and not nodes and _is_one_group(found):
        ((group,),) = (kind['alike'] for kind in found['kinds'])
        yield (
            f'{head}: {_group(group)}; to allow all of them: compute-agent '
            f'approve {found["digest"]}'
        )
        return
    yield f'{head}:'
    yield from changes(found, whole=bool(nodes))
    yield (
        'a digest allows the change, or the changes, in its line; to allow all '
        f'of them: compute-agent approve {" ".join([*nodes, found["digest"]])}'
    )


def changes(
    found: Mapping[str, typing.Any], *, whole: bool = False
) -> Iterator[str]:
    """Yield the lines of the changes alone; the parameters are as above."""
    for kind in found['kinds']:
        yield from _kind(kind, found['nodes'] if whole else None)


def approved(found: Data, *, shows: bool) -> str:
    """Return the text about an approval of these changes.

    :param shows: True to list the changes, if the person has not seen them
    """
    if not found['changes']:
        return NOTHING
    said = [f'approved: {error_text.counted(found["changes"], "change")}']
    if shows:
        said += changes(found)
    return '\n'.join(said)


def _is_one_group(found: Mapping[str, typing.Any]) -> bool:
    """Return True if all changes are alike, so that one line tells them."""
    return [len(kind['alike']) for kind in found['kinds']] == [1]


def _group(group: Data) -> str:
    """Return the changes that are alike: the first one, and their number."""
    others = group['nodes'] - 1
    if group['is_group']:
        rest = f': {error_text.counted(group["nodes"], "node")}'
    elif others:
        rest = f' (the same for {error_text.counted(others, "other node")})'
    else:
        rest = ''
    return f'{group["change"]}{rest}'


def _kind(kind: Data, nodes: Sequence[Data] | None) -> Iterator[str]:
    """Yield the lines of one kind of changes.

    :param nodes: the nodes whose changes get a line each; None to sum up the
        changes of all nodes
    """
    count = error_text.counted(kind['changes'], 'change')
    yield (
        f'  {kind["digest"]}  {approval.WORDS[approval.Kind(kind["kind"])]}: '
        f'{count} of {error_text.counted(kind["nodes"], "node")}'
    )
    if nodes is not None:
        for each in nodes:
            for change in each['changes']:
                if change['kind'] == kind['kind']:
                    yield f'    {change["digest"]}  {change["change"]}'
        return
    for group in kind['alike'][:MANY]:
        yield f'    {group["digest"]}  {_group(group)}'
    more = len(kind['alike']) - MANY
    if more > 0:
        yield (
            f'    {more} more; "compute-agent approve NODE" lists each of a '
            'node, "compute-agent approve -f json" each of all'
        )
