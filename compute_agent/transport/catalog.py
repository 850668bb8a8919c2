# SPDX-License-Identifier: Apache-2.0
"""Find a service again that moved to another address of keystone's catalog.

keystoneauth keeps the catalog that came with a token for as long as the token
is valid, which may be a day. After a request without a usable answer,
``look_again`` asks keystone for the catalog as it is now. If it has another
address, the token is dropped, and the next request gets a token with the new
catalog. placement's API and Ironic's connection call it. It costs keystone no
password check, and at most one request per agent and minute.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from keystoneauth1 import adapter, discover, plugin
from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1.access import service_catalog
from keystoneauth1.identity import base as identity

from .. import error_text
from . import protection

LOG = logging.getLogger(__name__)

PAUSE = 60.0  # seconds from one look at the catalog to the next

_PATH = 'auth/catalog'
_OF_KEYSTONE = {
    'interface': plugin.AUTH_INTERFACE,
    'min_version': (3, 0),
    'max_version': (3, discover.LATEST),
}


class Catalog:
    """The address of one service in keystone's catalog; threads may share it.

    :param found: keystoneauth's adapter of the service
    :param service: the name of the service, for the log
    :param clock: a monotonic clock, in seconds
    """

    def __init__(
        self,
        found: adapter.Adapter,
        service: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._found = found
        self._service = service
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_at: float | None = None

    def look_again(self) -> None:
        """Drop the token if keystone's catalog has another address now.

        It does nothing if the address is not from a catalog, or if it looked
        less than a minute ago. It raises nothing: the caller has an error to
        raise already.
        """
        auth = self._found.auth or self._found.session.auth
        if (
            self._found.endpoint_override
            or not isinstance(auth, identity.BaseIdentityPlugin)
            or not self._is_due()
        ):
            return
        try:
            used = self._address(
                auth.get_access(self._found.session).service_catalog
            )
            fresh = self._read(auth)
            now = self._address(fresh)
            is_one_of_many = not self._found.region_name and any(
                one.url == used for one in self._everywhere(fresh)
            )
        except Exception as exc:  # noqa: BLE001 (of any plugin)
            LOG.debug("keystone's catalog cannot be read again: %r", exc)
            return
        # Without a region, keystoneauth takes the first one of the catalog. A
        # region that came since may be the first, and is another cloud.
        if now != used and not is_one_of_many:
            LOG.info(
                "keystone's catalog has %s at %s now, and not at %s",
                self._service,
                _shown(now),
                _shown(used),
            )
            auth.invalidate()

    def _is_due(self) -> bool:
        """Return True at most once a minute."""
        now = self._clock()
        with self._lock:
            last = self._looked_at
            if last is not None and now - last < PAUSE:
                return False
            self._looked_at = now
        return True

    def _read(self, auth: Any) -> service_catalog.ServiceCatalog:
        """Return the catalog that keystone gives for the token in use."""
        answer = self._found.session.get(
            _PATH,
            auth=auth,
            endpoint_filter=_OF_KEYSTONE,
            headers={'Accept': 'application/json'},
            redirect=False,
            rate_semaphore=protection.NO_RATE_LIMIT,
        )
        return service_catalog.ServiceCatalogV3(answer.json()['catalog'])

    def _everywhere(
        self, catalog: service_catalog.ServiceCatalog
    ) -> Iterator[discover.EndpointData]:
        """Yield the service's endpoints in all regions."""
        of_types = catalog.get_endpoints_data(
            service_type=self._found.service_type,
            interface=self._found.interface or 'public',
        )
        for endpoints in of_types.values():
            yield from endpoints

    def _address(self, catalog: service_catalog.ServiceCatalog) -> str | None:
        """Return the service's address in a catalog; None if it has none."""
        found = self._found
        try:
            data = catalog.endpoint_data_for(
                service_type=found.service_type,
                interface=found.interface or 'public',
                region_name=found.region_name,
                service_name=found.service_name,
            )
        except ksa_exceptions.EndpointNotFound:
            return None
        return data.url if data else None


def _shown(url: str | None) -> str:
    return error_text.address(url) if url else 'no address'
