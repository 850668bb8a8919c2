# SPDX-License-Identifier: Apache-2.0
"""The record as rows: a row for each provider and each of its names.

Pure: no I/O, configuration, logging or clock. ``state/state.py`` makes the
accounts, ``state show`` prints the rows.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from ...plan.intents import Intent
from ...tree import assertion
from ..record import Record

PROVIDER = 'provider'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The record of one node's providers.

    :ivar node: the node's name; empty for providers of no node
    :ivar names: each provider's name when it was last seen
    :ivar providers: their uuids, the node's first
    """

    node: str
    providers: Sequence[str]
    names: Mapping[str, str]
    record: Record
    intents: Mapping[str, Sequence[Intent]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One name of one provider, or the provider itself.

    :ivar ours: this agent added it; None for a provider
    :ivar created: this agent created or adopted the provider
    :ivar claimed_by: the sources that claim it; a source that claims it for
        another node is given with that node
    :ivar unconfirmed: True if the write was sent, and no answer came
    """

    node: str
    provider: str
    uuid: str
    kind: str
    name: str
    ours: bool | None
    created: bool
    claimed_by: tuple[str, ...]
    unconfirmed: bool


def rows(account: Account) -> Iterator[Row]:
    """Yield the rows of one node, provider by provider."""
    for uuid in account.providers:
        yield _row(account, uuid, None, '')
        for kind in assertion.Kind:
            for name in sorted(_names(account, uuid, kind)):
                yield _row(account, uuid, kind, name)


def _names(
    account: Account, uuid: str, kind: assertion.Kind
) -> frozenset[str]:
    record, key = account.record, (uuid, kind)
    return frozenset[str]().union(
        record.ours.get(key, ()),
        *(names for _, names in record.claimants(key)),
        *(i.added for i in account.intents.get(uuid, ()) if i.kind is kind),
    )


def _row(
    account: Account, uuid: str, kind: assertion.Kind | None, name: str
) -> Row:
    record = account.record
    ours, claimed_by = None, tuple[str, ...]()
    if kind is not None:
        ours = name in record.ours.get((uuid, kind), ())
        claimants = record.claimants((uuid, kind))
        claimed_by = tuple(
            source for source, names in claimants if name in names
        )
    return Row(
        node=account.node,
        provider=account.names.get(uuid, ''),
        uuid=uuid,
        kind=PROVIDER if kind is None else kind.value,
        name=name,
        ours=ours,
        created=uuid in record.created,
        claimed_by=claimed_by,
        unconfirmed=any(
            i.kind is kind and (kind is None or name in i.added)
            for i in account.intents.get(uuid, ())
        ),
    )
