# SPDX-License-Identifier: Apache-2.0
"""Explain why a provider is not among the candidates for a request.

Placement is the judge. It is asked again with some requirements left out, and
only the provider's presence in the answer counts. So the result is right for
nested trees, sharing providers and groups alike. ``values/wording.py`` words
it.
"""

import dataclasses
import operator
from collections.abc import Callable, Collection, Iterable, Sequence

from compute_agent import errors as agent_errors
from compute_agent.tree import provider

from ... import errors
from ...api.values import provider_query
from ...http import placement
from ...http.messages import codec, paths
from ...observe import reader
from .. import candidates
from ..values import neighbourhood, query, requirements, wording
from . import search

Requirement = requirements.Requirement
Request = query.Request


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Requirements that the provider's tree does not meet.

    :ivar requirements: one requirement; or several, which could be met if any
        one of them were left out
    :ivar nearest: the name of the provider that comes nearest to meeting them
    :ivar why: the facts about that provider, in words
    """

    requirements: tuple[Requirement, ...]
    nearest: str
    why: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The reasons why a provider is not among the candidates.

    :ivar failures: empty if and only if the provider is a candidate
    :ivar doubts: reasons why there may be more failures
    """

    failures: tuple[Failure, ...] = ()
    doubts: tuple[str, ...] = ()


class WhyNot:
    """Explains missing candidates of one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._candidates = candidates.Candidates(service)
        self._reader = NeighbourhoodReader(service, clock)

    def explain(
        self, request: Request, target: codec.ListedProvider
    ) -> Explanation:
        """Return the requirements that keep a provider's tree out.

        The result is empty if and only if the provider is in placement's
        answer to the request without its limit. Without the returned
        requirements, and those that depend on them (``requirements.without``),
        the provider is in the answer. If all remaining resources would come
        from other providers, the tree is not in the answer; it could still
        take part in a candidate.

        It sends one ``GET /allocation_candidates`` if the provider is a
        candidate. Else, for a request of r amounts and c conditions, it
        usually sends r + c + 4, and never more than
        4 + (r + 1)(r + 2) / 2 + (c + 1)(c + 2) / 2. If inventory is shared, it
        sends one more for each answer that may have been cut. In addition it
        reads four collections of each provider of the tree and of each
        provider that shares with it.

        :param target: any provider of the tree
        :raises errors.DoesNotExist: placement does not know a name in the
            request, or the provider was deleted
        :raises errors.ServerFault: placement failed on the whole request (500)
        :raises agent_errors.UnknownState: no requirement could be judged; or
            placement changed in the meantime, or left the provider out
        """
        whole = dataclasses.replace(request, limit=None)
        answer = self._candidates.ask(whole)
        if target.uuid in answer.summaries:
            return Explanation()
        near = self._reader.read(target)
        ways = len(answer.allocations)
        asked = search.Search(self._candidates, whole, near, ways)
        found = asked.conflicts()
        if not found:
            raise self._no_reason(whole, target, asked.doubts)
        words = wording.Wording(near=near, amounts=request.amounts)
        return Explanation(
            failures=tuple(_failure(words, parts) for parts in found),
            doubts=tuple(asked.doubts),
        )

    def _no_reason(
        self,
        whole: Request,
        target: codec.ListedProvider,
        doubts: Sequence[str],
    ) -> agent_errors.UnknownState:
        """Return the error if no requirement is known to fail."""
        if doubts:
            return agent_errors.UnknownState(
                f'{target.name}: why it is not a candidate is not known: '
                f'{"; ".join(doubts)}'
            )
        answer = self._candidates.ask(whole)
        if target.uuid in answer.summaries:
            return agent_errors.UnknownState(
                f'{target.name}: it became a candidate while placement was '
                'asked about it: ask again'
            )
        return agent_errors.UnknownState(
            f'{target.name} meets the request, but placement leaves it out: '
            f'placement stops after {len(answer.allocations)} ways; raise '
            '[placement] max_allocation_candidates on the server, or set '
            'allocation_candidates_generation_strategy = breadth-first there'
        )


def _failure(
    words: wording.Wording, parts: tuple[Requirement, ...]
) -> Failure:
    nearest, why = words.describe(parts)
    return Failure(requirements=parts, nearest=nearest.name, why=why)


class NeighbourhoodReader:
    """Reads neighbourhoods of providers in one placement service.

    It reads four collections (traits, aggregates, inventories, usages) of each
    provider of the tree and of each provider that shares with it. It caches
    nothing.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._service = service
        self._reader = reader.Reader(service, clock)

    def read(
        self, target: codec.ListedProvider
    ) -> neighbourhood.Neighbourhood:
        """Return a provider's tree and all providers it can combine with.

        :raises errors.DoesNotExist: the tree was deleted
        """
        rows = self._reader.list_providers(paths.in_tree(target.root_uuid))
        if not rows:
            raise errors.DoesNotExist(f'provider {target} is gone')
        tree = self._providers(rows)
        own = {row.uuid for row in rows}
        sharing = self._sharing({a for p in tree for a in p.aggregates})
        shared_to = {a for p in tree if p.shares for a in p.aggregates}
        return neighbourhood.Neighbourhood(
            tree=tree,
            sharing=self._providers(r for r in sharing if r.uuid not in own),
            reached=self._roots(shared_to),
        )

    def _providers(
        self, rows: Iterable[codec.ListedProvider]
    ) -> list[neighbourhood.NearProvider]:
        """Return these providers with all their contents, parents first."""
        read = [self._reader.provider(row).provider for row in rows]
        return [
            neighbourhood.NearProvider(provider=p, used=self._used(p.uuid))
            for p in provider.snapshot(read).values()
        ]

    def _used(self, uuid: str) -> dict[str, int]:
        """Return the used amount of each resource class of a provider.

        ``GET /resource_providers/{uuid}/usages`` (1.0): 200, 404.
        """
        body = self._service.get(f'{paths.PROVIDERS}/{uuid}/usages')
        try:
            return {rc: operator.index(n) for rc, n in body['usages'].items()}
        except (AttributeError, KeyError, TypeError) as exc:
            raise errors.MalformedAnswer(
                "placement's answer with usages does not have the documented "
                'shape: '
                f'{str(body)[:120]!r}'
            ) from exc

    def _sharing(
        self, aggregates: Collection[str]
    ) -> list[codec.ListedProvider]:
        """Return the providers that share in these aggregates."""
        if not aggregates:
            return []
        return self._reader.list_providers(paths.sharing(aggregates))

    def _roots(self, aggregates: Collection[str]) -> frozenset[str]:
        """Return the root uuids of all trees with a member of these."""
        if not aggregates:
            return frozenset()
        members = provider_query.MemberOf(aggregates=tuple(sorted(aggregates)))
        query = provider_query.ProviderQuery(member_of=(members,))
        rows = self._reader.list_providers(query.path())
        return frozenset(row.root_uuid for row in rows)
