# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider aggregate``: join aggregates, and leave them."""

import argparse
import typing

from ..app import command
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec
    from report_client.operations import operations as ops


class _AggregatesGiven(provider_change.ProviderChange):
    """A command with aggregates as arguments."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the aggregates."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'aggregates',
            nargs='+',
            metavar='UUID',
            help='The uuid of an aggregate; placement has no names for them.',
        )
        return command.take_words(parser, 'aggregates')

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse an argument that is not a uuid."""
        from ...tree import names  # noqa: PLC0415 (quick --help)

        names.check_aggregates(parsed_args.aggregates)


class ProviderAggregateAdd(_AggregatesGiven):
    """Add a provider to aggregates; it stays in its other aggregates."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Add the aggregates."""
        return service.add_aggregates(provider, parsed_args.aggregates)


class ProviderAggregateRemove(_AggregatesGiven):
    """Remove a provider from aggregates; it stays in its others."""

    def change(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
        parsed_args: argparse.Namespace,
    ) -> 'ops.SetOperation':
        """Remove the aggregates."""
        return service.remove_aggregates(provider, parsed_args.aggregates)
