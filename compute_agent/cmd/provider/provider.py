# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider list``, ``show``, ``create``, ``set``, ``delete``."""

import argparse
import dataclasses
import typing
from collections.abc import Iterable, Mapping, Sequence

from report_client import errors as placement_errors
from report_client.api import provider_details
from report_client.api import providers as providers_api
from report_client.api.values import provider_query, trait_query
from report_client.http.messages import codec

from ... import errors
from ...plan.change import Change
from ...plan.history_entry import Entry, What
from ...tree import names
from ..app import bulk, listing
from . import provider_change

FIELDS = (
    'uuid',
    'name',
    'generation',
    'root_provider_uuid',
    'parent_provider_uuid',
)
# What "resource provider show --long" adds.
_PARTS = ('children', 'inventories', 'traits', 'aggregates', 'allocations')


class ProviderList(listing.Listing):
    """List the providers that meet all conditions.

    Each condition applies to a single provider. Groups of conditions (--group)
    exist only in requests for candidates: use "allocation candidate list".
    """

    COLUMNS = FIELDS
    SPARE = ('parent_provider_uuid', 'root_provider_uuid')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the conditions."""
        parser.add_argument('--uuid', help='List the provider of this uuid.')
        parser.add_argument('--name', help='List the provider of this name.')
        parser.add_argument(
            '--resource',
            action='append',
            default=[],
            metavar='RC=AMOUNT',
            help='List providers with this much free capacity of a resource '
            'class. May be repeated.',
        )
        parser.add_argument(
            '--in-tree',
            metavar='PROVIDER',
            help='List the tree of this provider, given by name or uuid.',
        )
        parser.add_argument(
            '--required',
            action='append',
            default=[],
            metavar='TRAIT[,TRAIT]',
            help='List providers that have this trait, or one of several with '
            'commas between them. May be repeated.',
        )
        parser.add_argument(
            '--forbidden',
            action='append',
            default=[],
            metavar='TRAIT',
            help='List providers without this trait. May be repeated.',
        )
        parser.add_argument(
            '--member-of',
            action='append',
            default=[],
            metavar='UUID[,UUID]',
            help='List providers in this aggregate, or in one of several with '
            'commas between them. May be repeated.',
        )
        parser.add_argument(
            '--not-member-of',
            action='append',
            default=[],
            metavar='UUID[,UUID]',
            help='List providers in none of these aggregates. May be repeated.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each provider."""
        member = provider_query.MemberOf.of_option
        query = provider_query.ProviderQuery(
            traits=trait_query.TraitQuery.of_options(
                parsed_args.required, parsed_args.forbidden
            ),
            resources=provider_query.parse_resources(parsed_args.resource),
            member_of=(
                *map(member, parsed_args.member_of),
                *(
                    member(text, forbidden=True)
                    for text in parsed_args.not_member_of
                ),
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
    return row.uuid, row.name, row.generation, row.root_uuid, row.parent_uuid


def _record(row: codec.ListedProvider) -> dict[str, typing.Any]:
    """Return a provider by the names of its fields."""
    return dict(zip(FIELDS, list_row(row), strict=True))


class ProviderShow(listing.Record):
    """Show a provider; with --long its place and all its contents.

    All parts are those of the generation that is printed; give it to
    --generation of a command that changes the provider, if nothing may have
    changed in between.
    """

    COLUMNS = FIELDS

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider and the parts."""
        provider_change.add_provider(parser)
        parser.add_argument(
            '--allocations',
            action='store_true',
            help='Show the consumers, and what they have allocated here.',
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='Show children, inventories with their use, traits, '
            'aggregates and allocations, too.',
        )

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns."""
        if parsed_args.long:
            return FIELDS + _PARTS
        more = ('allocations',) if parsed_args.allocations else ()
        return FIELDS + more

    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return the provider."""
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        found = _record(provider)
        if parsed_args.long:
            details = service.details(provider)
            found |= {
                'generation': details.generation,
                'children': [
                    str(row)
                    for row in service.tree(provider)
                    if row.parent_uuid == provider.uuid
                ],
                'inventories': _inventories(details),
                'traits': sorted(details.traits),
                'aggregates': sorted(details.aggregates),
            }
        if parsed_args.long or parsed_args.allocations:
            found['allocations'] = {
                consumer: {
                    'resources': dict(part.resources),
                    'consumer_generation': part.consumer_generation,
                }
                for consumer, part in sorted(
                    service.allocations(provider).items()
                )
            }
        return found


class ProviderCreate(bulk.BulkRecord):
    """Create a provider that no agent reports, such as shared storage."""

    COLUMNS = FIELDS

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
            '--parent-provider',
            metavar='PROVIDER',
            help='The parent provider, by name or uuid.',
        )
        parser.add_argument(
            '--aggregate',
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
            return [None]  # the creation finds out
        new = {word for item in items for word in (item.name, item.uuid)}
        parents = {item.parent_provider for item in items} - {None}
        return _mistakes(
            items,
            self._service.find_in_placement(new - {None}),
            self._service.find_all(parents - new) if parents - new else {},
        )

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Create the provider."""
        service, parent = self._service, parsed_args.parent_provider
        made = service.create(
            parsed_args.name,
            uuid=parsed_args.uuid,
            parent=None if parent is None else service.find(parent).uuid,
            aggregates=parsed_args.aggregates,
        )
        entry = Entry(what=What.CREATED, uuid=made.uuid, provider=made.name)
        provider_change.tell(self, made, [entry])
        aggregates = sorted({uuid.lower() for uuid in parsed_args.aggregates})
        text = f'created provider {made}'
        if aggregates:
            text += f', in aggregate {", ".join(aggregates)}'
            made = service.find(made.uuid)  # its generation has changed
        return bulk.Outcome(data=_record(made), text=text)


class ProviderSet(bulk.BulkRecord):
    """Give a provider another name or another parent.

    A node of an agent keeps its name only if the driver uses it: see "resource
    provider rename".
    """

    COLUMNS = FIELDS

    _service: providers_api.Providers

    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Create the provider with its contents."""
        provider_change.add_provider(parser, lines=True)
        parser.add_argument(
            '--name', metavar='NAME', help='The new name (default: the same).'
        )
        parser.add_argument(
            '--parent-provider',
            metavar='PROVIDER',
            help='The new parent, by name or uuid (default: the same).',
        )

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse a change without a name and a parent."""
        if parsed_args.name is None and parsed_args.parent_provider is None:
            raise errors.ConfigError(
                'there is nothing to set: add --name or --parent-provider'
            )
        if parsed_args.name is not None:
            names.check_provider_name(parsed_args.name)

    def prepare(self, items: Sequence[argparse.Namespace]) -> bulk.Mistakes:
        """Find the providers and their parents."""
        self._service = provider_change.providers(self)
        words = {item.provider for item in items}
        words |= {item.parent_provider for item in items} - {None}
        found = self._service.find_all(words)
        mistakes: list[errors.AgentError | None] = []
        for item in items:
            item.found = found[item.provider]
            item.parent = found.get(item.parent_provider)
            both = (item.found, item.parent)
            mistakes.append(
                next(
                    (e for e in both if isinstance(e, errors.AgentError)), None
                )
            )
        return mistakes

    def act(self, parsed_args: argparse.Namespace) -> bulk.Outcome:
        """Rename or move the provider."""
        old, parent = parsed_args.found, parsed_args.parent
        name = old.name if parsed_args.name is None else parsed_args.name
        above = old.parent_uuid if parent is None else parent.uuid
        new = old
        if (name, above) != (old.name, old.parent_uuid):
            self._service.update(old, name, above)
            new = self._service.find(old.uuid)
            said = f'named {name}' + (f', below {parent}' if parent else '')
            entry = Entry(
                what=What.MOVED, uuid=old.uuid, provider=old.name, text=said
            )
            provider_change.tell(self, old, [entry])
        return bulk.Outcome(data=_record(new), text=f'set provider {new}')


class ProviderDelete(provider_change.ProviderItem, bulk.BulkReport):
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

    :param found: the new names and uuids → the provider that has the name or
        uuid already, or the error of the search
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
        word = item.parent_provider
        parent = parents.get(word, found.get(word))
        mistake: errors.AgentError | None = None
        if taken:
            mistake = placement_errors.NameTaken(
                f'{taken[0]} is taken already: another provider has it'
            )
        elif isinstance(parent, errors.AgentError):
            mistake = None if word in earlier else parent
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
        'inventories': _inventories(details),
        'aggregates': sorted(details.aggregates),
        'allocations': len(details.consumers),
    }


def _inventories(
    details: provider_details.Details,
) -> dict[str, dict[str, typing.Any]]:
    """Return the inventories of a provider as data, with what is used."""
    return {
        rc: {**one.to_record(), 'used': details.used.get(rc, 0)}
        for rc, one in sorted(details.inventories.items())
    }
