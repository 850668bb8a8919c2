# SPDX-License-Identifier: Apache-2.0
"""The saved plans of a fleet's hosts, summed up by change.

Each host saves what ``compute-agent plan -f json`` prints. Each change, such as
a trait that the root gets, is then one line with the number of its nodes.
``plan.py`` calls this module.
"""

import collections
import dataclasses
import json
import pathlib
import typing
from collections.abc import Iterator, Mapping, Sequence

from ... import error_text, errors, file_trust
from ...tree import alike

LARGEST = 16_000_000  # bytes of a file

# One node's plan, as ``report_client/plan/render.py`` gives it.
Plan = Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The plans of many nodes.

    :ivar plans: the number of nodes
    :ivar changing: the number of nodes with a change
    :ivar idle: the number of nodes that have all that they should
    :ivar undone: the number of nodes that sync would not finish, for example
        because a first write waits for approval
    :ivar changes: change → the names of its nodes, most nodes first
    """

    plans: int
    changing: int
    idle: int
    undone: int
    changes: Mapping[str, Sequence[str]]

    def data(self) -> dict[str, typing.Any]:
        """Return the summary as data."""
        return {
            'nodes': self.plans,
            'changing': self.changing,
            'nothing_to_do': self.idle,
            'not_done': self.undone,
            'changes': [
                {'change': change, 'nodes': list(nodes)}
                for change, nodes in self.changes.items()
            ],
        }

    def text(self) -> str:
        """Return the summary as text, a line for each change."""
        head = (
            f'{error_text.counted(self.plans, "node")}: {self.changing} '
            f'change, {self.idle} need nothing; {self.undone} have '
            'something that sync would not do'
        )
        lines = [head]
        width = max(
            (len(str(len(n))) for n in self.changes.values()), default=1
        )
        for change, nodes in self.changes.items():
            named = error_text.listed(nodes, alike.FEW)
            lines.append(f'  {len(nodes):{width}}  {change} ({named})')
        return '\n'.join(lines)


def read(paths: Sequence[str]) -> list[Plan]:
    """Return the plans in files, the last one of each node.

    :raises errors.ConfigError: a file cannot be read, or is no saved plan
    """
    plans: dict[str, Plan] = {}
    wrong = []
    for path in paths:
        try:
            plans |= {plan['uuid']: plan for plan in _read(pathlib.Path(path))}
        except errors.ConfigError as exc:
            wrong.append(str(exc))
    if wrong:
        raise errors.ConfigError('; '.join(wrong))
    return list(plans.values())


def summary(plans: Sequence[Plan]) -> Summary:
    """Return the sum of plans."""
    found: dict[str, dict[str, str]] = {}
    for plan in plans:
        for change in _changes(plan):
            found.setdefault(change, {})[plan['uuid']] = plan['node']
    ordered = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    return Summary(
        plans=len(plans),
        changing=sum(
            any(not op.get('waits') for op in p['operations']) for p in plans
        ),
        idle=sum(not p['operations'] and not p['faults'] for p in plans),
        undone=sum(bool(p['faults']) for p in plans),
        changes={change: sorted(nodes.values()) for change, nodes in ordered},
    )


def _read(path: pathlib.Path) -> list[Plan]:
    try:
        said = json.loads(file_trust.read(str(path), LARGEST, named=True))
        if not isinstance(said, list):
            raise TypeError('no list')
        for plan in said:
            texts = [plan['node'], plan['uuid'], *plan['faults']]
            if not all(isinstance(text, str) and text for text in texts):
                raise TypeError('no text')
            if not isinstance(plan['faults'], list):
                raise TypeError('no list')
            list(_changes(plan))
    except OSError as exc:
        raise errors.ConfigError(f'{path}: {exc.strerror}') from exc
    except (
        *(ValueError, KeyError, TypeError, AttributeError),
        RecursionError,
    ) as exc:
        raise errors.ConfigError(
            f'{path} is not what "compute-agent plan -f json" prints; save it '
            'again on its host'
        ) from exc
    return said


# --- the changes of one plan --------------------------------------------------


def _changes(plan: Plan) -> Iterator[str]:
    for operation in plan['operations']:
        waits = ' (waits)' if operation.get('waits') else ''
        for change in _of_operation(plan, operation):
            yield f'{change}{waits}'
    for fault in plan['faults']:
        yield f'not done: {_pattern(plan, fault)}'


def _of_operation(plan: Plan, operation: Plan) -> Iterator[str]:
    match operation['operation']:
        case 'create_provider':
            yield f'create {_subject(plan, operation)}'
        case 'delete_provider':
            yield f'delete {_subject(plan, operation)}'
        case 'update_provider':
            yield f'rename or move {_subject(plan, operation)}'
        case 'set_traits' | 'set_aggregates':
            yield from _names(plan, operation, 'on')
        case 'set_inventories':
            yield from _classes(plan, operation)
        case 'reshape':
            for part in operation['inventories']:
                yield from _classes(plan, part)
            count = len(operation['consumers'])
            moved = error_text.counted(count, 'consumer')
            yield f'move the allocations of {moved}'


def _names(plan: Plan, part: Plan, where: str) -> Iterator[str]:
    subject = _subject(plan, part)
    for name in part['added']:
        yield f'+{name} {where} {subject}'
    for name in part['removed']:
        yield f'-{name} {where} {subject}'


def _classes(plan: Plan, part: Plan) -> Iterator[str]:
    yield from _names(plan, part, 'of')
    for name in part['changed']:
        fields = _fields(part['before'][name], part['inventories'][name])
        yield f'~{name} of {_subject(plan, part)}: {fields}'


def _fields(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Return the direction of each changed field; numbers differ by host."""
    changed = {
        field: after[field] - before[field]
        for field in after
        if after[field] != before.get(field)
    }
    by_way = collections.defaultdict(list)
    for field, by in changed.items():
        by_way['higher' if by > 0 else 'lower'].append(field)
    return ', '.join(
        f'{" and ".join(fields)} {way}' for way, fields in by_way.items()
    )


def _subject(plan: Plan, operation: Plan) -> str:
    if operation['uuid'] == plan['uuid']:
        return 'the root'
    return _pattern(plan, str(operation['provider']))


def _pattern(plan: Plan, text: str) -> str:
    return alike.pattern(text, str(plan['node']).partition(' (')[0])
