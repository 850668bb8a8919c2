# SPDX-License-Identifier: Apache-2.0
"""Nova's hypervisors, services, flavors and consumers, for an audit.

A cell that is down hides its hosts and servers. Nova then lists its services
with the status UNKNOWN, so this module reports such an answer as incomplete.
"""

import dataclasses
from collections.abc import Collection

from ... import error_text, errors
from ...audit import cloud
from ...tree import names
from . import nova_api

NOT_ASKED = (
    'nova was not asked: [nova] auth_type is not set, and there is no '
    '--os-cloud'
)
_EMPTY = (
    'nova lists no nova-compute service: check the region and the user with '
    'which it is asked'
)

_ONE_BY_ONE = 20  # consumers for which nova is asked one by one
_TRAIT = 'trait'
_CLASS = 'resources'
_HOST = 'OS-EXT-SRV-ATTR:hypervisor_hostname'
_TASK = 'OS-EXT-STS:task_state'
# An evacuation is done once the server runs on its new host, and completed once
# the nova-compute of the old one has started again.
_EVACUATED = {'done', 'completed'}
_ENDED = _EVACUATED | {'failed', 'error'}
_ALL = {'all_tenants': 'True'}


class NovaAnswers:
    """The answers of one nova, or the reason why there are none.

    :param api: None if nova is not configured
    """

    def __init__(self, api: nova_api.NovaApi | None) -> None:
        self._api = api

    def hosts(self) -> cloud.Nova:
        """Return hypervisors, services and flavors; consumers are unknown.

        Four or more requests; their number grows by one for each thousand
        hypervisors or flavors.
        """
        if self._api is None:
            return cloud.Nova(problem=NOT_ASKED)
        try:
            services = _services(self._api)
            hypervisors = _hypervisors(self._api)
            flavors = _flavors(self._api)
        except errors.AgentError as exc:
            return _failed(exc)
        if not services and not hypervisors:
            return cloud.Nova(problem=_EMPTY, is_failure=True)
        return cloud.Nova(
            services=services,
            hypervisors=hypervisors,
            flavors={
                name: tuple(sorted(by))
                for (name, how), by in flavors.items()
                if how == 'required'
            },
            forbidden=frozenset(
                name for name, how in flavors if how == 'forbidden'
            ),
            wanted_classes={
                name: tuple(sorted(by))
                for (name, how), by in flavors.items()
                if how == _CLASS
            },
        )

    def with_consumers(
        self,
        hosts: cloud.Nova,
        consumers: Collection[str],
        divided: Collection[str] = (),
    ) -> cloud.Nova:
        """Return the same with those of the consumers that nova knows.

        :param divided: those that use several compute nodes; nova is asked
            where each is, two requests for each
        """
        if self._api is None or hosts.problem or not consumers:
            return hosts
        try:
            known = self.known(consumers)
            homes = {
                uuid: home
                for uuid in sorted(known.intersection(divided))
                if (home := self.home(uuid))
            }
        except errors.AgentError as exc:
            return _failed(exc)
        return dataclasses.replace(
            hosts, known_consumers=frozenset(known), homes=homes
        )

    def home(self, uuid: str) -> cloud.Home | None:
        """Return where a server is; None if it is no server, or on no host.

        :raises errors.AgentError: nova did not answer completely
        """
        if self._api is None:
            raise errors.ConfigError(NOT_ASKED)
        server = self._api.server(uuid)
        if server is None:
            return None
        host, task = server.get(_HOST), server.get(_TASK, '')
        if not isinstance(host, str) or not host:
            return None
        query = {'instance_uuid': uuid, 'migration_type': 'evacuation'}
        rows = [
            row
            for page in self._api.pages('/os-migrations', 'migrations', query)
            for row in page
        ]
        return cloud.Home(
            host=host,
            is_settled=task is None
            and all(row.get('status') in _ENDED for row in rows),
            evacuated=frozenset(
                str(row.get('source_node') or row.get('source_compute'))
                for row in rows
                if row.get('status') in _EVACUATED
                and row.get('instance_uuid') == uuid
                and row.get('migration_type') == 'evacuation'
            ),
        )

    def known(self, consumers: Collection[str]) -> set[str]:
        """Return those of the consumers that are servers or migrations.

        :raises errors.AgentError: nova did not answer completely
        """
        if self._api is None:
            raise errors.ConfigError(NOT_ASKED)
        api = self._api
        if len(consumers) <= _ONE_BY_ONE:
            found = {uuid for uuid in consumers if api.has_server(uuid)}
        else:
            found = _in_list(api, '/servers', 'servers', set(consumers))
        return found | _in_list(
            api, '/os-migrations', 'migrations', set(consumers) - found
        )


def _services(api: nova_api.NovaApi) -> frozenset[str]:
    """Return the hosts of all nova-compute services.

    :raises errors.UnknownState: a cell is down
    """
    rows = api.rows('/os-services', 'services', {'binary': 'nova-compute'})
    down = [row for row in rows if row.get('status') == 'UNKNOWN']
    if down:
        raise errors.UnknownState(
            f'a cell of nova is down: the status of {len(down)} nova-compute '
            'services is UNKNOWN'
        )
    return frozenset(nova_api.text(row, 'host') for row in rows)


def _hypervisors(api: nova_api.NovaApi) -> dict[str, str]:
    """Return the host name of each hypervisor, by uuid."""
    return {
        nova_api.identity(row).lower(): nova_api.text(
            row, 'hypervisor_hostname'
        )
        for page in api.pages('/os-hypervisors', 'hypervisors', {})
        for row in page
    }


def _flavors(api: nova_api.NovaApi) -> dict[tuple[str, str], list[str]]:
    """Return the flavors by custom name and what they say of it.

    Of a trait that is ``required`` or ``forbidden``, of a class ``resources``.
    """
    found: dict[tuple[str, str], list[str]] = {}
    query = {'is_public': 'None'}
    for page in api.pages('/flavors/detail', 'flavors', query):
        for row in page:
            specs = row.get('extra_specs')
            if not isinstance(specs, dict):
                raise errors.UnknownState(
                    'nova answered with a flavor without extra_specs: '
                    f'{error_text.excerpt(row)}'
                )
            for key, value in specs.items():
                # Either "trait:NAME" or "trait", a group, and ":NAME".
                group, _, name = key.partition(':')
                is_class = group.startswith(_CLASS)
                if names.is_custom(name) and (
                    is_class or group.startswith(_TRAIT)
                ):
                    how = _CLASS if is_class else str(value)
                    by = found.setdefault((name, how), [])
                    by.append(nova_api.text(row, 'name'))
    return found


def _in_list(
    api: nova_api.NovaApi, path: str, noun: str, wanted: set[str]
) -> set[str]:
    """Return those of the uuids that a list has; stop when all are found."""
    found: set[str] = set()
    if not wanted:
        return found
    query = _ALL if path == '/servers' else {}
    for page in api.pages(path, noun, query):
        found |= wanted & {nova_api.identity(row).lower() for row in page}
        if found == wanted:
            break
    return found


def _failed(exc: errors.AgentError) -> cloud.Nova:
    return cloud.Nova(
        problem=f'nova did not answer completely: {exc}', is_failure=True
    )
