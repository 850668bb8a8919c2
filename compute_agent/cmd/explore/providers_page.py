# SPDX-License-Identifier: Apache-2.0
"""The table of providers: searched, filtered, sorted, a page at a time.

Its rows are those of ``resource provider list -f json``.
"""

import typing
from collections.abc import Callable, Mapping, Sequence

from report_client.api.values import provider_query, trait_query
from report_client.http.messages import codec

from ..provider import provider as provider_command
from .source import Source
from .values.gate import Asked

SIZE = 100  # rows of a page
FIELDS = (
    'search', 'has', 'lacks', 'aggregate', 'resources', 'kind', 'sort', 'page'
)  # fmt: skip
HOSTS, ROOTS, POOLS, CHILDREN = KINDS = ('hosts', 'roots', 'pools', 'children')

_Row = codec.ListedProvider
_SORTS: Mapping[str, Callable[[_Row], typing.Any]] = {
    'name': lambda row: (row.name, row.uuid),
    'generation': lambda row: (row.generation, row.name),
    'uuid': lambda row: row.uuid,
}


def data(source: Source, asked: Asked) -> dict[str, typing.Any]:
    """Return one page of the table, and the form that was filled in.

    :raises errors.AgentError: a condition is wrong, or placement did not
        answer
    """
    source.read_ahead()
    form = {name: asked.first(name) for name in FIELDS}
    choices = _choices(source, form)
    found: Sequence[_Row] = []
    if not choices:
        found = _sorted(_matching(source, form), form['sort'])
    pages = max(1, -(-len(found) // SIZE))
    page = min(max(1, _number(form['page'])), pages)
    shown = found[(page - 1) * SIZE : page * SIZE]
    pools = source.pools()
    named = source.names({row.root_uuid for row in shown})
    return {
        'form': form,
        'choices': choices,
        'count': len(found),
        'all': len(source.rows()),
        'page': page,
        'pages': pages,
        'providers': [_row(source, row, pools, named) for row in shown],
        'known_traits': list(source.traits()),
    }


def _row(
    source: Source,
    row: _Row,
    pools: frozenset[str],
    named: Mapping[str, str],
) -> dict[str, typing.Any]:
    values = provider_command.list_row(row)
    kind = 'pool' if row.uuid in pools else 'root'
    return {
        **dict(
            zip(provider_command.ProviderList.COLUMNS, values, strict=True)
        ),
        'Node': source.providers.title(row.uuid),
        'Tree': named.get(row.root_uuid, row.root_uuid),
        'Kind': kind if row.parent_uuid is None else 'child',
    }


def _choices(
    source: Source, form: dict[str, str]
) -> list[dict[str, typing.Any]]:
    """Return the traits that a part of a name may mean, to choose from.

    A condition that means one trait is written out in the form.
    """
    found = []
    for field in ('has', 'lacks'):
        meant = source.traits_like(form[field])
        if len(meant) > 1:
            found.append({'field': field, 'traits': list(meant)})
        elif meant:
            form[field] = meant[0]
    return found


def _matching(source: Source, form: Mapping[str, str]) -> Sequence[_Row]:
    query = provider_query.ProviderQuery(
        traits=trait_query.TraitQuery.parse(
            [
                text
                for text in (
                    form['has'],
                    form['lacks'] and f'!{form["lacks"]}',
                )
                if text
            ]
        ),
        resources=provider_query.parse_resources(
            filter(None, [form['resources']])
        ),
        member_of=tuple(
            provider_query.MemberOf.parse(text)
            for text in filter(None, [form['aggregate']])
        ),
    )
    is_whole = query == provider_query.ProviderQuery()
    rows = source.rows(None if is_whole else query)
    return (
        [
            row
            for row in _of_kind(source, rows, form['kind'])
            if _has(row, form['search'], source)
        ]
        if form['kind'] or form['search']
        else rows
    )


def _of_kind(
    source: Source, rows: Sequence[_Row], kind: str
) -> Sequence[_Row]:
    if kind == HOSTS:
        hosts = {row.uuid for row in source.hosts()}
        return [row for row in rows if row.uuid in hosts]
    if kind == POOLS:
        pools = source.pools()
        return [row for row in rows if row.uuid in pools]
    if kind in {ROOTS, CHILDREN}:
        is_root = kind == ROOTS
        return [r for r in rows if (r.parent_uuid is None) is is_root]
    return rows


def _has(row: _Row, text: str, source: Source) -> bool:
    """Return True if a text is in the name or the uuid of a provider."""
    part = text.casefold()
    return (
        part in row.name.casefold()
        or part in row.uuid
        or part in source.providers.title(row.uuid).casefold()
    )


def _sorted(rows: Sequence[_Row], by: str) -> Sequence[_Row]:
    """Return the rows in an order, such as ``name`` or ``-generation``."""
    key = _SORTS.get(by.removeprefix('-'))
    if key is None or by == 'name':
        return rows
    return sorted(rows, key=key, reverse=by.startswith('-'))


def _number(text: str) -> int:
    return (
        int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 1
    )
