# SPDX-License-Identifier: Apache-2.0
"""The connection to placement: address, authentication, connection pool.

Part of the composition root. It sends no request. ``agent.py`` and the
commands that need only placement get its API from here.
"""

import contextlib
import logging
import time
import typing
from collections.abc import Callable, Iterator, Sequence

import requests
from keystoneauth1 import adapter, loading, session, token_endpoint
from oslo_config import cfg

from report_client.http import placement
from report_client.http.messages.error_mapping import Access

from ... import error_text, errors
from ...conf import placement as placement_conf
from ...dev import embedded_placement as embedded
from ...transport import (
    bounded_adapter,
    catalog,
    clouds,
    deadline,
    environment,
    protection,
    rate_limit,
    session_options,
    watched,
)
from ..app import configuration, signals
from . import agent_settings

LOG = logging.getLogger(__name__)

GROUP = placement_conf.GROUP
CONNECTIONS = 10  # the least, as requests has by default
# The options of keystoneauth that give a token a scope, and so a catalog.
_SCOPES = (
    'project_id',
    'project_name',
    'domain_id',
    'domain_name',
    'system_scope',
    'trust_id',
)
_TLS = ('tls_ciphers', 'tls_min_version')


def placement_service(
    conf: cfg.ConfigOpts,
    wait: rate_limit.Wait | None = None,
    fence: Callable[[], float] | None = None,
) -> placement.Placement:
    """Return placement's API as configured; it sends no request yet.

    :param wait: waits until a throttled request may be sent; by default, only
        SIGINT ends the wait early
    :param fence: as for ``placement.Placement``
    :raises errors.ConfigError: an option of ``[placement]`` is wrong
    """
    found = connection(conf, wait)
    return placement.Placement(
        found,
        access(conf, found),
        fence,
        catalog.Catalog(found, 'placement').look_again,
    )


def connection(
    conf: cfg.ConfigOpts, wait: rate_limit.Wait | None = None
) -> adapter.Adapter:
    """Return keystoneauth's side of placement's API.

    :param wait: as for ``placement_service``
    :raises errors.ConfigError: an option of ``[placement]`` is wrong
    """
    found = _adapter(conf)
    if not conf.placement.embedded:
        LOG.debug('placement is asked as %s', account(conf))
    protection.protect(found, GROUP)
    _widen(found.session.session, conf, wait or signals.interrupt_event().wait)
    return found


def account(conf: cfg.ConfigOpts) -> str:
    """Return the account for placement and its origin; it has no secret."""
    return (
        f'{session_options.user(conf, GROUP)}, from '
        f'{clouds.account_of(conf, GROUP)}'
    )


def embedded_placement(conf: cfg.ConfigOpts) -> embedded.EmbeddedPlacement:
    """Return the embedded placement service; entering it starts it."""
    return embedded.EmbeddedPlacement(
        agent_settings.state_path(conf) / 'placement.sqlite',
        port=conf.placement.embedded_port,
    )


@contextlib.contextmanager
def embedded_if_asked(conf: cfg.ConfigOpts) -> Iterator[None]:
    """Serve the embedded placement, if the configuration asks for it.

    If another process, such as "placement serve", serves that of the same
    state directory, it is used.

    :raises errors.ConfigError: it cannot be served
    """
    with contextlib.ExitStack() as stack:
        if not conf.placement.embedded:
            pass
        elif _is_served(conf):
            LOG.info('%s runs already, and is used', where(conf))
        else:
            stack.enter_context(embedded_placement(conf))
        yield


def _is_served(conf: cfg.ConfigOpts) -> bool:
    """Return True if the embedded placement of this state directory runs."""
    try:
        placement_service(conf).get('/')
    except errors.AgentError as exc:
        LOG.debug('no embedded placement runs: %s', exc)
        return False
    return True


def where(conf: cfg.ConfigOpts) -> str:
    """Return the name of this placement for messages."""
    if conf.placement.embedded:
        return f'the embedded placement at {_embedded_url(conf)}'
    group = conf.placement
    url = group.endpoint_override or _plugin_option(conf, 'endpoint')
    return f'placement at {error_text.address(url)}' if url else 'placement'


def found_at(conf: cfg.ConfigOpts) -> str:
    """Return where the agent finds this placement: an address or a catalog."""
    auth_url = _plugin_option(conf, 'auth_url')
    if where(conf) == 'placement' and auth_url:
        shown = error_text.address(auth_url)
        return f'placement in the catalog of keystone at {shown}'
    return where(conf)


def site(conf: cfg.ConfigOpts) -> str:
    """Return the key of this placement in the state database.

    The text has no user and no password, so it stays the same if these change.
    """
    group = conf.placement
    if group.embedded:
        return 'embedded'
    parts = (
        group.endpoint_override,
        _plugin_option(conf, 'endpoint') or _plugin_option(conf, 'auth_url'),
        group.region_name,
        group.service_name,
    )
    words = (error_text.without_credentials(str(p)) for p in parts if p)
    return ' '.join(word.lower().rstrip('/') for word in words)


