# SPDX-License-Identifier: Apache-2.0
"""The double's routes: what each request does to a draft, and its answer."""

import collections.abc
import json
import re
import typing
import urllib.parse

import jsonschema
import jsonschema.validators
import placement_replay
from oslo_utils import uuidutils
from placement.schemas import aggregate as aggregate_schema
from placement.schemas import allocation as allocation_schema
from placement.schemas import inventory as inventory_schema
from placement.schemas import reshaper as reshaper_schema
from placement.schemas import resource_provider as provider_schema
from placement.schemas import trait as trait_schema

from . import allocations, parts, providers
from .contents import Claims, Contents, Refused, Unlike

Answer = placement_replay.Answer
Body = typing.Any
_CUSTOM = re.compile('CUSTOM_[A-Z0-9_]{1,248}')
_FORMATS = jsonschema.FormatChecker()
_FORMATS.checks('uuid')(uuidutils.is_uuid_like)
_VALIDATORS: dict[int, typing.Any] = {}  # by the id of a schema
_PROVIDER_SCHEMA = provider_schema.POST_RP_SCHEMA_V1_14
_RENAME_SCHEMA = provider_schema.PUT_RP_SCHEMA_V1_14
_SETTERS: dict[str, tuple[typing.Any, typing.Any]] = {
    'traits': (parts.set_traits, trait_schema.SET_TRAITS_FOR_RP_SCHEMA),
    'aggregates': (
        parts.set_aggregates,
        aggregate_schema.PUT_AGGREGATES_SCHEMA_V1_19,
    ),
    'inventories': (
        parts.set_inventories,
        inventory_schema.PUT_INVENTORY_SCHEMA,
    ),
}


def route(draft: Contents, method: str, path: str, body: Body) -> Answer:
    """Return the answer to a request, which the draft then reflects."""
    address, _, query = path.partition('?')
    noun, *rest = address.strip('/').split('/')
    handler = _HANDLERS.get((method, noun, len(rest)))
    if handler is None or (query and rest):
        raise Unlike(f'{method} {path}')
    if not rest and method == 'GET':
        return handler(draft, dict(urllib.parse.parse_qsl(query)))
    return handler(draft, *rest, *(() if body is None else (body,)))


def _checked(body: Body, schema: typing.Any) -> Body:
    """Return a copy of a body, which placement's own schema passes."""
    copied = json.loads(encoded(body))
    validator = _VALIDATORS.get(id(schema))
    if validator is None:
        kind = jsonschema.validators.validator_for(schema)
        validator = kind(schema, format_checker=_FORMATS)
        _VALIDATORS[id(schema)] = validator
    for error in validator.iter_errors(copied):
        raise Refused(400, f'JSON does not validate: {error.message}')
    return copied


def encoded(body: Body) -> bytes:
    """Return a body as it is sent."""
    return json.dumps(body).encode()


def refusal(refused: Refused) -> Answer:
    """Return the answer of a request that is refused."""
    error = {
        'status': refused.status,
        'title': 'Refused',
        'detail': refused.detail,
        'code': refused.code,
    }
    return Answer(refused.status, {'errors': [error]})


# --- providers ----------------------------------------------------------------


def _listed(draft: Contents, query: dict[str, str]) -> Answer:
    trait = query.get('required')
    if trait is not None and trait not in parts.TRAITS | draft.traits:
        raise Refused(400, f'No such trait(s): {trait}.')
    found = list(draft.providers.values())
    for key, value in query.items():
        found = [p for p in found if _is_meant(draft, p, key, value)]
    rows = [_row(draft, held) for held in found]
    return Answer(200, {'resource_providers': rows})


def _is_meant(draft: Contents, held: Claims, key: str, value: str) -> bool:
    if key in {'name', 'uuid'}:
        return bool(getattr(held, key) == value)
    if key == 'in_tree':
        known = value in draft.providers
        return known and draft.root(held.uuid) == draft.root(value)
    if key == 'required':
        return value in held.traits
    if key == 'member_of' and value.startswith('in:'):
        return not held.aggregates.isdisjoint(value[3:].split(','))
    raise Unlike(f'{key}={value}')


def _row(draft: Contents, held: Claims) -> dict[str, typing.Any]:
    return {
        'uuid': held.uuid,
        'name': held.name,
        'generation': held.generation,
        'parent_provider_uuid': held.parent,
        'root_provider_uuid': draft.root(held.uuid),
    }


def _create(draft: Contents, body: Body) -> Answer:
    made = providers.create(draft, _checked(body, _PROVIDER_SCHEMA))
    return Answer(200, _row(draft, made))


def _update(draft: Contents, uuid: str, body: Body) -> Answer:
    draft.provider(uuid)
    checked = _checked(body, _RENAME_SCHEMA)
    return Answer(200, _row(draft, providers.update(draft, uuid, checked)))


