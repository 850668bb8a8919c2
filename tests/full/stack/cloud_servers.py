# SPDX-License-Identifier: Apache-2.0
"""The servers of the stack: each can end, and starts again at its address.

Keystone, placement and Ironic have TLS in front; keystone's catalog names
them. Keystone has a clock that steps with the days, so tokens of yesterday are
expired.
"""

import contextlib
import pathlib
from collections.abc import Sequence

import local_libvirt
import openstack_server
import secure_cloud
import tls_front
import trustme

from benchmarks.sync_cycles import postgresql
from demo import ironic_settings, local_ironic

# Seconds for which a token is valid. Clients replace one two minutes before its
# end, so a shorter time would mean a new one for each request.
EXPIRATION = 300
CACHE = 15  # seconds for which a service takes a token for checked
_IRONIC = '\n[DEFAULT]\nrbac_service_role_elevated_access = true\n'


class PostgreSQL:
    """PostgreSQL at one address, with data that stay."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._port = openstack_server.steady_port()
        self._undo = contextlib.ExitStack()

    def start(self) -> postgresql.PostgreSQL:
        """Start it; return when it answers."""
        running = postgresql.started(self._folder, self._port)
        return self._undo.enter_context(running)

    def stop(self) -> None:
        """End it."""
        self._undo.close()


class Ironic(local_ironic.LocalIronic):
    """An Ironic that asks keystone.

    :param middleware: the section ``[keystone_authtoken]``
    """

    def __init__(self, directory: pathlib.Path, middleware: str) -> None:
        port = openstack_server.steady_port()
        super().__init__(
            directory,
            port,
            local_ironic.installed(openstack_server.ROOT),
            patience=openstack_server.PATIENCE,
        )
        text = ironic_settings.text(port, http_basic=False).replace(
            'auth_strategy = noauth', 'auth_strategy = keystone'
        )
        self._settings = text + middleware + _IRONIC

    def _configure(self) -> None:
        (self._directory / 'ironic.conf').write_text(self._settings)


class Servers:
    """All servers, from their first start to their end.

    :ivar cloud: the operator of keystone
    :ivar authority: the file of who signed the certificates
    """

    def __init__(
        self, folder: pathlib.Path, keystone_s_clock: Sequence[str]
    ) -> None:
        self._undo = contextlib.ExitStack()
        self.authority = folder / 'ca.pem'
        self.postgresql = PostgreSQL(folder)
        own = folder / 'servers'
        own.mkdir()
        self.keystone = openstack_server.OpenStackServer(
            'keystone', own, environment=keystone_s_clock
        )
        self.placement = openstack_server.OpenStackServer(
            'placement', own, threads=4
        )
        self._configuration = own
        self._middleware = secure_cloud.MIDDLEWARE.format(
            keystone=self.keystone.url, cache=CACHE
        )
        self.ironic = Ironic(folder / 'ironic', self._middleware)

    def start(self) -> None:
        """Start all, then make keystone's catalog."""
        undo = self._undo
        undo.callback(self.postgresql.stop)
        database = self.postgresql.start()
        database.create('placement')
        self._configure(database.url('placement'))
        for server in (self.keystone, self.placement):
            undo.callback(server.stop)
            server.begin()
        undo.callback(self.ironic.stop)
        self.ironic.start()
        self.libvirt = undo.enter_context(local_libvirt.running())
        for server in (self.keystone, self.placement):
            server.wait()
        self._make_catalog()

    def stop(self) -> None:
        """End all."""
        self._undo.close()

    def _configure(self, database: str) -> None:
        own = self._configuration
        (own / 'keystone.conf').write_text(
            secure_cloud.KEYSTONE.format(folder=own, expiration=EXPIRATION)
        )
        (own / 'placement.conf').write_text(
            secure_cloud.PLACEMENT.format(database=database) + self._middleware
        )

    def _make_catalog(self) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        context = secure_cloud.server_context(
            authority.issue_cert('127.0.0.1')
        )
        fronts = [
            self._undo.enter_context(tls_front.tls_front(server.url, context))
            for server in (self.keystone, self.placement, self.ironic)
        ]
        self.cloud = secure_cloud.SecureCloud(
            self.keystone.url, authority, self._configuration
        )
        self.cloud.keystone = fronts[0].url
        self.cloud.fill(
            {'placement': fronts[1].url, 'baremetal': fronts[2].url}
        )
