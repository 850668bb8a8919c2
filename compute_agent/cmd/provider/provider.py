# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider``: which there are, created and deleted."""

import argparse
import dataclasses
import typing

from ... import error_text
from ..app import command, listing
from ..candidates import group_options
from . import provider_change


class ProviderList(listing.Listing):
    """List the providers that meet all conditions.

    Each condition is on one provider. Groups of conditions (--required1 ...)
    are for "candidates": placement has them there alone.
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
            help='Those with the traits, and without those behind "!"; or '
            'with one at least of those behind "in:". May be repeated.',
        )
        parser.add_argument(
            '--resources',
            action='append',
            default=[],
            metavar='RC:AMOUNT,...',
            help='Those that could take such a request. May be repeated.',
        )
        parser.add_argument(
            '--member-of',
            action='append',
            default=[],
            metavar='[!]UUID|[!]in:UUID,UUID',
            help='Those in this aggregate, or in one of these; with "!" '
            'those in none. May be repeated.',
        )
        parser.add_argument(
            '--in-tree',
            metavar='PROVIDER',
            help='Those in the tree of this one, given by name or uuid.',
        )
        parser.add_argument('--name', help='The one of this name.')
        parser.add_argument('--uuid', help='The one of this uuid.')
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
    """Create a provider, for what no agent reports: a shared storage."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='Its name.')
        parser.add_argument('--uuid', help='Its uuid (default: a random one).')
        parser.add_argument(
            '--parent',
            metavar='PROVIDER',
            help='The provider that it goes below, by name or uuid.',
        )
        parser.add_argument(
            '--aggregate',
            '--aggregate-uuid',
            action='append',
            default=[],
            dest='aggregates',
            metavar='UUID',
            help='An aggregate that it is in. May be repeated.',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Create the provider; return what it is."""
        from ...tree import provider  # noqa: PLC0415 (quick --help)

        service = provider_change.providers(self)
        above = parsed_args.parent
        made = service.create(
            parsed_args.name,
            uuid=parsed_args.uuid,
            parent=None if above is None else service.find(above).uuid,
            aggregates=parsed_args.aggregates,
        )
        some = sorted({uuid.lower() for uuid in parsed_args.aggregates})
        data = {
            'name': made.name,
            'uuid': made.uuid,
            'parent': made.parent_uuid,
            'root': made.root_uuid,
            'aggregates': some,
        }
        title = provider.title(error_text.printable(made.name), made.uuid)
        text = f'created provider {title}'
        if some:
            text += f', in aggregate {", ".join(some)}'
        return data, text, 0


class ProviderDelete(command.Report):
    """Delete a provider with all it holds.

    One with children, or with allocations, is left alone, and they are named.
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
        one = service.find(parsed_args.provider)
        service.delete(one)
        data = {'name': one.name, 'uuid': one.uuid}
        title = provider.title(error_text.printable(one.name), one.uuid)
        return data, f'deleted provider {title}', 0