def _delete(draft: Contents, uuid: str) -> Answer:
    providers.delete(draft, uuid)
    return Answer(204)


def _part(draft: Contents, uuid: str, part: str) -> Answer:
    held = draft.provider(uuid)
    return Answer(200, _part_of(draft, held, part))


def _set_part(draft: Contents, uuid: str, part: str, body: Body) -> Answer:
    setter, schema = _SETTERS[part]
    if part != 'traits':  # placement checks the body of traits first
        draft.provider(uuid)
    held = setter(draft, uuid, _checked(body, schema))
    return Answer(200, _part_of(draft, held, part))


def _part_of(draft: Contents, held: Claims, part: str) -> Body:
    found: Body
    if part == 'inventories':
        found = {rc: one._asdict() for rc, one in held.inventories.items()}
    elif part == 'allocations':
        found = {}
        for (consumer, rc), used in held.allocations.items():
            empty = {
                'resources': {},
                'consumer_generation': draft.consumers[consumer].generation,
            }
            found.setdefault(consumer, empty)['resources'][rc] = used
    else:
        found = sorted(getattr(held, part))
    return {part: found, 'resource_provider_generation': held.generation}


# --- consumers ----------------------------------------------------------------


def _consumer(draft: Contents, uuid: str) -> Answer:
    found: Body = {}
    for each in allocations.amounts_of(draft, uuid):
        generation = draft.providers[each.uuid].generation
        empty = {'resources': {}, 'generation': generation}
        found.setdefault(each.uuid, empty)['resources'][each.rc] = each.used
    body = {'allocations': found}
    if found:
        known = draft.consumers[uuid]
        body['project_id'], body['user_id'] = known.project, known.user
        body['consumer_generation'] = known.generation
        body['consumer_type'] = known.kind or 'unknown'
    return Answer(200, body)


def _allocate(draft: Contents, uuid: str, body: Body) -> Answer:
    checked = _checked(body, allocation_schema.ALLOCATION_SCHEMA_V1_38)
    allocations.set_one(draft, uuid, checked)
    return Answer(204)


def _release(draft: Contents, uuid: str) -> Answer:
    allocations.release(draft, uuid)
    return Answer(204)


def _reshape(draft: Contents, body: Body) -> Answer:
    checked = _checked(body, reshaper_schema.POST_RESHAPER_SCHEMA_V1_34)
    allocations.reshape(draft, checked)
    return Answer(204)


# --- names --------------------------------------------------------------------


def _traits(draft: Contents, query: dict[str, str]) -> Answer:
    if query:
        raise Unlike(f'traits by {query}')
    return Answer(200, {'traits': sorted(parts.TRAITS | draft.traits)})


def _classes(draft: Contents, query: dict[str, str]) -> Answer:
    every = sorted(parts.CLASSES | draft.classes)
    return Answer(200, {'resource_classes': [{'name': n} for n in every]})


def _put_trait(draft: Contents, name: str) -> Answer:
    known = _known(name, draft.traits)
    draft.traits |= {name}
    return Answer(204 if known else 201)


def _put_class(draft: Contents, name: str) -> Answer:
    known = _known(name, draft.classes)
    draft.classes |= {name}
    return Answer(204 if known else 201)


def _known(name: str, names: frozenset[str]) -> bool:
    if not _CUSTOM.fullmatch(name):
        raise Refused(400, f'{name} is no custom name')
    return name in names


def _delete_trait(draft: Contents, name: str) -> Answer:
    if name in parts.TRAITS:
        raise Refused(400, f'Cannot delete standard trait {name}.')
    if name not in draft.traits:
        raise Refused(404, f'No such trait(s): {name}.')
    if any(name in held.traits for held in draft.providers.values()):
        raise Refused(409, f'The trait {name} is in use')
    draft.traits -= {name}
    return Answer(204)


_HANDLERS: dict[
    tuple[str, str, int], collections.abc.Callable[..., Answer]
] = {
    ('GET', 'resource_providers', 0): _listed,
    ('POST', 'resource_providers', 0): _create,
    ('PUT', 'resource_providers', 1): _update,
    ('DELETE', 'resource_providers', 1): _delete,
    ('GET', 'resource_providers', 2): _part,
    ('PUT', 'resource_providers', 2): _set_part,
    ('GET', 'allocations', 1): _consumer,
    ('PUT', 'allocations', 1): _allocate,
    ('DELETE', 'allocations', 1): _release,
    ('POST', 'reshaper', 0): _reshape,
    ('GET', 'traits', 0): _traits,
    ('PUT', 'traits', 1): _put_trait,
    ('DELETE', 'traits', 1): _delete_trait,
    ('GET', 'resource_classes', 0): _classes,
    ('PUT', 'resource_classes', 1): _put_class,
}
