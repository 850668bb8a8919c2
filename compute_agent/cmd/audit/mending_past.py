# SPDX-License-Identifier: Apache-2.0
"""The entries of the history about what the repairs of an audit deleted."""

from collections.abc import Iterator, Mapping

from report_client.http import codec

from ...plan import allocations
from ...plan.change import Change
from ...plan.history_entry import Entry, What
from . import gathering


def trait(name: str) -> Entry:
    """Return the entry about a trait that is deleted."""
    return Entry(what=What.DROPPED_TRAIT, text=name)


def provider(row: codec.ListedProvider) -> Entry:
    """Return the entry about a provider that is deleted."""
    change = Change(uuid=row.uuid, kind=None, existed=True, exists=False)
    return Entry(
        what=What.DELETED,
        node_uuid=row.root_uuid,
        uuid=row.uuid,
        provider=row.name,
        changes=(change,),
    )


def consumer(
    freed: allocations.Consumer, rows: gathering.Rows
) -> Iterator[Entry]:
    """Yield an entry for each provider that a consumer no longer uses.

    :param rows: the providers by uuid, as the audit read them
    """
    for uuid in sorted(freed.allocations):
        row = rows.get(uuid)
        yield Entry(
            what=What.FREED,
            node_uuid=row.root_uuid if row else '',
            uuid=uuid,
            provider=row.name if row else '',
            text=f'consumer {freed.uuid}: {_amounts(freed.allocations[uuid])}',
        )


def _amounts(freed: Mapping[str, int]) -> str:
    return ', '.join(f'{rc}={freed[rc]}' for rc in sorted(freed))
