# SPDX-License-Identifier: Apache-2.0
"""Requests and answers in placement's HTTP and JSON.

Pure: no I/O, configuration, logging or clock. All calls use one microversion
(1.39 where the server has it, never below 1.30); routes and codes are those of
placement's API reference. The shape of answers is checked: an answer of
another shape than documented raises ``MalformedAnswer``; no part of it is
used.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from compute_agent import error_text
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, provider

from ... import errors
from . import json_shapes, paths

Version = tuple[int, int]
NEWEST: Version = (1, 39)
OLDEST: Version = (1, 30)
# Fields of the bodies that have generations: of contents, and of a reshape.
_CONDITIONS = frozenset({'resource_provider_generation', 'inventories'})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request: method, path with query, JSON body or None.

    :ivar newest: the newest microversion with this form of the request
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    newest: Version = NEWEST

    @property
    def is_conditional(self) -> bool:
        """True for a write with a generation.

        Placement refuses it if the provider has changed meanwhile.
        """
        return not _CONDITIONS.isdisjoint(self.body or ())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """A provider as ``GET /resource_providers`` lists it (1.14).

    A list does not have traits, aggregates and inventories.

    :ivar fault: the reason why the row cannot be used; '' if it can be. The
        provider exists, so the row must not be left out.
    """

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None
    root_uuid: str
    fault: str = ''

    def __str__(self) -> str:
        return provider.title(self.name, self.uuid)


# --- microversions ------------------------------------------------------------


def parse_version(text: object) -> Version | None:
    """Return a microversion from a server's answer, None if it is invalid."""
    match = re.fullmatch(r'([0-9]{1,4})\.([0-9]{1,4})', str(text))
    return (int(match[1]), int(match[2])) if match else None


def dotted(version: Version) -> str:
    """Return a microversion as a request names it."""
    return '{}.{}'.format(*version)


# --- writes; see also codec_writes.py ------------------------------------------


def records(inventories: ops.Inventories) -> dict[str, Any]:
    """Return inventories as placement's JSON has them."""
    return {rc: inv.to_record() for rc, inv in sorted(inventories.items())}


def generation_after(body: object) -> int:
    """Return the provider's generation from the answer to a write."""
    return json_shapes.parse(
        lambda: json_shapes.generation(json_shapes.mapping(body)), body
    )


def created_generation(body: object) -> int:
    """Return the generation from the answer to a creation (1.20)."""
    return json_shapes.parse(
        lambda: json_shapes.count(json_shapes.mapping(body)['generation']),
        body,
    )


# --- answers ------------------------------------------------------------------


def listed_providers(body: object) -> list[ListedProvider]:
    """Return the providers of a list; ``list_stream.py`` reads long lists.

    :raises errors.MalformedAnswer: a row is not as documented
    """
    found = json_shapes.parse(
        lambda: json_shapes.sequence(
            json_shapes.mapping(body)['resource_providers']
        ),
        body,
    )
    known: dict[str, str] = {}
    return [listed_provider(row, known) for row in found]


def sound_providers(body: object) -> list[ListedProvider]:
    """Return the providers of a list if every row can be used.

    :raises errors.MalformedAnswer: a row is not as documented, or faulty
    """
    rows = listed_providers(body)
    check_rows(rows)
    return rows


def check_rows(rows: Iterable[ListedProvider]) -> None:
    """Check that every row can be used.

    :raises errors.MalformedAnswer: a row has a fault
    """
    for row in rows:
        if row.fault:
            raise errors.MalformedAnswer(f'{row}: {row.fault}')


def contents(kind: assertion.Kind, body: object) -> tuple[int, Any]:
    """Return generation and content of one provider's collection.

    The content is a frozenset of names, or resource class → Inventory.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[int, Any]:
        answer = json_shapes.mapping(body)
        found = answer[paths.COLLECTIONS[kind]]
        if kind is assertion.Kind.INVENTORY:
            return json_shapes.generation(answer), {
                json_shapes.string(rc): inventory.Inventory.from_record(
                    json_shapes.mapping(record)
                )
                for rc, record in sorted(json_shapes.mapping(found).items())
            }
        return json_shapes.generation(answer), json_shapes.strings(found)

    return json_shapes.parse(read, body)


def allocated(body: object) -> tuple[int, dict[str, frozenset[str]]]:
    """Return a provider's generation, and resource class → consumer uuids.

    From the answer to ``GET /resource_providers/{uuid}/allocations``.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[int, dict[str, frozenset[str]]]:
        answer = json_shapes.mapping(body)
        found: dict[str, frozenset[str]] = {}
        for consumer, part in json_shapes.mapping(
            answer['allocations']
        ).items():
            for rc in json_shapes.mapping(part['resources']):
                found[rc] = found.get(rc, frozenset()) | {
                    json_shapes.string(consumer)
                }
        return json_shapes.generation(answer), found

    return json_shapes.parse(read, body)


def usages(body: object) -> tuple[int, dict[str, int]]:
    """Return a provider's generation, and resource class → allocated amount.

    From the answer to ``GET /resource_providers/{uuid}/usages``.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[int, dict[str, int]]:
        answer = json_shapes.mapping(body)
        found = json_shapes.mapping(answer['usages'])
        return json_shapes.generation(answer), {
            json_shapes.string(rc): json_shapes.count(amount)
            for rc, amount in sorted(found.items())
        }

    return json_shapes.parse(read, body)


def traits(body: object) -> frozenset[str]:
    """Return the names in the answer to ``GET /traits``."""
    return json_shapes.parse(
        lambda: json_shapes.known_names(json_shapes.mapping(body)['traits']),
        body,
    )


def resource_classes(body: object) -> frozenset[str]:
    """Return the names in the answer to ``GET /resource_classes``."""
    return json_shapes.parse(
        lambda: json_shapes.known_names(
            [
                rc['name']
                for rc in json_shapes.sequence(
                    json_shapes.mapping(body)['resource_classes']
                )
            ]
        ),
        body,
    )


def created_provider(body: object) -> ListedProvider:
    """Return the provider in the answer to a creation (1.20).

    :raises errors.MalformedAnswer: not as documented
    """
    made = listed_provider(body, {})
    check_rows([made])
    return made


def listed_provider(found: Any, known: dict[str, str]) -> ListedProvider:
    """Return one provider of a list, or of the answer to a creation.

    A value that is out of range is the fault of this row only.

    :param known: uuids that earlier rows of the list named; equal uuids become
        one string, which saves memory
    :raises errors.MalformedAnswer: not as documented
    """
    try:
        uuid = _identity(found['uuid'])
        root = found['root_provider_uuid']
        root = uuid if root == uuid else _identity(root)
        parent = found['parent_provider_uuid']
        if parent is not None:
            parent = known.setdefault(_identity(parent), parent)
        name, generation = found['name'], found['generation']
        fault = ''
        try:
            json_shapes.string(name)
            json_shapes.count(generation)
        except ValueError as exc:
            fault = str(json_shapes.malformed(found, exc))
            name, generation = error_text.printable(str(name)), 0
        return ListedProvider(
            uuid=uuid,
            name=name,
            generation=generation,
            parent_uuid=parent,
            root_uuid=root if root is uuid else known.setdefault(root, root),
            fault=fault,
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise json_shapes.malformed(found, exc) from exc


def _identity(value: object) -> str:
    """Return a uuid; raise TypeError or ValueError for anything else.

    Its spelling is placement's affair.
    """
    uuid = json_shapes.string(value)
    if not uuid:
        raise ValueError('a uuid is empty')
    return uuid
