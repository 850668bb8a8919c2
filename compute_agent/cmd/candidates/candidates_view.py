# SPDX-License-Identifier: Apache-2.0
"""Candidates as rows: who would give something, what there is, which traits.

Programs get amounts as numbers and every trait; a table has room for less.
"""

import argparse
import typing
from collections.abc import Iterator, Mapping, Sequence

if typing.TYPE_CHECKING:
    from report_client.candidates import answer, query

_STRUCTURED = {'json', 'yaml'}
_FEW = 6  # traits in a row of a table, unless all are wanted


class View:
    """The answer to a request as rows.

    :param called: the names of providers, by uuid
    """

    def __init__(
        self,
        request: 'query.Request',
        answer: 'answer.Answer',
        called: Mapping[str, str],
        parsed_args: argparse.Namespace,
    ) -> None:
        self._answer = answer
        self._called = called
        self._long = parsed_args.long
        self._formatter = parsed_args.formatter
        self._asked = {n for g in request.groups for n in g.traits.traits}
        self._asked |= set(request.root_required.traits)
        self._given = answer.classes_by_provider()

    def rows(self) -> Iterator[Sequence[typing.Any]]:
        """Yield a row for each provider, tree by tree, parents first."""
        for one in sorted(self._answer.summaries.values(), key=self._place):
            if self._long or one.uuid in self._given:
                yield (
                    self._name(one.uuid),
                    one.uuid,
                    self._name(one.root_uuid),
                    sorted(self._given.get(one.uuid, ())),
                    self._offers(one),
                    self._traits(one),
                )

    def _place(self, one: 'answer.Summary') -> list[str]:
        """Return the names from the root to a provider."""
        path = [self._name(one.uuid)]
        above = one.parent_uuid
        while above is not None:
            path.insert(0, self._name(above))
            above = self._answer.summaries[above].parent_uuid
        return path

    def _name(self, uuid: str) -> str:
        """Return a name; a provider that came after the names has its uuid."""
        return self._called.get(uuid, uuid)

    def _offers(self, one: 'answer.Summary') -> typing.Any:
        if self._formatter in _STRUCTURED:
            return {
                rc: {'capacity': has.capacity, 'used': has.used}
                for rc, has in sorted(one.offers.items())
            }
        return [
            f'{rc}: {has.free} of {has.capacity} free'
            for rc, has in sorted(one.offers.items())
        ]

    def _traits(self, one: 'answer.Summary') -> list[str]:
        """Return the traits; in a table those that matter, and how many."""
        every = sorted(one.traits)
        if self._long or self._formatter != 'table' or len(every) <= _FEW:
            return every
        some = [name for name in every if name in self._asked]
        rest = len(every) - len(some)
        return [*some, f'and {rest} more (--long)'] if rest else some
