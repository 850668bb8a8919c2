# SPDX-License-Identifier: Apache-2.0
"""Base class of the commands that list the contents of one provider."""

import abc
import argparse
import typing

from ..app import listing
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import providers as providers_api
    from report_client.http import codec


class ProviderContents(listing.Listing):
    """A command that lists one kind of contents of a provider."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return the rows, and the generation as a note."""
        from ...tree import provider as provider_module  # noqa: PLC0415 (quick --help)

        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        generation, rows = self.contents(service, provider)
        title = provider_module.title(provider.name, provider.uuid)
        return rows, f'{title} has generation {generation}', 0

    @abc.abstractmethod
    def contents(
        self,
        service: 'providers_api.Providers',
        provider: 'codec.ListedProvider',
    ) -> tuple[int, listing.Rows]:
        """Return the generation of the provider, and the rows."""
