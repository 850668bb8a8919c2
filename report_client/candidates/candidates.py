# SPDX-License-Identifier: Apache-2.0
"""Asking placement which providers could meet a request.

One request, one answer, and what went wrong in words: an unknown name, which
placement finds only if nothing else was in the way, and faults that some
placements have.
"""

import re
from collections.abc import Iterable

from compute_agent.tree import names

from .. import errors
from ..api import providers
from ..http import codec, placement
from . import answer as candidates_answer
from . import query

# Providers have their names in lists alone; so many trees are listed one by
# one before all providers of the cloud are.
_TREES = 16
# How PostgreSQL puts it that placement 16.0 compares ids with names.
_IDS_ARE_NO_NAMES = 'invalid input syntax for type integer'
# What a KeyError of placement's leaves of an id.
_ID_ALONE = re.compile(r'the requested operation\. \d+( \[|$)')


class Candidates:
    """The allocation candidates of one placement service."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service
        self._contents = providers.Providers(service)
        self._known: set[str] = set()

    def ask(self, request: query.Request) -> candidates_answer.Answer:
        """Return which providers could meet a request, and how.

        ``GET /allocation_candidates`` (1.10; the request knows what it needs):
        200; 400 for an unknown trait or resource class. Where nothing is
        found the names are looked up, for placement then may not have.

        :raises errors.NotFound: placement does not know a name
        :raises errors.ServerFault: placement failed inside (500)
        :raises errors.TooOld: this placement cannot answer such a request
        """
        try:
            body = self._service.get(request.path(), request.least_version)
        except errors.UnknownName as exc:
            self._check_names(request)
            raise errors.DoesNotExist(str(exc)) from exc
        except errors.ServerFault as exc:
            raise errors.ServerFault(_in_words(request, exc)) from exc
        answer = candidates_answer.read(body)
        if not answer.allocations:
            self._check_names(request)
        return answer

    def called(self, roots: Iterable[str]) -> dict[str, str]:
        """Return the names of all providers in these trees, by uuid.

        One request for each tree, or one for all providers if that is less.
        """
        some = sorted(set(roots))
        paths = [codec.in_tree(uuid) for uuid in some]
        if len(some) > _TREES:
            paths = [codec.PROVIDERS]
        rows = (r for p in paths for r in codec.listed(self._service.get(p)))
        return {row.uuid: row.name for row in rows}

    def _check_names(self, request: query.Request) -> None:
        """Look up the names that were not looked up yet.

        :raises errors.NotFound: placement does not know one of them
        """
        some = {name for one in _queries(request) for name in one.traits}
        classes = {rc for group in request.groups for rc in group.resources}
        if some - self._known:
            self._contents.check_traits(some)
        if classes - self._known:
            self._contents.check_classes(classes)
        self._known |= some | classes


def _queries(
    request: query.Request,
) -> list[query.TraitQuery]:
    return [*(group.traits for group in request.groups), request.root_required]


def _in_words(request: query.Request, exc: errors.ServerFault) -> str:
    """Return what to make of a 500."""
    forbidden = [
        n for g in request.groups if not g.name for n in g.traits.forbidden
    ]
    if forbidden and _IDS_ARE_NO_NAMES in str(exc):
        return (
            'placement failed inside (HTTP 500) on the forbidden '
            f'{", ".join(forbidden)}: it is a bug of placement 16 on '
            'PostgreSQL, which takes names of traits for numbers there; ask '
            'without it, or mend placement'
        )
    if _ID_ALONE.search(str(exc)):
        return (
            'placement failed inside (HTTP 500): it is a bug of placement 16, '
            'which loses sight of a provider that shares '
            f'({names.MISC_SHARES_VIA_AGGREGATE}) and has a parent; let roots '
            'of trees share, or mend placement'
        )
    return str(exc)
