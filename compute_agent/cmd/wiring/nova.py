# SPDX-License-Identifier: Apache-2.0
"""The connection to nova's API: address and authentication.

Part of the composition root. It sends no request. ``audit`` is the only
command that asks nova.
"""

import logging

from keystoneauth1 import adapter, loading
from oslo_config import cfg

from ...conf import nova as nova_conf
from ...transport import (
    bounded_adapter,
    clouds,
    protection,
    session_options,
)
from ..app import configuration

LOG = logging.getLogger(__name__)

GROUP = nova_conf.GROUP
_TLS = ('tls_ciphers', 'tls_min_version')


def compute_api(conf: cfg.ConfigOpts) -> adapter.Adapter | None:
    """Return keystoneauth's adapter for nova, None if nova is not configured.

    :param conf: with the options of ``conf/nova.py``
    :raises errors.ConfigError: an option of ``[nova]`` is wrong
    """
    account = clouds.settle(conf, GROUP)
    with configuration.explained(conf), session_options.explained(GROUP):
        auth = loading.load_auth_from_conf_options(conf, GROUP)
        if auth is None:
            return None
        session_options.check(conf, GROUP)
        made = loading.load_session_from_conf_options(conf, GROUP, auth=auth)
        found: adapter.Adapter = loading.load_adapter_from_conf_options(
            conf, GROUP, session=made, auth=auth
        )
    user = session_options.user(conf, GROUP)
    LOG.info('nova is asked as %s, from %s', user, account)
    protection.protect(found, GROUP)
    bounded = bounded_adapter.BoundedAdapter(
        seconds=conf.compute_agent.request_deadline,
        **{name: conf.nova[name] for name in _TLS if name in conf.nova},
    )
    opened = found.session.session
    for prefix in list(opened.adapters):
        opened.mount(prefix, bounded)
    return found
