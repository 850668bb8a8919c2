# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider show``: all of a provider, at one generation."""

import argparse
import typing
from collections.abc import Iterable, Iterator, Sequence

from ...tree import inventory
from ..app import command
from . import provider_change

if typing.TYPE_CHECKING:
    from report_client.api import provider_details
    from report_client.http import codec


class ProviderShow(command.Report):
    """Show all of a provider: its place, contents, usage and generation.

    All parts are those of the generation that is printed; give it to
    --generation of a command that changes the provider, if nothing may have
    changed in between. "allocations" is the number of consumers.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the provider."""
        parser = super().get_parser(prog_name)
        provider_change.add_provider(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the provider."""
        service = provider_change.providers(self)
        provider = service.find(parsed_args.provider)
        tree = {row.uuid: row for row in service.tree(provider)}
        details = service.details(provider)
        data = _data(provider, tree.values(), details)
        return data, '\n'.join(_lines(data)), 0


def _data(
    shown: 'codec.ListedProvider',
    tree: 'Iterable[codec.ListedProvider]',
    details: 'provider_details.Details',
) -> dict[str, typing.Any]:
    named = {row.uuid: {'name': row.name, 'uuid': row.uuid} for row in tree}
    parent = shown.parent_uuid
    return {
        'name': shown.name,
        'uuid': shown.uuid,
        'generation': details.generation,
        'parent': parent and named.get(parent, {'name': None, 'uuid': parent}),
        'root': named.get(
            shown.root_uuid, {'name': None, 'uuid': shown.root_uuid}
        ),
        'children': [
            named[row.uuid] for row in tree if row.parent_uuid == shown.uuid
        ],
        'traits': sorted(details.traits),
        'inventories': {
            rc: {**one.to_record(), 'used': details.used.get(rc, 0)}
            for rc, one in sorted(details.inventories.items())
        },
        'aggregates': sorted(details.aggregates),
        'allocations': len(details.consumers),
    }


def _lines(data: dict[str, typing.Any]) -> Iterator[str]:
    """Yield the lines of the text."""
    yield _title(data)
    yield f'  generation: {data["generation"]}'
    is_root = data['parent'] is None
    yield f'  parent: {"none" if is_root else _title(data["parent"])}'
    if not is_root:
        yield f'  root: {_title(data["root"])}'
    yield from _listed('children', [_title(row) for row in data['children']])
    records = data['inventories'].items()
    yield from _listed(
        'inventories', [_amounts(rc, one) for rc, one in records]
    )
    yield from _listed('traits', data['traits'])
    yield from _listed('aggregates', data['aggregates'])
    yield f'  allocations: {data["allocations"] or "none"}'


def _listed(noun: str, items: Sequence[str]) -> Iterator[str]:
    yield f'  {noun}:' if items else f'  {noun}: none'
    for item in items:
        yield f'    {item}'


def _amounts(rc: str, record: dict[str, typing.Any]) -> str:
    """Return an inventory as one line; defaults of placement are left out."""
    fields = {key: n for key, n in record.items() if key != 'used'}
    usual = inventory.Inventory(total=record['total']).to_record()
    parts = [str(fields.pop('total'))]
    ratio = fields.pop('allocation_ratio')
    parts += [f'{key} {n}' for key, n in fields.items() if n != usual[key]]
    parts += [f'allocation_ratio {ratio:g}'] if ratio != 1 else []
    free = (record['total'] - record['reserved']) * ratio
    return f'{rc}: {", ".join(parts)}; used {record["used"]} of {int(free)}'


def _title(named: dict[str, typing.Any]) -> str:
    from ...tree import provider  # noqa: PLC0415 (quick --help)

    return provider.title(named['name'] or named['uuid'], named['uuid'])
