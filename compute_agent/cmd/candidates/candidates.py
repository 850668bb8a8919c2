# SPDX-License-Identifier: Apache-2.0
"""``compute-agent candidates``: who could take a flavor, and why another not.

Everything is asked of placement; the agent's own state is not needed.
"""

import argparse
import typing
from collections.abc import Sequence

from ..app import listing
from . import candidates_view, request_options

if typing.TYPE_CHECKING:
    from report_client.candidates import query
    from report_client.http import placement as placement_api


class Candidates(listing.Listing):
    """List the providers that could give what a flavor asks for.

    Each row is a provider that would give something, with what of it is free
    and its traits. With --why-not the rows are the requirements that keep a
    provider out; there are none for a candidate.
    """

    COLUMNS = ('Name', 'UUID', 'Tree', 'Gives', 'Offers', 'Traits')

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the request."""
        parser = super().get_parser(prog_name)
        request_options.add(parser)
        parser.add_argument(
            '--why-not',
            metavar='PROVIDER',
            help='Say which requirements keep this provider out, by name or '
            'uuid; for one in a tree, its whole tree.',
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='Show all providers of the trees, and all traits.',
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], listing.Rows]:
        """Return columns and rows of what is asked for."""
        if parsed_args.why_not is None:
            return super().take_action(parsed_args)
        return _WhyNot(self.app, self.app_args).take_action(parsed_args)

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each provider that would give something."""
        from report_client.candidates import candidates  # noqa: PLC0415 (quick --help)

        service = _service(self)
        request = _request(self, parsed_args, service)
        asked = candidates.Candidates(service)
        answer = asked.ask(request)
        if not answer.allocations:
            note = 'nothing fits; --why-not PROVIDER says why one does not'
            return [], note, 0
        roots = {one.root_uuid for one in answer.summaries.values()}
        called = asked.names_in_trees(roots)
        view = candidates_view.View(request, answer, called, parsed_args)
        return list(view.rows()), None, 0


class _WhyNot(listing.Listing):
    """The same command with --why-not."""

    COLUMNS = ('Requirement', 'Nearest', 'Why')

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each requirement that is not met."""
        import time  # noqa: PLC0415 (quick --help)

        from report_client.api import providers  # noqa: PLC0415
        from report_client.candidates.why_not import why_not  # noqa: PLC0415

        from ... import errors  # noqa: PLC0415

        if parsed_args.limit is not None:
            raise errors.ConfigError(
                '--why-not is about all candidates: leave --limit out'
            )
        service = _service(self)
        request = _request(self, parsed_args, service)
        one = providers.Providers(service).find(parsed_args.why_not)
        found = why_not.WhyNot(service, time.time).explain(request, one)
        rows = [
            (
                ' and '.join(part.text for part in failure.requirements),
                failure.nearest,
                failure.why,
            )
            for failure in found.failures
        ]
        note = None if rows else f'{one.name} is a candidate'
        if found.doubts:
            note = f'there may be more: {"; ".join(found.doubts)}'
        return rows, note, 0


def _service(asked: listing.Listing) -> 'placement_api.Placement':
    from ..wiring import placement  # noqa: PLC0415 (quick --help)

    return placement.placement_service(asked.conf())


def _request(
    asked: listing.Listing,
    parsed_args: argparse.Namespace,
    service: 'placement_api.Placement',
) -> 'query.Request':
    """Return what the options ask for."""
    from report_client.api import providers  # noqa: PLC0415 (quick --help)

    find = providers.Providers(service).find
    return request_options.request(
        parsed_args,
        find=lambda name: find(name).uuid,
        warn=lambda text: asked.app.stderr.write(f'compute-agent: {text}\n'),
    )
