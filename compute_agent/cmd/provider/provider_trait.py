# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider trait``: the traits of one provider.

The commands keep the changes that other writers make at the same time.
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
        provider = service.find(parsed_args.provider)
        return [(name,) for name in sorted(service.traits(provider))], None, 0


class _TraitsGiven(provider_change.ProviderChange):
    """A command with traits as arguments."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the traits."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'traits', nargs='+', metavar='TRAIT', help='The name of a trait.'
        )
        return command.take_words(parser, 'traits')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a trait's name."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        for name in parsed_args.traits:
            trait_names.check(name)


class _TraitsNew(_TraitsGiven):
    """A command whose traits may not exist in placement yet."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the option to create traits."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--create',
            action='store_true',
            help='Create custom traits that do not exist yet.',
        )
        return parser


class ProviderTraitAdd(_TraitsNew):
    """Add traits to a provider; its other traits stay."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Add the traits."""
        return service.add_traits(
            provider, parsed_args.traits, create=parsed_args.create
        )


class ProviderTraitRemove(_TraitsGiven):
    """Remove traits from a provider; the traits themselves still exist."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Remove the traits; print those that the provider did not have."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        done = service.remove_traits(provider, parsed_args.traits)
        for name in sorted(set(parsed_args.traits) - done.before):
            similar = trait_names.nearest(name, done.before)
            hint = f'; did you mean {similar}?' if similar else ''
            title = error_text.printable(provider.name)
            self.say(f'{title} has no trait {name}{hint}')
        return done


class ProviderTraitSet(_TraitsNew):
    """Replace all traits of a provider by these."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Replace the traits."""
        return service.set_traits(
            provider, parsed_args.traits, create=parsed_args.create
        )


class ProviderTraitClear(provider_change.ProviderChange):
    """Remove all traits from a provider."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> 'ops.SetOperation':
        """Remove every trait."""
        return service.clear_traits(provider)
