# SPDX-License-Identifier: Apache-2.0
"""CUSTOM_PMEM_NAMESPACE_*: persistent memory that guests may have.

Pure: no I/O, configuration, logging or clock. An option names the namespaces
of each class, and ``ndctl`` lists those of the host. ``reading/``
runs it.
"""

import json
from collections.abc import Iterable, Mapping

from compute_agent import errors
from compute_agent.tree import names

OPTION = '[libvirt] pmem_namespaces'
COMMAND = ('ndctl', 'list', '-X')

# Resource class → the names of its namespaces.
Namespaces = Mapping[str, tuple[str, ...]]


def parse(texts: Iterable[str]) -> Namespaces:
    """Return the namespaces of each class, from ``LABEL:NAME|NAME`` texts.

    :raises errors.ConfigError: a text has another form, or a name is repeated
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        label, colon, rest = (part.strip() for part in text.partition(':'))
        named = tuple(name.strip() for name in rest.split('|'))
        if not (label and colon and all(named)):
            raise errors.ConfigError(
                f'{OPTION} has {text[:60]!r}: write LABEL:NAME|NAME'
            )
        rc = _resource_class(label)
        found[rc] = (*found.get(rc, ()), *named)
    every = [name for named in found.values() for name in named]
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise errors.ConfigError(
            f'{OPTION} names {", ".join(twice)} twice: a namespace has one '
            'label'
        )
    return found


def _resource_class(label: str) -> str:
    try:
        return names.custom_name(f'PMEM_NAMESPACE_{label}')
    except errors.InvalidName as exc:
        raise errors.ConfigError(f'{OPTION}: {exc}') from exc


def names_on_host(answer: str) -> frozenset[str]:
    """Return the names of the host's namespaces, from the answer of ndctl.

    A namespace without a name cannot be configured. ndctl prints nothing if
    the host has none; old releases print a single one as an object, not a list.

    :raises errors.DriverError: the answer cannot be read
    """
    try:
        found = json.loads(answer) if answer.strip() else []
        listed = found if isinstance(found, list) else [found]
        named = [one.get('name') for one in listed]
    # Deeply nested brackets exhaust the parser's stack.
    except (ValueError, AttributeError, RecursionError) as exc:
        raise errors.DriverError(
            'ndctl list gave an answer that cannot be read'
        ) from exc
    return frozenset(name for name in named if isinstance(name, str) and name)


def check(rc: str, wanted: Iterable[str], existing: frozenset[str]) -> None:
    """Check that the host has all namespaces of a class.

    :raises errors.DriverError: a namespace is missing
    """
    missing = [name for name in wanted if name not in existing]
    if missing:
        raise errors.DriverError(
            f'{OPTION} names {", ".join(missing)} for {rc}, but ndctl lists '
            'no such namespace on this host: create it, or correct the option'
        )
