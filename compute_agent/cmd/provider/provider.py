# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider list``, ``show``, ``create`` and ``delete``."""

import argparse
import dataclasses
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import provider_details
from report_client.api import providers as providers_api
from report_client.api.values import provider_query, trait_query
from report_client.http.messages import codec

from ... import errors
from ...plan.change import Change
from ...plan.history_entry import Entry, What
from ...tree import inventory, names, provider
from ..app import bulk, command, listing
from ..candidates import group_options
from . import provider_change


class ProviderList(listing.Listing):
    """List the providers that meet all conditions.

    Each condition applies to a single provider. Groups of conditions
    (--required1 ...) exist only in requests for candidates: use "allocation
    candidate list".
    """

    COLUMNS = ('Name', 'UUID', 'Generation', 'Parent', 'Root')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the conditions."""
        parser.add_argument(
            '--required',
            action='append',
            default=[],
            metavar='TRAIT,!TRAIT|in:TRAIT,TRAIT',
            help='List providers that have these traits, and not the traits '
            'after "!". "in:" lists providers that have at least one of the '
            'traits. May be repeated.',
        )
        parser.add_argument(
            '--resources',
            action='append',
            default=[],
            metavar='RC:AMOUNT,...',
            help='List providers with enough free capacity for these amounts. '
            'May be repeated.',
        )
        parser.add_argument(
            '--member-of',
            action='append',
            default=[],
            metavar='[!]UUID|[!]in:UUID,UUID',
            help='List providers in this aggregate; "in:" means in at least '
            'one of the aggregates, "!" in none of them. May be repeated.',
        )
        parser.add_argument(
            '--in-tree',
            metavar='PROVIDER',
            help='List the tree of this provider, given by name or uuid.',
        )
        parser.add_argument('--name', help='List the provider of this name.')
        parser.add_argument('--uuid', help='List the provider of this uuid.')
        group_options.refuse(parser, 'compute-agent allocation candidate list')

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each provider."""
        query = provider_query.ProviderQuery(
            traits=trait_query.TraitQuery.parse(parsed_args.required),
            resources=provider_query.parse_resources(parsed_args.resources),
            member_of=tuple(
                provider_query.MemberOf.parse(text)
                for text in parsed_args.member_of
            ),
            name=parsed_args.name,
            uuid=parsed_args.uuid,
        )
        service = provider_change.providers(self)
        if parsed_args.in_tree is not None:
            tree = service.find(parsed_args.in_tree).uuid
            query = dataclasses.replace(query, in_tree=tree)
        return map(list_row, service.list_providers(query)), None, 0


def list_row(row: codec.ListedProvider) -> tuple[typing.Any, ...]:
    """Return a provider as a row of ``ProviderList``."""
    return row.name, row.uuid, row.generation, row.parent_uuid, row.root_uuid


class ProviderShow(command.Report):
    """Show all of a provider: its place, contents, usage and generation.

    All parts are those of the generation that is printed; give it to
    --generation of a command that changes the provider, if nothing may have
    changed in between. "allocations" is the number of consumers.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        provider_change.add_provider(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the provider."""
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        tree = {row.uuid: row for row in service.tree(provider)}
        details = service.details(provider)
        data = provider_data(provider, tree.values(), details)
        return data, '\n'.join(_lines(data)), 0


class ProviderCreate(bulk.BulkReport):
    """Create a provider that no agent reports, such as shared storage."""

    _service: providers_api.Providers

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        parser.add_argument(
            'name',
            metavar='NAME',
            help='The name. "-" reads lines from standard input; each line '
            'takes the place of the "-".',
        )
        parser.add_argument('--uuid', help='The uuid (default: a random one).')
        parser.add_argument(
            '--parent',
            metavar='PROVIDER',
            help='The parent provider, by name or uuid.',
        )
        parser.add_argument(
            '--aggregate',
            '--aggregate-uuid',
            action='append',
            default=[],
            dest='aggregates',
            metavar='UUID',
            help='An aggregate that the provider joins. May be repeated.',
        )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse names and uuids that no provider can have."""
        names.check_provider_name(parsed_args.name)
        names.check_aggregates(parsed_args.aggregates)
        if parsed_args.uuid is not None:
            names.check_uuid(parsed_args.uuid, 'provider')

    def prepare(self, items: Sequence[argparse.Namespace]) -> bulk.Mistakes:
        """Find names that are taken, and parents that do not exist.

        The parent may be the provider of an earlier line.
        """
        self._service = provider_change.providers(self)
        if len(items) == 1:
            return [None]  # to create it tells
        new = {word for item in items for word in (item.name, item.uuid)}
        parents = {item.parent for item in items} - {None}
        return _mistakes(
            items,
            self._service.find_in_placement(new - {None}),
            self._service.find_all(parents - new) if parents - new else {},
        )

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Create the provider."""
        service, parent = self._service, parsed_args.parent
        made = service.create(
            parsed_args.name,
            uuid=parsed_args.uuid,
            parent=None if parent is None else service.find(parent).uuid,
            aggregates=parsed_args.aggregates,
        )
        entry = Entry(what=What.CREATED, uuid=made.uuid, provider=made.name)
        provider_change.tell(self, made, [entry])
        aggregates = sorted({uuid.lower() for uuid in parsed_args.aggregates})
        data = {
            'name': made.name,
            'uuid': made.uuid,
            'parent': made.parent_uuid,
            'root': made.root_uuid,
            'aggregates': aggregates,
        }
        text = f'created provider {made}'
        if aggregates:
            text += f', in aggregate {", ".join(aggregates)}'
        return bulk.Outcome(data=data, text=text)


