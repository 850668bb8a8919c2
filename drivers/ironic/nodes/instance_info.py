# SPDX-License-Identifier: Apache-2.0
"""The fields of a node's instance_info that hold a request.

Pure: no I/O, configuration, logging or clock. No other value in instance_info
is lost: a value that could not be written back unchanged is refused. A record
of the staged values is kept in instance_info too, under
``compute_agent_staged``. So the record ends with the deployment, and any host
can take the request back.
"""

import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import NoReturn, TypeGuard

from compute_agent import errors

TRAITS = 'traits'
CAPABILITIES = 'capabilities'
# Ironic shows this in place of values that look like secrets.
HIDDEN = '******'
_RECORD = 'compute_agent_staged'
_REPLACED = 'replaced'

Fields = Mapping[str, object]
Operation = Mapping[str, object]
# The content of a field: names and values. A trait's value is None.
Items = Mapping[str, object]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record of the staged values.

    :ivar staged: the names and values that were added, by field
    :ivar replaced: the fields as they were before
    """

    staged: Mapping[str, Items]
    replaced: Fields


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InstanceInfo:
    """The instance_info of one node; its fields are parsed when needed.

    Each method raises errors.Refused if it needs a field that is malformed
    and could not be kept.

    :ivar node: the node's name and uuid, for messages
    :ivar ident: its uuid as Ironic spells it
    :ivar fields: the fields as they were read
    """

    node: str
    ident: str
    fields: Fields

    def record(self) -> Record | None:
        """Return the record of the values that were staged before, or None."""
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
            self._refuse(_RECORD, 'was not written by this agent')
        return Record(
            staged={TRAITS: dict.fromkeys(traits), CAPABILITIES: capabilities},
            replaced=replaced,
        )

    def traits(self, fields: Fields) -> Collection[str]:
        """Return the requested traits in these fields of the node."""
        return self._decode(fields, TRAITS)

    def unchanged(self) -> Mapping[str, Items]:
        """Return the staged values that were not changed since, by field."""
        record = self.record()
        return {
            field: _without(items, self._missing(self.fields, field, items))
            for field, items in (record.staged.items() if record else ())
        }

    def changed(self) -> Mapping[str, tuple[object, object]]:
        """Return the staged capabilities whose values somebody changed since.

        :return: name → (staged value, current value)
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
        """Return the fields with this request in place of the staged one.

        Values that others set are kept and not recorded as staged.
        """
        if self._is_staged(wanted):
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
        """Return the fields without the staged values.

        Values that other clients have changed since then stay.
        """
        record = self.record()
        if record is None:
            return self.fields
        fields = {k: v for k, v in self.fields.items() if k != _RECORD}
        for field, items in self.unchanged().items():
            if items:
                del fields[field]
                fields |= self._as_before(record, field, items)
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
                self._refuse(field, f'would contain {HIDDEN}')
            op = 'replace' if there else 'add'
            patch.append({'op': op, 'path': path, 'value': value})
        return tuple(patch)

    def _is_staged(self, wanted: Mapping[str, Items]) -> bool:
        """Return True if these values are present and no others are staged."""
        record = self.record()
        return all(
            items.items() <= wanted[field].items()
            for field, items in (record.staged.items() if record else ())
        ) and not any(
            self._missing(self.fields, field, items)
            for field, items in wanted.items()
        )

    def _as_before(
        self, record: Record, field: str, staged: Items
    ) -> dict[str, object]:
        """Return the field without the staged items, {} if it is then empty.

        If its content is the same as before the staging, it gets exactly its
        earlier form.
        """
        old = self._decode(record.replaced, field)
        rest = {
            k: old[k] if k in staged else v
            for k, v in self._decode(self.fields, field).items()
            if k not in staged or k in old
        }
        if field in record.replaced and _same(rest, old):
            return {field: record.replaced[field]}
        return {field: _encode(field, rest)} if rest else {}

    def _missing(self, fields: Fields, field: str, items: Items) -> Items:
        """Return the items that are missing or have another value."""
        if not items:
            return {}
        found = self._decode(fields, field)
        return {
            k: v for k, v in items.items() if k not in found or found[k] != v
        }

    def _decode(self, fields: Fields, field: str) -> Items:
        """Return the content of a field, from now or from before the staging.

        Ironic accepts capabilities as an object or as a string of JSON.
        """
        raw = fields.get(field)
        if field == TRAITS:
            if raw is not None and not _are_texts(raw):
                self._refuse(field, 'is not a list of names')
            return dict.fromkeys(raw or ())
        if isinstance(raw, str):
            raw = _parsed(raw)
        if field not in fields:
            return {}
        if not isinstance(raw, dict):
            self._refuse(field, 'is not a JSON object')
        return raw

    def _refuse(self, field: str, why: str) -> NoReturn:
        if HIDDEN in json.dumps(self.fields.get(field)):
            why = f'has a part that Ironic hides ({HIDDEN})'
        raise errors.Refused(
            f'node {self.node}: instance_info/{field} {why}, so it cannot be '
            f'kept; correct it, or remove it with "baremetal node unset '
            f'{self.ident} --instance-info {field}"'
        )


def _remembered(staged: Mapping[str, Items], replaced: Fields) -> Fields:
    """Return a record in the form in which it is written."""
    record: dict[str, object] = {
        TRAITS: list(staged[TRAITS]),
        CAPABILITIES: staged[CAPABILITIES],
    }
    return {**record, _REPLACED: replaced} if replaced else record


def _encode(field: str, items: Items) -> object:
    return list(items) if field == TRAITS else json.dumps(items)


def _parsed(text: str) -> object:
    """Return the value of this JSON; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _without(items: Items, others: Items) -> Items:
    return {k: v for k, v in items.items() if k not in others}


def _same(value: object, other: object) -> bool:
    """Return True if two JSON values are equal; in Python 1 == True."""
    texts = (json.dumps(v, sort_keys=True) for v in (value, other))
    return next(texts) == next(texts)


def _are_texts(thing: object) -> TypeGuard[list[str]]:
    return isinstance(thing, list) and all(isinstance(t, str) for t in thing)
