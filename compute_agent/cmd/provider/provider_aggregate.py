# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider aggregate``: the aggregates of one provider."""

import argparse
import typing

from ..app import command, listing
from . import provider_change, provider_contents

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec


class ProviderAggregateList(provider_contents.ProviderContents):
    """List the aggregates of a provider; stderr has its generation."""

    COLUMNS = ('UUID',)

    def contents(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
    ) -> tuple[int, listing.Rows]:
        """Return one row for each aggregate."""
        from ...tree import assertion  # noqa: PLC0415 (quick --help)

        kind = assertion.Kind.AGGREGATE
        generation, aggregates = service.contents(provider, kind)
        return generation, [(uuid,) for uuid in sorted(aggregates)]


class _AggregatesGiven(provider_change.ProviderChange):
    """A command with aggregates as arguments."""

    def add_item(
        self, parser: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        """Return the parser with the aggregates."""
        parser = super().add_item(parser)
        parser.add_argument(
            'aggregates',
            nargs='+',
            metavar='UUID',
            help='The uuid of an aggregate; placement has no names for them.',
        )
        return command.take_words(parser, 'aggregates')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a uuid."""
        super().check(parsed_args)
        from ...tree import names  # noqa: PLC0415 (quick --help)

        names.check_aggregates(parsed_args.aggregates)


class ProviderAggregateAdd(_AggregatesGiven):
    """Add a provider to aggregates; it stays in its other aggregates."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Add the aggregates."""
        return service.add_aggregates(
            provider, parsed_args.aggregates, generation=parsed_args.generation
        )


class ProviderAggregateRemove(_AggregatesGiven):
    """Remove a provider from aggregates; it stays in its others."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Remove the aggregates."""
        return service.remove_aggregates(
            provider, parsed_args.aggregates, generation=parsed_args.generation
        )


class ProviderAggregateSet(_AggregatesGiven):
    """Replace all aggregates of a provider by these."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'provider_change.Done':
        """Replace the aggregates."""
        return service.set_aggregates(
            provider, parsed_args.aggregates, generation=parsed_args.generation
        )
