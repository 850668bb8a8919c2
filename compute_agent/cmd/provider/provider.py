# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider list``, ``create`` and ``delete``."""

import argparse
import dataclasses
import typing

from ..app import command, listing
from ..candidates import group_options
from . import provider_change


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


class ProviderCreate(command.Report):
    """Create a provider that no agent reports, such as shared storage."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='The name.')
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

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Create the provider, and return it."""
        from ...tree import provider  # noqa: PLC0415 (quick --help)

        service = provider_change.providers(self)
        parent = parsed_args.parent
        made = service.create(
            parsed_args.name,
            uuid=parsed_args.uuid,
            parent=None if parent is None else service.find(parent).uuid,
            aggregates=parsed_args.aggregates,
        )
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
        return data, text, 0


class ProviderDelete(command.Report):
    """Delete a provider with its inventories, traits and aggregates.

    The command refuses a provider that has children or allocations, and names
    them.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Delete the provider."""
        from ...tree import provider  # noqa: PLC0415 (quick --help)

        service = provider_change.providers(self)
        found = service.find(parsed_args.provider)
        service.delete(found)
        data = {'name': found.name, 'uuid': found.uuid}
        title = provider.title(found.name, found.uuid)
        return data, f'deleted provider {title}', 0
