# SPDX-License-Identifier: Apache-2.0
"""``compute-agent allocation candidate list`` and ``why-not``, for a flavor.

The commands read only placement, not the state of the agent.
"""

import argparse
import time
import typing
from collections.abc import Iterator, Mapping, Sequence

from report_client.candidates import candidates
from report_client.candidates.values import answer, query
from report_client.candidates.why_not import why_not
from report_client.http import placement as placement_api
from report_client.http.messages import codec

from ..app import listing
from ..provider import provider_change
from ..wiring import named_providers, placement
from . import request_options


class CandidateList(listing.Listing):
    """List the allocation candidates for a flavor or a request.

    Each row is what a candidate allocates from one provider; the rows of a
    candidate have one number. With --long, each row is a provider of the
    candidates' trees, with its name, its free capacity and its traits.
    """

    COLUMNS = (
        '#',
        'allocation',
        'resource provider',
        'inventory used/capacity',
        'traits',
    )
    SPARE = ('traits', 'inventory used/capacity')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the request."""
        request_options.add(parser)
        parser.add_argument(
            '--limit',
            type=int,
            metavar='N',
            help='The largest number of candidates.',
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='Show all providers of the trees, by name, and what they '
            'have.',
        )

    def columns(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the columns."""
        return View.COLUMNS if parsed_args.long else self.COLUMNS

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each provider in a candidate."""
        service = _service(self)
        request = _request(self, parsed_args, service, parsed_args.limit)
        search = candidates.Candidates(service)
        answer = search.ask(request)
        if not answer.allocations:
            note = (
                'no candidates; "allocation candidate why-not PROVIDER" '
                'prints the reasons'
            )
            return [], note, 0
        if not parsed_args.long:
            return list(_allocations(answer)), None, 0
        roots = {row.root_uuid for row in answer.summaries.values()}
        titles = search.names_in_trees(roots)
        return list(View(answer, titles, is_long=True).rows()), None, 0


def _allocations(
    found: answer.Answer,
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield a row for each provider of each candidate."""
    for number, one in enumerate(found.allocations, 1):
        for uuid, amounts in one.resources.items():
            summary = found.summaries[uuid]
            yield (
                number,
                ','.join(f'{rc}={n}' for rc, n in amounts.items()),
                uuid,
                ','.join(
                    f'{rc}={offer.used}/{offer.capacity}'
                    for rc, offer in summary.offers.items()
                ),
                ','.join(sorted(summary.traits)),
            )


class View:
    """The providers of the candidates' trees as rows.

    :param titles: the names of providers, by uuid
    :param is_long: show all providers of the trees, not only those that give
        something
    """

    COLUMNS = ('name', 'uuid', 'tree', 'gives', 'offers', 'traits')

    def __init__(
        self,
        answer: answer.Answer,
        titles: Mapping[str, str],
        *,
        is_long: bool = False,
    ) -> None:
        self._answer = answer
        self._titles = titles
        self._long = is_long
        self._given = answer.classes_by_provider()

    def rows(self) -> Iterator[Sequence[typing.Any]]:
        """Yield a row for each provider, tree by tree, parents first."""
        for row in sorted(self._answer.summaries.values(), key=self._path):
            if self._long or row.uuid in self._given:
                yield (
                    self._name(row.uuid),
                    row.uuid,
                    self._name(row.root_uuid),
                    sorted(self._given.get(row.uuid, ())),
                    _offers(row),
                    sorted(row.traits),
                )

    def _path(self, row: answer.Summary) -> list[str]:
        """Return the names from the root to a provider."""
        path = [self._name(row.uuid)]
        parent = row.parent_uuid
        while parent is not None:
            path.insert(0, self._name(parent))
            parent = self._answer.summaries[parent].parent_uuid
        return path

    def _name(self, uuid: str) -> str:
        """Return a provider's name, or its uuid if the name is unknown.

        A provider that was created after the names were read has no name here.
        """
        return self._titles.get(uuid, uuid)


def _offers(row: answer.Summary) -> dict[str, dict[str, int]]:
    return {
        rc: {'capacity': offer.capacity, 'used': offer.used}
        for rc, offer in sorted(row.offers.items())
    }


class WhyNot(listing.Listing):
    """List the requirements of a flavor that a provider fails.

    For a candidate there are none. A provider in a tree stands for the whole
    tree.
    """

    COLUMNS = ('requirement', 'nearest', 'why')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the provider and the request."""
        provider_change.add_provider(parser)
        request_options.add(parser)

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each failed requirement."""
        service = _service(self)
        request = _request(self, parsed_args, service)
        provider = _find(self, service, parsed_args.provider)
        found = why_not.WhyNot(service, time.time).explain(request, provider)
        rows = why_not_rows(found)
        note = None if rows else f'{provider.name} is a candidate'
        if found.doubts:
            note = f'there may be more reasons: {"; ".join(found.doubts)}'
        return rows, note, 0


def why_not_rows(found: why_not.Explanation) -> list[tuple[str, str, str]]:
    """Return a row for each requirement that a provider fails."""
    return [
        (
            ' and '.join(part.text for part in failure.requirements),
            failure.nearest,
            failure.why,
        )
        for failure in found.failures
    ]


def _service(asking: listing.Listing) -> placement_api.Placement:
    return placement.placement_service(asking.conf())


def _find(
    asking: listing.Listing, service: placement_api.Placement, word: str
) -> codec.ListedProvider:
    return named_providers.NamedProviders(service, asking.conf()).find(word)


def _request(
    asking: listing.Listing,
    parsed_args: argparse.Namespace,
    service: placement_api.Placement,
    limit: int | None = None,
) -> query.Request:
    """Return the request that the options describe."""
    return request_options.request(
        parsed_args,
        limit=limit,
        find=lambda name: _find(asking, service, name).uuid,
        warn=lambda text: asking.app.stderr.write(f'compute-agent: {text}\n'),
    )
