# SPDX-License-Identifier: Apache-2.0
"""Ask placement for allocation candidates.

One call sends one ``GET /allocation_candidates``. The error message says what
went wrong: an unknown name (which placement does not always report), or a
known bug of some placement releases.
"""

import re
from collections.abc import Iterable

from compute_agent.tree import names

from .. import errors
from ..api import resource_classes, traits
from ..http import placement
from ..http.messages import codec, paths
from .values import answer, query

# Only lists of providers have names. Up to this many trees are listed one by
# one; for more, all providers of the cloud are listed.
_TREES = 16
# PostgreSQL's message when placement 16.0 compares ids with names.
_IDS_ARE_NO_NAMES = 'invalid input syntax for type integer'
# The detail of the 500 after placement's KeyError: only a provider's id.
_ID_ALONE = re.compile(r'the requested operation\. \d+( \[|$)')


class Candidates:
    """The allocation candidates of one placement service."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service
        self._known: set[str] = set()

    def ask(self, request: query.Request) -> answer.Answer:
        """Return the ways to meet a request, and their providers.

        ``GET /allocation_candidates`` (1.10; ``request.least_version`` says
        which microversion it needs): 200; 400 for an unknown trait or resource
        class. If the answer is empty, the names are looked up as well, because
        placement may have stopped before it checked them.

        :raises errors.DoesNotExist: placement does not know a name
        :raises errors.ServerFault: placement failed inside (500)
        :raises errors.TooOld: this placement cannot answer such a request
        """
        try:
            body = self._service.get(request.path(), request.least_version)
        except errors.UnknownName as exc:
            self._check_names(request)
            raise errors.DoesNotExist(str(exc)) from exc
        except errors.ServerFault as exc:
            raise errors.ServerFault(_explain(request, exc)) from exc
        found = answer.read(body)
        if not found.allocations:
            self._check_names(request)
        return found

    def names_in_trees(self, roots: Iterable[str]) -> dict[str, str]:
        """Return the names of all providers in these trees, by uuid.

        ``GET /resource_providers?in_tree=`` (1.14) for each tree; for more
        than 16 trees one list of all providers.

        :param roots: the uuids of the trees' roots
        """
        uuids = sorted(set(roots))
        lists = [paths.in_tree(uuid) for uuid in uuids]
        if len(uuids) > _TREES:
            lists = [paths.PROVIDERS]
        return {
            row.uuid: row.name
            for path in lists
            for row in codec.sound_providers(self._service.get(path))
        }

    def _check_names(self, request: query.Request) -> None:
        """Look up the request's names, unless an earlier request did.

        :raises errors.DoesNotExist: placement does not know a name
        """
        asked = {name for query in _queries(request) for name in query.traits}
        classes = {rc for group in request.groups for rc in group.resources}
        if asked - self._known:
            traits.Traits(self._service).check(asked)
        if classes - self._known:
            resource_classes.ResourceClasses(self._service).check(classes)
        self._known |= asked | classes


def _queries(
    request: query.Request,
) -> list[query.TraitQuery]:
    return [*(group.traits for group in request.groups), request.root_required]


def _explain(request: query.Request, exc: errors.ServerFault) -> str:
    """Return the message for a 500; it explains the bug if that is known."""
    forbidden = [
        n for g in request.groups if not g.name for n in g.traits.forbidden
    ]
    if forbidden and _IDS_ARE_NO_NAMES in str(exc):
        return (
            'placement failed inside (HTTP 500) on the forbidden '
            f'{", ".join(forbidden)}: a bug of placement 16 on PostgreSQL, '
            'which takes trait names for numbers; ask without forbidden '
            'traits, or repair placement'
        )
    if _ID_ALONE.search(str(exc)):
        return (
            'placement failed inside (HTTP 500): a bug of placement 16, which '
            'fails on a provider that shares '
            f'({names.MISC_SHARES_VIA_AGGREGATE}) and has a parent; make '
            'sharing providers roots, or repair placement'
        )
    return str(exc)
