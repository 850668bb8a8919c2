# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider list``, ``create`` and ``delete``."""

import argparse
import dataclasses
import typing
from collections.abc import Mapping, Sequence

from ... import errors
from ..app import bulk, listing
from ..candidates import group_options
from . import provider_change, provider_past

if typing.TYPE_CHECKING:
    from report_client.api import provider_lookup
    from report_client.api import providers as providers_api


class ProviderList(listing.Listing):
    """List the providers that meet all conditions.

    Each condition applies to a single provider. Groups of conditions
    (--required1 ...) exist only in requests for candidates: use "candidates".
    """

    COLUMNS = ('Name', 'UUID', 'Generation', 'Parent', 'Root')

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the conditions."""
        parser = super().get_parser(prog_name)
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
        group_options.refuse(parser, 'compute-agent candidates')
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each provider."""
        from report_client.api import provider_query, trait_query  # noqa: PLC0415 (quick --help)

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
        rows = [
            (r.name, r.uuid, r.generation, r.parent_uuid, r.root_uuid)
            for r in service.list_providers(query)
        ]
        return rows, None, 0


class ProviderCreate(bulk.BulkReport):
    """Create a provider that no agent reports, such as shared storage."""

    _service: 'providers_api.Providers'

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
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
        return parser

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse names and uuids that no provider can have."""
        from ...tree import names  # noqa: PLC0415 (quick --help)

        names.check_provider_name(parsed_args.name)
        names.check_aggregates(parsed_args.aggregates)
        if parsed_args.uuid is not None:
            names.check_uuid(parsed_args.uuid, 'provider')

    def prepare(
        self, items: Sequence[argparse.Namespace]
    ) -> Sequence[errors.AgentError | None]:
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
        from ...tree import provider  # noqa: PLC0415 (quick --help)

        service, parent = self._service, parsed_args.parent
        made = service.create(
            parsed_args.name,
            uuid=parsed_args.uuid,
            parent=None if parent is None else service.find(parent).uuid,
            aggregates=parsed_args.aggregates,
        )
        provider_past.created(self, made)
        aggregates = sorted({uuid.lower() for uuid in parsed_args.aggregates})
        data = {
            'name': made.name,
            'uuid': made.uuid,
            'parent': made.parent_uuid,
            'root': made.root_uuid,
            'aggregates': aggregates,
        }
        title = provider.title(made.name, made.uuid)
        text = f'created provider {title}'
        if aggregates:
            text += f', in aggregate {", ".join(aggregates)}'
        return bulk.Outcome(data=data, text=text)


class ProviderDelete(provider_change.ProviderItem):
    """Delete a provider with its inventories, traits and aggregates.

    The command refuses a provider that has children or allocations, and names
    them.
    """

    def prepare(
        self, items: Sequence[argparse.Namespace]
    ) -> Sequence[errors.AgentError | None]:
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
        from ...tree import provider  # noqa: PLC0415 (quick --help)

        found = parsed_args.found
        self._service.delete(found)
        provider_past.deleted(self, found)
        data = {'name': found.name, 'uuid': found.uuid}
        title = provider.title(found.name, found.uuid)
        return bulk.Outcome(data=data, text=f'deleted provider {title}')


def _mistakes(
    items: Sequence[argparse.Namespace],
    found: 'Mapping[str, provider_lookup.Found]',
    parents: 'Mapping[str, provider_lookup.Found]',
) -> Sequence[errors.AgentError | None]:
    """Return for each new provider why it cannot be created, or None.

    :param found: the new names and uuids → the provider that has one, or why
        there is none
    :param parents: the parents that no line creates, in the same way
    """
    from report_client import errors as placement_errors  # noqa: PLC0415 (quick --help)

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
