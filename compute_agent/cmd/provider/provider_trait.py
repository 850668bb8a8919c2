# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider trait``: the traits of one provider (seed 000).

What other writers change at the same time is kept, whoever comes first.
"""

import argparse
import typing

from ... import error_text
from ..app import command, listing
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops


class ProviderTraitList(listing.Listing):
    """List the traits of a provider."""

    COLUMNS = ('Name',)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each trait."""
        service = provider_change.providers(self)
        one = service.find(parsed_args.provider)
        return [(name,) for name in sorted(service.traits(one))], None, 0


class _TraitsGiven(provider_change.ProviderChange):
    """A command that is given traits."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the traits."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'traits', nargs='+', metavar='TRAIT', help='A name.'
        )
        return command.take_words(parser, 'traits')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse a name that is none."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        for name in parsed_args.traits:
            trait_names.check(name)


class _TraitsNew(_TraitsGiven):
    """A command whose traits may be new to placement."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the choice to create them."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--create',
            action='store_true',
            help='Create the custom traits that placement does not know.',
        )
        return parser


class ProviderTraitAdd(_TraitsNew):
    """Give a provider traits, besides those that it has."""

    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Add the traits."""
        return service.add_traits(
            one, parsed_args.traits, create=parsed_args.create
        )


class ProviderTraitRemove(_TraitsGiven):
    """Take traits from a provider; its others stay, and so do the names."""

    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Remove the traits; say of those that were not there."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        done = service.remove_traits(one, parsed_args.traits)
        for name in sorted(set(parsed_args.traits) - done.before):
            meant = trait_names.nearest(name, done.before)
            hint = f'; did you mean {meant}?' if meant else ''
            who = error_text.printable(one.name)
            self.say(f'{who} has no trait {name}{hint}')
        return done


class ProviderTraitSet(_TraitsNew):
    """Give a provider exactly these traits; its others go."""

    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Replace the traits."""
        return service.set_traits(
            one, parsed_args.traits, create=parsed_args.create
        )


class ProviderTraitClear(provider_change.ProviderChange):
    """Take all traits from a provider."""

    def change(
        self,
        service: 'providers_api.Providers',
        one: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> 'ops.SetOperation':
        """Remove every trait."""
        return service.clear_traits(one)
