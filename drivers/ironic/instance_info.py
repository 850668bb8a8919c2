# SPDX-License-Identifier: Apache-2.0
"""What a node's instance_info says of requests, read and as it should be.

Pure: no I/O, configuration, logging or clock. Nothing that stands there is
lost: what could not be written back as it was is refused. What was staged is
remembered beside it, under ``compute_agent_staged``: like all of
instance_info it ends with the deployment, and any host can take it back.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import NoReturn, TypeGuard

from compute_agent import errors

TRAITS = 'traits'
CAPABILITIES = 'capabilities'
# What Ironic shows in place of what looks like a secret to it.
HIDDEN = '******'
_RECORD = 'compute_agent_staged'
_REPLACED = 'replaced'

Fields = Mapping[str, object]
Operation = Mapping[str, object]
# What a field holds: names and values, and a trait's value is None.
Items = Mapping[str, object]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was staged.

    :ivar staged: what was added, by field
    :ivar replaced: what the fields held before that, as it was written there
    """

    staged: Mapping[str, Items]
    replaced: Fields


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InstanceInfo:
    """The instance_info of one node; fields are looked into when needed.

    Whatever looks into one raises errors.Refused if it could not be kept.

    :ivar node: what the node is called in a refusal
    :ivar ident: its uuid as Ironic spells it
    :ivar fields: as they were read
    """

    node: str
    ident: str
    fields: Fields

    def record(self) -> Record | None:
        """Return what was staged earlier, if anything."""
        raw = self.fields.get(_RECORD)
        if raw is None:
            return None
        fields = raw if isinstance(raw, dict) else {}
        traits = fields.get(TRAITS)
        capabilities = fields.get(CAPABILITIES)
        replaced = fields.get(_REPLACED, {})
        if (
            not _are_texts(traits)
            or not isinstance(capabilities, dict)
            or not _are_texts(list(capabilities.values()))
            or not isinstance(replaced, dict)
        ):
            self._refuse(_RECORD, 'is not what this agent writes there')
        return Record(
            staged={TRAITS: dict.fromkeys(traits), CAPABILITIES: capabilities},
            replaced=replaced,
        )

    def standing(self) -> Mapping[str, Items]:
        """Return what was staged and nobody changed since, by field."""
        record = self.record()
        return {
            field: _without(items, self._missing(self.fields, field, items))
            for field, items in (record.staged.items() if record else ())
        }

    def changed(self) -> Mapping[str, tuple[object, object]]:
        """Return the capabilities with another value than was staged.

        :return: by name: what was staged, and what is there now
        """
        record = self.record()
        staged = record.staged[CAPABILITIES] if record else {}
        if not staged:
            return {}
        now = self._decode(self.fields, CAPABILITIES)
        return {
            k: (v, now[k])
            for k, v in staged.items()
            if k in now and now[k] != v
        }

    def with_staged(self, wanted: Mapping[str, Items]) -> Fields:
        """Return the fields with this staged, in place of what was.

        What others put there is kept, and not made ours.
        """
        if self._stands(wanted):
            return self.fields
        bare = self.without_staged()
        staged = {f: self._missing(bare, f, i) for f, i in wanted.items()}
        written = {
            field: _encode(field, {**self._decode(bare, field), **items})
            for field, items in staged.items()
            if items
        }
        if not written:
            return bare
        replaced = {field: bare[field] for field in written if field in bare}
        return {**bare, **written, _RECORD: _remembered(staged, replaced)}

    def without_staged(self) -> Fields:
        """Return the fields without what was staged.

        What someone changed since is theirs, and stays.
        """
        record = self.record()
        if record is None:
            return self.fields
        fields = {k: v for k, v in self.fields.items() if k != _RECORD}
        for field, standing in self.standing().items():
            if standing:
                del fields[field]
                fields |= self._as_before(record, field, standing)
        return fields

    def patch(self, after: Fields) -> tuple[Operation, ...]:
        """Return the operations that lead to these fields."""
        patch: list[Operation] = []
        for field in (TRAITS, CAPABILITIES, _RECORD):
            path = f'/instance_info/{field}'
            there = field in self.fields
            if field not in after:
                if there:
                    patch.append({'op': 'remove', 'path': path})
                continue
            value = after[field]
            if there and _same(self.fields[field], value):
                continue
            if HIDDEN in json.dumps(value):
                self._refuse(field, f'would have {HIDDEN} in it')
            op = 'replace' if there else 'add'
            patch.append({'op': op, 'path': path, 'value': value})
        return tuple(patch)

    def _stands(self, wanted: Mapping[str, Items]) -> bool:
        """Whether all this is there, and nothing else was staged."""
        record = self.record()
        return all(
            items.items() <= wanted[field].items()
            for field, items in (record.staged.items() if record else ())
        ) and not any(
            self._missing(self.fields, field, items)
            for field, items in wanted.items()
        )

    def _as_before(
        self, record: Record, field: str, standing: Items
    ) -> dict[str, object]:
        """Return the field without these, or nothing if that leaves none.

        If it holds again what it held before, it gets the very form back that
        it had.
        """
        old = self._decode(record.replaced, field)
        left = {
            k: old[k] if k in standing else v
            for k, v in self._decode(self.fields, field).items()
            if k not in standing or k in old
        }
        if field in record.replaced and _same(left, old):
            return {field: record.replaced[field]}
        return {field: _encode(field, left)} if left else {}

    def _missing(self, fields: Fields, field: str, items: Items) -> Items:
        """Return what of these is not there, or with another value."""
        if not items:
            return {}
        there = self._decode(fields, field)
        return {
            k: v for k, v in items.items() if k not in there or there[k] != v
        }

    def _decode(self, fields: Fields, field: str) -> Items:
        """Return what a field holds, here or before it was staged.

        Ironic takes capabilities as an object, or as one written as a string.
        """
        raw = fields.get(field)
        if field == TRAITS:
            if raw is not None and not _are_texts(raw):
                self._refuse(field, 'is no list of names')
            return dict.fromkeys(raw or ())
        if isinstance(raw, str):
            raw = _parsed(raw)
        if field not in fields:
            return {}
        if not isinstance(raw, dict):
            self._refuse(field, 'is no JSON object')
        return raw

    def _refuse(self, field: str, why: str) -> NoReturn:
        if HIDDEN in json.dumps(self.fields.get(field)):
            why = f'has a part that Ironic hides ({HIDDEN})'
        raise errors.Refused(
            f'node {self.node}: instance_info/{field} {why}, so it cannot be '
            f'kept; mend it, or remove it with "baremetal node unset '
            f'{self.ident} --instance-info {field}"'
        )


def _remembered(staged: Mapping[str, Items], replaced: Fields) -> Fields:
    """Return a record as it is written."""
    record: dict[str, object] = {
        TRAITS: list(staged[TRAITS]),
        CAPABILITIES: staged[CAPABILITIES],
    }
    return {**record, _REPLACED: replaced} if replaced else record


def _encode(field: str, items: Items) -> object:
    return list(items) if field == TRAITS else json.dumps(items)


def _parsed(text: str) -> object:
    """Return what the JSON says; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _without(items: Items, others: Items) -> Items:
    return {k: v for k, v in items.items() if k not in others}


def _same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; to Python 1 is True."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _are_texts(thing: object) -> TypeGuard[list[str]]:
    return isinstance(thing, list) and all(isinstance(t, str) for t in thing)
