# SPDX-License-Identifier: Apache-2.0
"""The providers that one writer reported, without what no writer chooses.

Uuids and generations are left out, and the root is named ``root``, so that the
reports of two writers can be compared.
"""

import dataclasses
import typing
from collections.abc import Mapping

import requests

HEADERS = {
    'X-Auth-Token': 'admin',
    'X-Roles': 'admin,service',
    'OpenStack-API-Version': 'placement 1.39',
}
ROOT = 'root'
PATIENCE = 30  # seconds

Inventory: typing.TypeAlias = Mapping[str, Mapping[str, float]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider.

    :ivar parent: its parent's name; empty for the root
    """

    parent: str
    inventory: Inventory
    traits: frozenset[str]
    aggregates: frozenset[str]


Report: typing.TypeAlias = Mapping[str, Provider]


class Placement:
    """Placement as the operator of both writers sees it."""

    def __init__(self, url: str) -> None:
        self._url = url

    def report(self) -> Report:
        """Return provider name → provider; names begin with ``root``."""
        listed = self._listed()
        names = _names(listed)
        return {
            names[one['uuid']]: Provider(
                parent=names.get(one['parent_provider_uuid'], ''),
                inventory=self._of(one, 'inventories'),
                traits=frozenset(self._of(one, 'traits')),
                aggregates=frozenset(self._of(one, 'aggregates')),
            )
            for one in listed
        }

    def empty(self) -> None:
        """Delete all providers, children first."""
        left = self._listed()
        while left:
            parents = {one['parent_provider_uuid'] for one in left}
            for one in left:
                if one['uuid'] not in parents:
                    self._ask('DELETE', f'/resource_providers/{one["uuid"]}')
            left = self._listed()

    def _listed(self) -> list[dict[str, typing.Any]]:
        found: list[dict[str, typing.Any]] = self._ask(
            'GET', '/resource_providers'
        )['resource_providers']
        return found

    def _of(self, one: Mapping[str, typing.Any], kind: str) -> typing.Any:
        return self._ask('GET', f'/resource_providers/{one["uuid"]}/{kind}')[
            kind
        ]

    def _ask(self, method: str, path: str) -> typing.Any:
        answer = requests.request(
            method, self._url + path, headers=HEADERS, timeout=PATIENCE
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None


def _names(listed: list[dict[str, typing.Any]]) -> dict[str, str]:
    """Return uuid → name; every name of a child begins with its root's."""
    roots = {
        one['uuid']: one['name']
        for one in listed
        if one['parent_provider_uuid'] is None
    }
    return {
        one['uuid']: ROOT
        + one['name'].removeprefix(roots[one['root_provider_uuid']])
        for one in listed
    }
