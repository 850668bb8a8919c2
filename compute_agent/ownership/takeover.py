# SPDX-License-Identifier: Apache-2.0
"""The first write to a provider that another writer created.

Pure: no I/O, configuration, logging or clock. Such a provider may have
inventory that guests use, so the first write needs a person's yes, once. The
state database records the yes. ``cycle/node/node_planner.py`` asks which
providers of a plan need one; ``cycle/node/node_cycle.py`` sends nothing to them
without it.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from .. import error_text
from ..limits import approval
from ..plan.operations.operations import Operation
from ..tree import assertion, names, provider, working_copy
from ..tree.assertion import Kind
from .record import Record

_ADVICE = (
    '"compute-agent plan" shows it; to allow it, run "compute-agent sync --yes" '
    '(also beside a running daemon, which then writes at once), or set '
    '[compute_agent] adopt_existing_roots = true and send SIGHUP to the daemon'
)
_BESIDE_NOVA = (
    '; if nova-compute goes on to report this node, set [compute_agent] mode = '
    'companion instead'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """A provider of another writer, and the losses of the first write to it.

    :ivar is_root: True for the node's own root
    :ivar classes: the resource classes that the write removes
    :ivar smaller: the resource classes whose totals it lowers
    :ivar traits: the traits that it removes
    :ivar aggregates: the aggregates that it removes
    """

    provider: provider.Provider
    is_root: bool
    classes: frozenset[str] = frozenset()
    smaller: frozenset[str] = frozenset()
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """Return the message for the operator, without changing numbers."""
        subject = 'its root provider' if self.is_root else str(self.provider)
        return (
            f'the first write to {subject} needs a yes, because '
            f'{_creator(self.provider)} created it{self._inventory()}; the '
            f'write would {self._losses()}; {_ADVICE}{self._beside_nova()}'
        )

    def brief(self) -> str:
        """Return the write as a line for a list, without advice."""
        return (
            f'the first write to {self.provider}, which '
            f'{_creator(self.provider)} created; it would {self._losses()}'
        )

    def _inventory(self) -> str:
        return ' and it has inventory' if self.provider.inventories else ''

    def _beside_nova(self) -> str:
        is_novas = self.is_root and names.OWNER_NOVA in self.provider.traits
        return _BESIDE_NOVA * is_novas

    def _losses(self) -> str:
        parts = [
            f'{verb} {error_text.listed(found)}'
            for verb, found in (
                ('remove the inventory of', self.classes),
                ('lower the total of', self.smaller),
                ('remove', self.traits | self.aggregates),
            )
            if found
        ]
        return ' and '.join(parts) or 'take nothing away'


def summary(nodes: Sequence[str]) -> str:
    """Return one message for many nodes whose first writes need a yes."""
    return (
        f'{len(nodes)} nodes wait, because the first write to a provider that '
        'another writer created and that has inventory needs a yes: '
        f'{error_text.listed(nodes)}; {_ADVICE}'
    )


def subject(waiting: Takeover) -> approval.Subject:
    """Return the first write to a provider as a subject of an approval."""
    return approval.subject(
        approval.Kind.FIRST_WRITE, (waiting.provider.uuid,)
    )


def takeovers(
    node_uuid: str,
    before: provider.Snapshot,
    described: Iterable[str],
    operations: Iterable[Operation],
    record: Record,
    *,
    asks_beside_nova: bool = False,
) -> tuple[Takeover, ...]:
    """Return the first writes to other writers' providers in a plan.

    :param described: the providers that the driver describes. A provider that
        it removed, and that cannot be deleted, is reserved without a question.
    :param asks_beside_nova: True if the operator did not say that this agent,
        and not nova-compute, reports the node; then a root with OWNER_NOVA
        needs a yes also without inventory
    """
    planned = list(operations)
    touched = frozenset[str]().union(*(op.providers for op in planned))
    found = [
        uuid
        for uuid in described
        if uuid in touched
        and uuid in before
        and (
            before[uuid].inventories
            or (
                asks_beside_nova
                and uuid == node_uuid
                and names.OWNER_NOVA in before[uuid].traits
            )
        )
        and (
            not is_written(record, uuid)
            or (uuid == node_uuid and _only_added_to(record, uuid))
        )
    ]
    if not found:
        return ()
    after: provider.Snapshot = working_copy.WorkingCopy(before)
    for operation in planned:
        after = operation.apply_to(after)
    return tuple(
        _takeover(before[uuid], after, is_root=uuid == node_uuid)
        for uuid in found
    )


def is_written(record: Record, uuid: str) -> bool:
    """Return True if the provider is this agent's, or has a name of its own."""
    return (
        uuid in record.created
        or uuid in record.taken_over
        or any(added for (u, _), added in record.ours.items() if u == uuid)
    )


def _only_added_to(record: Record, root: str) -> bool:
    """Return True if this agent wrote to the root as a companion only.

    An owner claims COMPUTE_NODE and OWNER_NOVA on its roots, and a reporter
    has inventory there.
    """
    claims = record.claims.get((root, Kind.TRAIT), {})
    return (
        root not in record.created | record.taken_over
        and assertion.AGENT not in claims
        and not record.ours.get((root, Kind.INVENTORY))
    )


def is_reported(record: Record, uuid: str) -> bool:
    """Return True if this agent ever reported the provider for the node.

    A provider whose first write waits for a yes was not reported yet.
    """
    return is_written(record, uuid) or any(u == uuid for u, _ in record.claims)


def _takeover(
    old: provider.Provider,
    after: Mapping[str, provider.Provider],
    *,
    is_root: bool,
) -> Takeover:
    new = after[old.uuid]
    return Takeover(
        provider=old,
        is_root=is_root,
        classes=frozenset(old.inventories.keys() - new.inventories.keys()),
        smaller=frozenset(
            rc
            for rc, record in new.inventories.items()
            if rc in old.inventories
            and record.total < old.inventories[rc].total
        ),
        traits=old.traits - new.traits,
        aggregates=old.aggregates - new.aggregates,
    )


def _creator(one: provider.Provider) -> str:
    """Return the creator as far as the owner traits tell."""
    if names.OWNER_NOVA in one.traits:
        return f'nova-compute (by its trait {names.OWNER_NOVA})'
    owners = sorted(t for t in one.traits if t.startswith(names.OWNER_PREFIX))
    if owners:
        return f'another writer (by its trait {owners[0]})'
    return 'another writer'