def _adapter(conf: cfg.ConfigOpts) -> adapter.Adapter:
    """Return keystoneauth's adapter; it sends no request yet."""
    if conf.placement.embedded:
        return _direct(conf)
    with configuration.explained(conf), session_options.explained(GROUP):
        auth = loading.load_auth_from_conf_options(conf, GROUP)
        session_options.check(conf, GROUP)
        made = loading.load_session_from_conf_options(
            conf, GROUP, auth=auth, session=environment.Session()
        )
        found: adapter.Adapter = loading.load_adapter_from_conf_options(
            conf, GROUP, session=made, auth=auth
        )
    if auth is None:
        raise errors.ConfigError(
            '[placement] auth_type is not set'
            f'{configuration.no_file_note(conf)}: set it to "password" and add '
            'the options of a user with the role admin or service, name a '
            'cloud of clouds.yaml (--os-cloud), or set "embedded = true" for '
            'the embedded placement'
        )
    return found


def _direct(conf: cfg.ConfigOpts) -> adapter.Adapter:
    """Return the adapter for the embedded placement."""
    made = session.Session(
        auth=token_endpoint.Token(_embedded_url(conf), 'admin'),
        timeout=conf.placement.timeout,
    )
    made.session.trust_env = False  # no proxy for the loopback
    return adapter.Adapter(made, service_type=placement_conf.SERVICE_TYPE)


def _widen(
    opened: requests.Session,
    conf: cfg.ConfigOpts,
    wait: rate_limit.Wait,
) -> None:
    """Give every worker its own connection, and all of them one rate limit.

    keystoneauth's adapter keeps ten connections, however many workers there
    are; it opens and closes the others for each request.
    """
    group, workers = conf.placement, conf.compute.update_resources_max_workers
    wide = bounded_adapter.BoundedAdapter(
        seconds=conf.compute_agent.request_deadline,
        check_opened=embedded_placement(conf).check
        if group.embedded
        else deadline.accept,
        pool_maxsize=max(CONNECTIONS, workers),
        **{name: group[name] for name in _TLS if name in group},
    )
    budget = rate_limit.RateLimit(
        lambda: conf.compute_agent.max_requests_per_second, time.monotonic
    )
    throttled = rate_limit.ThrottledAdapter(
        watched.WatchedAdapter(
            wide,
            'placement',
            error_text.without_credentials(
                _plugin_option(conf, 'auth_url') or ''
            ),
        ),
        budget,
        wait,
    )
    for prefix in list(opened.adapters):
        opened.mount(prefix, throttled)


def _embedded_url(conf: cfg.ConfigOpts) -> str:
    """Return the address of the embedded placement."""
    return f'http://127.0.0.1:{conf.placement.embedded_port}'


def access(conf: cfg.ConfigOpts, found: adapter.Adapter) -> Access:
    """Return how this placement is reached, for messages."""
    if conf.placement.embedded:
        return Access(where=where(conf), hint=_hint(conf))
    return Access(
        where=where(conf),
        hint=_hint(conf),
        keystone=error_text.address(_plugin_option(conf, 'auth_url') or ''),
        cafile=conf.placement.cafile or '',
        has_scope=_has_scope(conf),
        account=clouds.account_of(conf, GROUP),
        user=session_options.user(conf, GROUP),
        roles=lambda: roles(found),
        regions=lambda: regions(found),
        region=found.region_name or '',
    )


def regions(found: adapter.Adapter) -> Sequence[str]:
    """Return the regions of the catalog with placement; empty if unknown."""
    auth: typing.Any = found.session.auth  # not every plugin has a catalog
    try:
        catalog = auth.get_access(found.session).service_catalog
        listed = catalog.get_endpoints_data(service_type=found.service_type)
        every = {one.region_name for of in listed.values() for one in of}
    except Exception as exc:  # noqa: BLE001 (only for a message)
        LOG.debug('the catalog is unknown: %r', exc)
        return ()
    return sorted(error_text.printable(name) for name in every if name)


def roles(found: adapter.Adapter) -> Sequence[str]:
    """Return the roles of the token in use; empty if they are unknown."""
    auth: typing.Any = found.session.auth  # not every plugin has roles
    try:
        return tuple(auth.get_access(found.session).role_names)
    except Exception as exc:  # noqa: BLE001 (only for a message)
        LOG.debug('the roles of the token are unknown: %r', exc)
        return ()


def _has_scope(conf: cfg.ConfigOpts) -> bool:
    """Return False if keystone is asked for a token of no project."""
    return (
        not _plugin_option(conf, 'auth_url')
        or any(_plugin_option(conf, name) for name in _SCOPES)
        or 'applicationcredential' in (_plugin_option(conf, 'auth_type') or '')
    )


def _hint(conf: cfg.ConfigOpts) -> str:
    """Return advice for the case that this placement does not answer."""
    if conf.placement.embedded:
        return 'start it with "compute-agent placement serve" (or "run")'
    return (
        'check that it runs, and the options in '
        f'{clouds.account_of(conf, GROUP).holder}'
    )


def _plugin_option(conf: cfg.ConfigOpts, name: str) -> str | None:
    """Return an option that only some authentication plugins have."""
    return session_options.option(conf, GROUP, name)
