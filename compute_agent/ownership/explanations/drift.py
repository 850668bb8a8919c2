# SPDX-License-Identifier: Apache-2.0
"""The drift: what other writers changed since the agent and placement agreed.

Pure: no I/O, configuration, logging or clock. The agreed state is that after
the agent's last write to a provider, or the first one that it saw. The record
tells what a source claims, so the fate of most changes is known without the
driver. If only the driver could tell, the fate is unknown, not guessed.
"""

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping

from ...plan import change as changes
from ...plan.change import Change
from ...tree import assertion, names, provider
from ...tree.assertion import Kind
from .. import takeover
from ..policy import Policy, is_protected
from ..record import Record

_MAYBE = (
    'it goes only if the driver gives a complete list ("compute-agent plan" '
    'asks it)'
)
_RATIO = (
    "an allocation ratio is the operator's; it is set again only if the driver "
    'or a file gives one ("compute-agent plan" asks them)'
)


class Fate(enum.StrEnum):
    """The treatment of a change by the agent's next cycle."""

    RESTORED = 'restored'
    REMOVED = 'removed'
    LEFT = 'left alone'
    DRIVER = 'depends on the driver'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One change of another writer.

    :ivar provider: as placement has it, or had it before it was deleted
    :ivar change: the difference between the agreed state and placement;
        without a kind if it concerns the provider itself
    :ivar text: the provider's change of name or place, if it is that
    :ivar why: the reason for the fate
    """

    provider: provider.Provider
    change: Change
    fate: Fate
    why: str
    text: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The knowledge about one node, without its driver.

    :ivar node_uuid: the node's root
    :ivar agreed: the providers as agreed
    :ivar live: the providers as placement has them
    :ivar seen: the providers as the agent's last cycle saw them
    """

    node_uuid: str
    agreed: provider.Snapshot
    live: provider.Snapshot
    seen: provider.Snapshot
    record: Record
    policy: Policy


def drift(known: Known) -> list[Drift]:
    """Return the changes of other writers on one node, with their fates."""
    found = [*_Comparison(known).drift()]
    who = takeover.others(
        takeover.marks_on(
            known.node_uuid,
            known.live,
            known.record,
            known.policy.mark,
        )
    )
    if not who:
        return found
    why = f'{who} reports the node'
    return [dataclasses.replace(d, fate=Fate.LEFT, why=why) for d in found]


