# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource usage show`` and ``resource provider usage show``."""

import argparse

from report_client.api import allocations

from ..app import listing
from ..wiring import placement
from . import provider_change


class ProviderUsageShow(listing.Listing):
    """Show how much of each resource class of a provider is allocated."""

    COLUMNS = ('resource_class', 'usage')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider."""
        provider_change.add_provider(parser)

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each class."""
        service = provider_change.providers(self)
        used = service.used(service.find(parsed_args.provider))
        return sorted(used.items()), None, 0


class UsageShow(listing.Listing):
    """Show how much of each resource class a project has, in all the cloud."""

    COLUMNS = ('resource_class', 'usage')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the project and the user."""
        parser.add_argument(
            'project_id', metavar='PROJECT', help='The id of the project.'
        )
        parser.add_argument(
            '--user-id',
            metavar='USER',
            help='The id of a user: count only what this user has there.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each class."""
        service = placement.placement_service(self.conf())
        used = allocations.Allocations(service).used_by(
            parsed_args.project_id, parsed_args.user_id
        )
        return sorted(used.items()), None, 0
