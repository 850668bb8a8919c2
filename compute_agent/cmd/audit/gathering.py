# SPDX-License-Identifier: Apache-2.0
"""Read a cloud for an audit, with as few requests as possible.

Placement is read first, and the other services after it: what placement has
was known to them before. A few lists find the providers that may be wrong, and
only the contents of these are read, or of all if the operator wants that.
"""

import collections
import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping

from report_client import errors as placement_errors
from report_client.api import survey
from report_client.api.values import trait_names
from report_client.http.messages import codec

from ... import parallel
from ...audit import audit, cloud
from ...fleet.values import mark
from ...tree import assertion, names
from . import nova_answers

Rows = Mapping[str, codec.ListedProvider]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The services that an audit asks.

    :ivar ironic: reads Ironic
    :ivar workers: the number of requests to placement at once
    :ivar advance: called with the total for each provider that was read
    """

    survey: survey.Survey
    nova: nova_answers.NovaAnswers
    ironic: Callable[[], cloud.Ironic]
    agent: cloud.Agent
    workers: int
    advance: Callable[[int], None]
    clock: Callable[[], float] = time.time


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A cloud that was read.

    :ivar rows: placement's list of providers, by uuid
    :ivar custom_traits: the number of custom traits that placement knows
    """

    cloud: cloud.Cloud
    rows: Rows
    custom_traits: int


def gather(
    sources: Sources, choices: cloud.Choices, *, everything: bool
) -> Gathered:
    """Read a cloud.

    :param everything: read inventories and allocations of every provider
    :raises errors.AgentError: placement did not answer, or has no provider
        that the operator names
    """
    rows = {row.uuid: row for row in sources.survey.providers()}
    _check_names(choices, rows)
    custom, listed = _lists(sources.survey, rows, everything=everything)
    known = cloud.Cloud(
        placement=listed,
        nova=sources.nova.hosts(),
        ironic=sources.ironic(),
        agent=sources.agent,
        choices=choices,
    )
    read = _Contents(sources, rows)
    placement = read.of(known, everything=everything)
    nova = sources.nova.with_consumers(
        known.nova, placement.consumers(), placement.divided()
    )
    return Gathered(
        cloud=dataclasses.replace(known, placement=placement, nova=nova),
        rows=rows,
        custom_traits=custom,
    )


def _check_names(choices: cloud.Choices, rows: Rows) -> None:
    """Refuse names of which placement has no provider.

    :raises placement_errors.DoesNotExist: placement lacks one of the names
    """
    known = {*rows, *(row.name for row in rows.values())}
    alike = {word.lower(): word for word in known}
    for word in sorted(choices.included - known):
        near = alike.get(word.lower())
        hint = f'; did you mean {near}?' if near else ''
        raise placement_errors.DoesNotExist(
            f'--include: no provider is called {word or repr(word)}{hint}'
        )


def _lists(
    asked: survey.Survey, rows: Rows, *, everything: bool
) -> tuple[int, cloud.Placement]:
    """Return the number of custom traits, and what the lists tell."""
    known = asked.trait_names()
    used = asked.trait_names(associated=True)
    custom = {name for name in known if names.is_custom(name)}
    return len(custom), cloud.Placement(
        providers={
            uuid: cloud.ListedProvider(
                uuid=uuid,
                name=row.name,
                generation=row.generation,
                parent_uuid=row.parent_uuid,
                root_uuid=row.root_uuid,
            )
            for uuid, row in rows.items()
        },
        compute_nodes=asked.with_trait(names.COMPUTE_NODE),
        sharing=asked.with_trait(names.MISC_SHARES_VIA_AGGREGATE),
        traitless=asked.traitless(rows, used),
        unused_traits=frozenset(custom - set(used)),
        marks={one: asked.with_trait(one.trait) for one in _rivals(used)},
        missing_traits=trait_names.standard() - set(known),
        custom_classes=frozenset(
            filter(names.is_custom, asked.resource_classes())
        )
        if everything
        else frozenset(),
        is_complete=everything,
    )


def _rivals(used: Iterable[str]) -> list[mark.Mark]:
    """Return the marks of the agents that share a share."""
    found = mark.marks(used)
    agents = collections.Counter(one.share for one in found)
    return [one for one in found if agents[one.share] > 1]


class _Contents:
    """Reads the contents of the providers that may be wrong."""

    def __init__(self, sources: Sources, rows: Rows) -> None:
        self._sources = sources
        self._survey = sources.survey
        self._rows = rows

    def of(self, known: cloud.Cloud, *, everything: bool) -> cloud.Placement:
        """Return placement with the contents of these providers."""
        suspects = audit.suspects(known)
        traitless = suspects.traitless - suspects.dead
        if not everything:
            traitless = self._without_free(traitless)
        wanted = traitless | suspects.dead
        if everything:
            wanted |= set(self._rows)
        found: dict[str, cloud.Contents | None] = {}
        hosts = known.placement.compute_nodes

        def step(uuid: str) -> None:
            found[uuid] = self._read(
                self._rows[uuid],
                is_dead=uuid in suspects.dead,
                is_traitless=uuid in traitless,
                is_peer=everything and uuid in hosts,
            )
            self._sources.advance(len(wanted))

        parallel.each(sorted(wanted), step, workers=self._sources.workers)
        return dataclasses.replace(
            known.placement,
            contents={
                uuid: contents
                for uuid, contents in sorted(found.items())
                if contents is not None
            },
            changing=frozenset(
                uuid for uuid, contents in found.items() if contents is None
            ),
        )

    def _without_free(self, traitless: frozenset[str]) -> frozenset[str]:
        """Drop providers that have free capacity, and so an inventory.

        This asks once for each resource class, if that takes fewer requests
        than to read each provider.
        """
        classes = sorted(self._survey.resource_classes()) if traitless else []
        for rc in classes:
            if len(traitless) <= len(classes):
                break
            traitless -= self._survey.with_free(rc)
        return traitless

    def _read(
        self,
        row: codec.ListedProvider,
        *,
        is_dead: bool,
        is_traitless: bool,
        is_peer: bool,
    ) -> cloud.Contents | None:
        """Return the contents of one provider, None if it kept changing."""
        age = self._age(row) if is_dead and row.parent_uuid is None else None
        use = self._survey.use(row)
        if use is None:
            return None
        contents = cloud.Contents(
            inventories={
                rc: cloud.Inventory(
                    total=total, reserved=reserved, allocation_ratio=ratio
                )
                for rc, (total, reserved, ratio) in use.inventories.items()
            },
            allocations=use.allocations,
            age=age,
        )
        if is_dead or is_peer:
            traits = self._survey.names_of(row, assertion.Kind.TRAIT)
            if traits is None or traits[0] != use.generation:
                return None
            contents = dataclasses.replace(contents, traits=traits[1])
        is_bare = is_traitless and not use.inventories
        if is_peer or (is_bare and not is_dead):
            members = self._survey.names_of(row, assertion.Kind.AGGREGATE)
            if members is None or members[0] != use.generation:
                return None
            contents = dataclasses.replace(contents, aggregates=members[1])
        return contents

    def _age(self, row: codec.ListedProvider) -> float | None:
        changed = self._survey.changed_at(row)
        return None if changed is None else self._sources.clock() - changed