class _Comparison:
    """The work of ``drift``, one provider at a time."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._record, self._policy = known.record, known.policy
        self._contended = {
            (item.uuid, item.kind, item.name)
            for item in known.policy.contended
        }

    def drift(self) -> Iterator[Drift]:
        agreed, live = self._known.agreed, self._known.live
        for uuid, old in agreed.items():
            if uuid in live:
                yield from self._provider(old, live[uuid])
            else:
                yield self._gone(old)
        for uuid, new in live.items():
            if uuid not in agreed:
                yield _new(new)

    def _gone(self, old: provider.Provider) -> Drift:
        is_root = old.uuid == self._known.node_uuid
        waits = is_root and not self._policy.orders.recreates_roots
        if is_root and self._policy.is_companion:
            fate, why = Fate.LEFT, "the root is nova-compute's"
        elif waits and old.traits >= names.AGENT_TRAITS:
            fate, why = Fate.LEFT, 'recreate_roots is false'
        elif is_root or old.uuid in self._record.created:
            fate, why = Fate.RESTORED, 'the agent reports the provider'
        else:
            fate, why = Fate.LEFT, 'another writer created it'
        deleted = Change(uuid=old.uuid, kind=None, existed=True, exists=False)
        return Drift(provider=old, change=deleted, fate=fate, why=why)

    def _provider(
        self, old: provider.Provider, new: provider.Provider
    ) -> Iterator[Drift]:
        if (old.name, old.parent_uuid) != (new.name, new.parent_uuid):
            yield self._moved(old, new)
        for kind in Kind:
            for change in changes.between(old, new, kind):
                fate, why = self._fate(change, kind)
                yield Drift(provider=new, change=change, fate=fate, why=why)

    def _moved(self, old: provider.Provider, new: provider.Provider) -> Drift:
        here = Change(uuid=new.uuid, kind=None, existed=True, exists=True)
        if new.uuid == self._known.node_uuid:
            fate = Fate.LEFT
            why = (
                'the node waits: see "compute-agent resource provider rename"'
            )
        elif new.uuid in self._record.created:
            fate, why = Fate.RESTORED, 'the agent created it'
        else:
            fate, why = Fate.LEFT, 'another writer created it'
        parts = []
        if old.name != new.name:
            parts.append(f'renamed from {old.name}')
        if old.parent_uuid != new.parent_uuid:
            parts.append(f'moved from below {old.parent_uuid or "nothing"}')
        text = ', '.join(parts)
        return Drift(provider=new, change=here, fate=fate, why=why, text=text)

    # --- names ----------------------------------------------------------------

    def _fate(self, change: Change, kind: Kind) -> tuple[Fate, str]:
        """Return the fate of one name, and the reason."""
        if (change.uuid, kind, change.name) in self._contended:
            return Fate.LEFT, 'contended: another writer undoes it again'
        sources = [*self._claimants(change, kind)]
        if not sources:
            return self._unclaimed(change, kind)
        claimed = f'claimed by {", ".join(sources)}'
        if kind is Kind.TRAIT and self._policy.masks(change.name):
            return Fate.LEFT, 'masked by masked_traits'
        if not change.existed:
            return Fate.LEFT, claimed
        if change.exists and self._is_only_a_ratio(change):
            return self._of_a_ratio(change)
        return Fate.RESTORED, claimed

    def _of_a_ratio(self, change: Change) -> tuple[Fate, str]:
        """Return the fate of a ratio that another writer changed."""
        seen = self._known.seen.get(change.uuid)
        if seen and seen.inventories.get(change.name) == change.after:
            return Fate.LEFT, "the operator's ratio; an earlier cycle left it"
        return Fate.DRIVER, _RATIO

    def _unclaimed(self, change: Change, kind: Kind) -> tuple[Fate, str]:
        """Return the fate of a name that no source claims."""
        if change.existed:
            return Fate.LEFT, 'no source claims it'
        if kind is Kind.TRAIT and is_protected(change.name):
            return Fate.LEFT, 'another service decides it'
        if kind is Kind.TRAIT and self._is_decided(change.name):
            return Fate.REMOVED, 'the driver decides it and did not report it'
        seen = self._known.seen.get(change.uuid)
        if seen is not None and change.name in seen.names_of(kind):
            return Fate.LEFT, "another writer's; an earlier cycle left it"
        if any(map(assertion.is_driver, self._sources(change.uuid, kind))):
            return Fate.DRIVER, _MAYBE
        return Fate.LEFT, "another writer's"

    def _is_decided(self, trait: str) -> bool:
        return any(
            self._policy.decides(source, trait)
            for source in self._policy.authority
        )

    def _is_only_a_ratio(self, change: Change) -> bool:
        """Return True if only the ratio changed, and no option forces it."""
        if change.before is None or change.after is None:
            return False
        if change.name in self._policy.ratios.forced:
            return False
        ratio = change.after.allocation_ratio
        same = dataclasses.replace(change.before, allocation_ratio=ratio)
        return same == change.after

    def _claimants(self, change: Change, kind: Kind) -> Iterator[str]:
        for source, claimed in self._record.claimants((change.uuid, kind)):
            if change.name in claimed:
                yield assertion.title(source)

    def _sources(self, uuid: str, kind: Kind) -> Iterable[str]:
        by_source: Mapping[str, frozenset[str]] = self._record.claims.get(
            (uuid, kind), {}
        )
        return [source for source, claimed in by_source.items() if claimed]


def _new(new: provider.Provider) -> Drift:
    return Drift(
        provider=new,
        change=Change(uuid=new.uuid, kind=None, existed=False, exists=True),
        fate=Fate.LEFT,
        why='another writer created it',
    )
