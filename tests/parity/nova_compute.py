# SPDX-License-Identifier: Apache-2.0
"""nova-compute in one process: no message broker and no conductor.

It runs in nova's environment: ``nova_compute.py --config-file FILE``. Its
messages stay in memory, and its objects use nova's database directly, so the
configuration names the databases. The libvirt driver, the resource tracker and
the report client are nova's, unchanged.
"""

from nova import monkey_patch  # type: ignore[import-not-found]

monkey_patch.patch(backend='threading')  # before anything else of nova

import shlex  # noqa: E402
import sys  # noqa: E402

import novas_turns  # noqa: E402
import os_brick  # type: ignore[import-not-found]  # noqa: E402
import os_vif  # type: ignore[import-not-found]  # noqa: E402
from nova import conf, config, objects, service, utils  # noqa: E402
from nova.compute import rpcapi  # type: ignore[import-not-found]  # noqa: E402
from oslo_log import log  # noqa: E402
from oslo_privsep import (  # type: ignore[import-not-found]  # noqa: E402
    priv_context,
)


def main() -> None:
    """Run until a signal ends it."""
    sys.argv[0] = 'nova-compute'
    novas_turns.take()
    config.parse_args(sys.argv)
    log.setup(conf.CONF, 'nova')
    priv_context.init(root_helper=shlex.split(utils.get_root_helper()))
    objects.register_all()
    os_brick.setup(conf.CONF)
    os_vif.initialize()
    server = service.Service.create(
        binary='nova-compute',
        topic=rpcapi.RPC_TOPIC,
        topic_alt=rpcapi.RPC_TOPIC_ALT,
    )
    service.serve(server, workers=1, no_fork=True)
    service.wait()


if __name__ == '__main__':
    main()
