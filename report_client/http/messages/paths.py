# SPDX-License-Identifier: Apache-2.0
"""The paths of placement's API, with their queries.

Pure: no I/O, configuration, logging or clock. The routes are those of
placement's API reference.
"""

import urllib.parse
from collections.abc import Iterable

from compute_agent.tree import assertion, names

PROVIDERS = '/resource_providers'
TRAITS = '/traits'
RESOURCE_CLASSES = '/resource_classes'
CONSUMERS = '/allocations/'
USAGES = '/usages'
RESHAPER = '/reshaper'
COLLECTIONS = {
    assertion.Kind.TRAIT: 'traits',
    assertion.Kind.AGGREGATE: 'aggregates',
    assertion.Kind.INVENTORY: 'inventories',
}


def in_tree(uuid: str) -> str:
    """Return the path that lists one tree (1.14).

    :param uuid: any provider of the tree
    """
    return f'{PROVIDERS}?in_tree={uuid}'


def sharing(aggregates: Iterable[str]) -> str:
    """Return the path that lists sharing providers.

    :param aggregates: only members of any of these; empty for all
    """
    query = {'required': names.MISC_SHARES_VIA_AGGREGATE}
    members = ','.join(sorted(aggregates))
    if members:
        query['member_of'] = f'in:{members}'
    return f'{PROVIDERS}?{urllib.parse.urlencode(query, safe=":,")}'


def members(aggregates: Iterable[str]) -> str:
    """Return the path that lists the providers in any of these (1.3)."""
    return f'{PROVIDERS}?member_of=in:{",".join(aggregates)}'


def by_name(name: str) -> str:
    """Return the path that lists the provider with a name."""
    return f'{PROVIDERS}?{urllib.parse.urlencode({"name": name})}'


def by_uuid(uuid: str) -> str:
    """Return the path that lists the provider with a uuid."""
    return f'{PROVIDERS}?uuid={uuid}'


def provider(uuid: str) -> str:
    """Return the path of one provider."""
    return f'{PROVIDERS}/{uuid}'


def by_trait(name: str) -> str:
    """Return the path that lists the providers with a trait (1.18)."""
    return f'{PROVIDERS}?required={name}'


def trait(name: str) -> str:
    """Return the path of one trait."""
    return f'{TRAITS}/{name}'


def resource_class(name: str) -> str:
    """Return the path of one resource class."""
    return f'{RESOURCE_CLASSES}/{name}'


def with_free(rc: str) -> str:
    """Return the path that lists the providers with free capacity (1.4)."""
    return f'{PROVIDERS}?resources={rc}:1'


def collection(uuid: str, kind: assertion.Kind) -> str:
    """Return the path of one provider's traits, aggregates or inventories."""
    return f'{PROVIDERS}/{uuid}/{COLLECTIONS[kind]}'


def allocations(uuid: str) -> str:
    """Return the path of the allocations from one provider."""
    return f'{PROVIDERS}/{uuid}/allocations'


def usages(uuid: str) -> str:
    """Return the path of the allocated amounts of one provider."""
    return f'{PROVIDERS}/{uuid}/usages'


def consumer(consumer: str) -> str:
    """Return the path of one consumer's allocations."""
    return f'{CONSUMERS}{consumer}'
