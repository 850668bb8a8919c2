# SPDX-License-Identifier: Apache-2.0
"""All of nova in one process: API, scheduler, conductor and nova-compute.

It runs in nova's environment: ``whole_nova.py SOCKET FOLDER --config-file
FILE``. SOCKET is the number of a listening socket, for the API; it has no
keystone, so everybody is an administrator. FOLDER has devices that libvirt
lists beside the host's (``listed_devices.py``). Messages stay in memory. The
rest is nova's, unchanged.
"""

from nova import monkey_patch  # type: ignore[import-not-found]

monkey_patch.patch(backend='threading')  # before anything else of nova

import os  # noqa: E402
import pathlib  # noqa: E402
import shlex  # noqa: E402
import socket  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import typing  # noqa: E402
from wsgiref import simple_server  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'parity'))

import listed_devices  # noqa: E402
import novas_turns  # noqa: E402
import os_brick  # type: ignore[import-not-found]  # noqa: E402
import os_vif  # type: ignore[import-not-found]  # noqa: E402
from nova import (  # noqa: E402
    conf,
    config,
    context,
    objects,
    policy,
    service,
    utils,
)
from nova.api import openstack  # type: ignore[import-not-found]  # noqa: E402
from nova.api.openstack import (  # type: ignore[import-not-found]  # noqa: E402
    compute,
)
from nova.compute import rpcapi  # type: ignore[import-not-found]  # noqa: E402
from nova.conductor import (  # type: ignore[import-not-found]  # noqa: E402
    rpcapi as conductor_rpcapi,
)
from nova.scheduler import (  # type: ignore[import-not-found]  # noqa: E402
    rpcapi as scheduler_rpcapi,
)
from oslo_log import log  # noqa: E402
from oslo_privsep import (  # type: ignore[import-not-found]  # noqa: E402
    priv_context,
)

PROJECT = '44444444444444444444444444444444'
ROLES = ['admin', 'member', 'reader']


def main() -> None:
    """Run until a signal ends it."""
    number, folder, *words = sys.argv[1:]
    # Another user may run the guests, and writes to their disks.
    os.umask(0)
    novas_turns.take()
    listed_devices.Devices(pathlib.Path(folder)).install()
    config.parse_args(['nova-compute', *words])
    log.setup(conf.CONF, 'nova')
    priv_context.init(root_helper=shlex.split(utils.get_root_helper()))
    objects.register_all()
    os_brick.setup(conf.CONF)
    os_vif.initialize()
    for name, topic in (
        ('conductor', conductor_rpcapi.RPC_TOPIC),
        ('scheduler', scheduler_rpcapi.RPC_TOPIC),
    ):
        service.Service.create(binary=f'nova-{name}', topic=topic).start()
    server = service.Service.create(
        binary='nova-compute',
        topic=rpcapi.RPC_TOPIC,
        topic_alt=rpcapi.RPC_TOPIC_ALT,
    )
    serve_api(int(number))
    service.serve(server, workers=1, no_fork=True)
    service.wait()


def serve_api(number: int) -> None:
    """Serve nova's API, in threads of this process."""
    policy.init()
    application = openstack.FaultWrapper(compute.APIRouterV21())

    def as_administrator(
        environ: dict[str, typing.Any], start: typing.Any
    ) -> typing.Any:
        environ['SCRIPT_NAME'] = '/v2.1'
        environ['nova.context'] = context.RequestContext(
            user_id='administrator',
            project_id=PROJECT,
            is_admin=True,
            roles=ROLES,
            auth_token='a-token',
        )
        return application(environ, start)

    listener = socket.socket(fileno=number)
    server = simple_server.WSGIServer(
        listener.getsockname(),
        simple_server.WSGIRequestHandler,
        bind_and_activate=False,
    )
    server.socket.close()
    server.socket = listener
    server.server_name, server.server_port = listener.getsockname()
    server.setup_environ()
    server.set_app(as_administrator)
    threading.Thread(target=server.serve_forever, daemon=True).start()


if __name__ == '__main__':
    main()
