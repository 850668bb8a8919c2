# SPDX-License-Identifier: Apache-2.0
"""The content of placement before and after a step, compared.

Pure: no I/O, configuration, logging or clock. The checks of rules call it; a
difference is a line for the driver's author.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Held = Mapping[str, Mapping[str, Any]]

_KINDS = ('inventories', 'traits', 'aggregates')


def difference(before: Held, now: Held) -> str:
    """Return the first difference between two contents, '' if there is none."""
    return next(_differences(before, now), '')


def _differences(before: Held, now: Held) -> Iterator[str]:
    yield from _losses(before, now)
    for name, row in now.items():
        if name in before:
            yield from _of_provider(name, before[name], row)
        else:
            yield f'provider {name} is new'


def _of_provider(
    name: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is new or another in a provider that stayed."""
    for kind in _KINDS:
        was, has = before.get(kind) or {}, now.get(kind) or {}
        for one in sorted(set(has) - set(was)):
            yield f'provider {name} has {one}, which it had not'
        if isinstance(has, Mapping):
            for one in sorted(set(has) & set(was)):
                if has[one] != was[one]:
                    yield (
                        f'{one} of provider {name} was {was[one]} and is '
                        f'{has[one]}'
                    )
    for key in ('uuid', 'parent'):
        was, has = before.get(key), now.get(key)
        if was != has:
            yield f'the {key} of provider {name} was {was} and is {has}'


def _losses(before: Held, now: Held) -> Iterator[str]:
    for name in before:
        if name not in now:
            yield f'provider {name} is gone'
            continue
        for kind in _KINDS:
            was, has = before[name].get(kind) or {}, now[name].get(kind) or {}
            for one in sorted(set(was) - set(has)):
                yield f'{one} of provider {name} is gone'