class ProviderDelete(provider_change.ProviderItem):
    """Delete a provider with its inventories, traits and aggregates.

    The command refuses a provider that has children or allocations, and names
    them.
    """

    def prepare(self, items: Sequence[argparse.Namespace]) -> bulk.Mistakes:
        """Find the providers; each may be given once."""
        mistakes = list(super().prepare(items))
        first: dict[str, int] = {}
        for place, item in enumerate(items):
            if mistakes[place] is None:
                earlier = first.setdefault(item.found.uuid, place)
                if earlier != place:
                    mistakes[place] = errors.ConfigError(
                        f'{item.found} is in an earlier line already'
                    )
        return mistakes

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Delete the provider."""
        found = parsed_args.found
        self._service.delete(found)
        change = Change(uuid=found.uuid, kind=None, existed=True, exists=False)
        entry = Entry(
            what=What.DELETED,
            uuid=found.uuid,
            provider=found.name,
            changes=(change,),
        )
        provider_change.tell(self, found, [entry])
        data = {'name': found.name, 'uuid': found.uuid}
        return bulk.Outcome(data=data, text=f'deleted provider {found}')


def _mistakes(
    items: Sequence[argparse.Namespace],
    found: Mapping[str, providers_api.Found],
    parents: Mapping[str, providers_api.Found],
) -> bulk.Mistakes:
    """Return for each new provider why it cannot be created, or None.

    :param found: the new names and uuids → the provider that has one, or why
        there is none
    :param parents: the parents that no line creates, in the same way
    """
    earlier: set[str] = set()
    mistakes: list[errors.AgentError | None] = []
    for item in items:
        own = {item.name, item.uuid or item.name}
        taken = sorted(
            word
            for word in own
            if word in earlier
            or not isinstance(found[word], errors.AgentError)
        )
        parent = parents.get(item.parent, found.get(item.parent))
        mistake: errors.AgentError | None = None
        if taken:
            mistake = placement_errors.NameTaken(
                f'{taken[0]} is taken already: another provider has it'
            )
        elif isinstance(parent, errors.AgentError):
            mistake = None if item.parent in earlier else parent
        mistakes.append(mistake)
        earlier |= own
    return mistakes


def provider_data(
    shown: codec.ListedProvider,
    tree: Iterable[codec.ListedProvider],
    details: provider_details.Details,
) -> dict[str, typing.Any]:
    """Return all of a provider as data.

    :param tree: the providers of its tree
    """
    named = {row.uuid: {'name': row.name, 'uuid': row.uuid} for row in tree}
    parent = shown.parent_uuid
    return {
        'name': shown.name,
        'uuid': shown.uuid,
        'generation': details.generation,
        'parent': parent and named.get(parent, {'name': None, 'uuid': parent}),
        'root': named.get(
            shown.root_uuid, {'name': None, 'uuid': shown.root_uuid}
        ),
        'children': [
            named[row.uuid] for row in tree if row.parent_uuid == shown.uuid
        ],
        'traits': sorted(details.traits),
        'inventories': {
            rc: {**one.to_record(), 'used': details.used.get(rc, 0)}
            for rc, one in sorted(details.inventories.items())
        },
        'aggregates': sorted(details.aggregates),
        'allocations': len(details.consumers),
    }


def _lines(data: dict[str, typing.Any]) -> Iterator[str]:
    """Yield the lines of the text."""
    yield _title(data)
    yield f'  generation: {data["generation"]}'
    is_root = data['parent'] is None
    yield f'  parent: {"none" if is_root else _title(data["parent"])}'
    if not is_root:
        yield f'  root: {_title(data["root"])}'
    yield from _listed('children', [_title(row) for row in data['children']])
    records = data['inventories'].items()
    yield from _listed(
        'inventories', [_amounts(rc, one) for rc, one in records]
    )
    yield from _listed('traits', data['traits'])
    yield from _listed('aggregates', data['aggregates'])
    yield f'  allocations: {data["allocations"] or "none"}'


def _listed(noun: str, items: Sequence[str]) -> Iterator[str]:
    yield f'  {noun}:' if items else f'  {noun}: none'
    for item in items:
        yield f'    {item}'


def _amounts(rc: str, record: dict[str, typing.Any]) -> str:
    """Return an inventory as one line; defaults of placement are left out."""
    fields = {key: n for key, n in record.items() if key != 'used'}
    usual = inventory.Inventory(total=record['total']).to_record()
    parts = [str(fields.pop('total'))]
    ratio = fields.pop('allocation_ratio')
    parts += [f'{key} {n}' for key, n in fields.items() if n != usual[key]]
    parts += [f'allocation_ratio {ratio:g}'] if ratio != 1 else []
    free = (record['total'] - record['reserved']) * ratio
    return f'{rc}: {", ".join(parts)}; used {record["used"]} of {int(free)}'


def _title(named: dict[str, typing.Any]) -> str:
    return provider.title(named['name'] or named['uuid'], named['uuid'])
