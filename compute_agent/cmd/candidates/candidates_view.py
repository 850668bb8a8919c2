# SPDX-License-Identifier: Apache-2.0
"""Candidates as rows: each provider's part, free capacity and traits.

JSON and YAML have amounts as numbers, and every trait; a table has less room,
so it shows only some traits.
"""

import argparse
import typing
from collections.abc import Iterator, Mapping, Sequence

if typing.TYPE_CHECKING:
    from report_client.candidates import answer, query

_STRUCTURED = {'json', 'yaml'}
_FEW = 6  # traits in a row of a table, unless --long is given


class View:
    """The answer to a request as rows.

    :param titles: the names of providers, by uuid
    """

    def __init__(
        self,
        request: 'query.Request',
        answer: 'answer.Answer',
        titles: Mapping[str, str],
        parsed_args: argparse.Namespace,
    ) -> None:
        self._answer = answer
        self._titles = titles
        self._long = parsed_args.long
        self._formatter = parsed_args.formatter
        self._requested = {n for g in request.groups for n in g.traits.traits}
        self._requested |= set(request.root_required.traits)
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
                    self._offers(row),
                    self._traits(row),
                )

    def _path(self, row: 'answer.Summary') -> list[str]:
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

    def _offers(self, row: 'answer.Summary') -> typing.Any:
        if self._formatter in _STRUCTURED:
            return {
                rc: {'capacity': offer.capacity, 'used': offer.used}
                for rc, offer in sorted(row.offers.items())
            }
        return [
            f'{rc}: {offer.free} of {offer.capacity} free'
            for rc, offer in sorted(row.offers.items())
        ]

    def _traits(self, row: 'answer.Summary') -> list[str]:
        """Return the traits; in a table only the requested ones and a count."""
        names = sorted(row.traits)
        if self._long or self._formatter != 'table' or len(names) <= _FEW:
            return names
        shown = [name for name in names if name in self._requested]
        rest = len(names) - len(shown)
        return [*shown, f'and {rest} more (--long)'] if rest else shown
