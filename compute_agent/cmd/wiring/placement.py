# SPDX-License-Identifier: Apache-2.0
"""Reaching placement as configured: address, authentication, connections.

Part of the composition root. Nothing is asked of placement here; ``agent.py``
and the commands that only speak to placement take its API from here.
"""

import re
import time

import requests
from keystoneauth1 import adapter, loading, session, token_endpoint
from keystoneauth1 import exceptions as ksa_exceptions
from oslo_config import cfg

from report_client.http import placement, rate_limit

from ... import errors
from ...conf import placement as placement_conf
from ..app import configuration, signals
from . import throttled_session

GROUP = placement_conf.GROUP
CONNECTIONS = 10  # at least: what requests keeps by default
_USER = re.compile(r'//[^/@]*@')
_TLS = ('tls_ciphers', 'tls_min_version')


def placement_service(
    conf: cfg.ConfigOpts, wait: throttled_session.Wait | None = None
) -> placement.Placement:
    """Return placement's API as configured; nothing is asked yet.

    :param wait: what a request waits with for its turn; without it, SIGINT
        alone ends the wait
    :raises errors.ConfigError: something of ``[placement]`` is wrong
    """
    found = _adapter(conf)
    _widen(found.session.session, conf, wait or signals.interrupted().wait)
    return placement.Placement(found, where(conf), _hint(conf))


def where(conf: cfg.ConfigOpts) -> str:
    """Return what to call this placement in messages."""
    if conf.placement.embedded:
        return f'the embedded placement at {_embedded_url(conf)}'
    group = conf.placement
    url = group.endpoint_override or _plugin_option(conf, 'endpoint')
    return f'placement at {_USER.sub("//", url)}' if url else 'placement'


def site(conf: cfg.ConfigOpts) -> str:
    """Return what tells this placement from others in the state database."""
    group = conf.placement
    if group.embedded:
        return 'embedded'
    parts = (
        group.endpoint_override,
        _plugin_option(conf, 'endpoint') or _plugin_option(conf, 'auth_url'),
        group.region_name,
        group.service_name,
    )
    return ' '.join(str(part).lower().rstrip('/') for part in parts if part)


def _adapter(conf: cfg.ConfigOpts) -> adapter.Adapter:
    """Return keystoneauth's adapter for placement; it asks nothing yet."""
    if conf.placement.embedded:
        return _direct(conf)
    with configuration.explained():
        try:
            auth = loading.load_auth_from_conf_options(conf, GROUP)
            made = loading.load_session_from_conf_options(
                conf, GROUP, auth=auth
            )
            found: adapter.Adapter = loading.load_adapter_from_conf_options(
                conf, GROUP, session=made, auth=auth
            )
        except ksa_exceptions.ClientException as exc:
            raise errors.ConfigError(f'[placement]: {exc}') from exc
    _check_urls(conf)
    if auth is None:
        raise errors.ConfigError(
            '[placement] auth_type is not set: write "password" and the '
            'options of a user with the role admin or service, or '
            '"embedded = true" for a placement of our own'
        )
    return found


def _direct(conf: cfg.ConfigOpts) -> adapter.Adapter:
    """Return the adapter for the embedded placement."""
    made = session.Session(
        auth=token_endpoint.Token(_embedded_url(conf), 'admin'),
        timeout=conf.placement.timeout,
    )
    made.session.trust_env = False  # no proxy stands before the loopback
    return adapter.Adapter(made, service_type=placement_conf.SERVICE_TYPE)


def _widen(
    opened: requests.Session,
    conf: cfg.ConfigOpts,
    wait: throttled_session.Wait,
) -> None:
    """Let every worker keep a connection of its own, all within one budget.

    What keystoneauth makes keeps ten, whatever the workers are, and sets up
    the others anew for each request.
    """
    group, workers = conf.placement, conf.compute.update_resources_max_workers
    wide = session.TCPKeepAliveAdapter(
        pool_maxsize=max(CONNECTIONS, workers),
        **{name: group[name] for name in _TLS if name in group},
    )
    budget = rate_limit.RateLimit(
        lambda: conf.compute_agent.max_requests_per_second, time.monotonic
    )
    paced = throttled_session.PacedAdapter(wide, budget, wait)
    for prefix in list(opened.adapters):
        opened.mount(prefix, paced)


def _embedded_url(conf: cfg.ConfigOpts) -> str:
    """Return where the embedded placement listens."""
    return f'http://127.0.0.1:{conf.placement.embedded_port}'


def _hint(conf: cfg.ConfigOpts) -> str:
    """Return what to look at when this placement does not answer."""
    if conf.placement.embedded:
        return 'start it with "compute-agent placement serve" (or "run")'
    return 'is it up, and are the [placement] options right?'


def _check_urls(conf: cfg.ConfigOpts) -> None:
    """Refuse an address that no request could be sent to.

    :raises errors.ConfigError: it lacks http:// or https://
    """
    for name in ('endpoint_override', 'endpoint', 'auth_url'):
        url = _plugin_option(conf, name)
        if url and not url.startswith(('http://', 'https://')):
            raise errors.ConfigError(
                f'[placement] {name} {url!r} is no address: begin it with '
                'http:// or https://'
            )


def _plugin_option(conf: cfg.ConfigOpts, name: str) -> str | None:
    """Return an option that only some authentication plugins have."""
    group = conf.placement
    return str(group[name] or '') if name in group else None
