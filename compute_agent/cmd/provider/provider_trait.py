# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider trait``: the traits of one provider.

The commands keep the changes that other writers make at the same time.
"""

import argparse
import typing
from collections.abc import Sequence

from ... import errors
from ..app import command, listing
from . import provider_change, provider_contents

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec


class ProviderTraitList(provider_contents.ProviderContents):
    """List the traits of a provider; stderr has its generation."""

    COLUMNS = ('Name',)

    def contents(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
    ) -> tuple[int, listing.Rows]:
        """Return one row for each trait."""
        from ...tree import assertion  # noqa: PLC0415 (quick --help)

        kind = assertion.Kind.TRAIT
        generation, traits = service.contents(provider, kind)
        return generation, [(name,) for name in sorted(traits)]


class _TraitsGiven(provider_change.ProviderChange):
    """A command with traits as arguments."""

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the traits."""
        parser = super().add_item(parser)
        parser.add_argument(
            'traits', nargs='+', metavar='TRAIT', help='The name of a trait.'
        )
        return command.take_words(parser, 'traits')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a trait's name."""
        super().check(parsed_args)
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        for name in parsed_args.traits:
            trait_names.check(name)


class _TraitsNew(_TraitsGiven):
    """A command whose traits may not exist in placement yet."""

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the option to create traits."""
        parser = super().add_item(parser)
        parser.add_argument(
            '--create',
            action='store_true',
            help='Create custom traits that do not exist yet.',
        )
        return parser

    def unknown_names(
        self,
        service: 'providers_api.Providers',
        items: Sequence[argparse.Namespace],
    ) -> Sequence[errors.AgentError | None]:
        """Return for each item the traits that placement does not know."""
        named = {name for item in items for name in item.traits}
        missing = service.unknown_traits(named)
        return [
            provider_change.unknown(
                'trait', missing, item.traits, create=item.create
            )
            for item in items
        ]


class ProviderTraitAdd(_TraitsNew):
    """Add traits to a provider; its other traits stay."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Add the traits."""
        return service.add_traits(
            provider,
            parsed_args.traits,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


class ProviderTraitRemove(_TraitsGiven):
    """Remove traits from a provider; the traits themselves still exist."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Remove the traits."""
        return service.remove_traits(
            provider, parsed_args.traits, generation=parsed_args.generation
        )

    def notes(
        self, done: 'provider_change.Done', parsed_args: argparse.Namespace
    ) -> Sequence[str]:
        """Return the traits that the provider did not have."""
        return provider_change.not_there(done, 'trait', parsed_args.traits)


class ProviderTraitSet(_TraitsNew):
    """Replace all traits of a provider by these."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Replace the traits."""
        return service.set_traits(
            provider,
            parsed_args.traits,
            create=parsed_args.create,
            generation=parsed_args.generation,
        )


class ProviderTraitClear(provider_change.ProviderChange):
    """Remove all traits from a provider."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Remove every trait."""
        return service.clear_traits(
            provider, generation=parsed_args.generation
        )
