# SPDX-License-Identifier: Apache-2.0
"""Ironic's address and the credentials for it, from ``[ironic]``.

It makes keystoneauth's objects and sends nothing. A mistake in the options
raises an error that says what to write. ``driver.py`` calls it.
"""

import logging

import requests
from keystoneauth1 import adapter, loading, plugin
from oslo_config import cfg

from compute_agent import error_text, errors
from compute_agent.transport import (
    bounded_adapter,
    clouds,
    protection,
    session_options,
    url_credentials,
    watched,
)

from .. import conf as options
from ..nodes import answers

LOG = logging.getLogger(__name__)

GROUP = options.GROUP
_TLS = ('tls_ciphers', 'tls_min_version')


def from_conf(conf: cfg.ConfigOpts) -> tuple[adapter.Adapter, str | None]:
    """Return the adapter, and Ironic's address if the options have it.

    :raises errors.ConfigError: an option is wrong or missing
    """
    account = clouds.settle(conf, GROUP)
    with session_options.explained(GROUP):
        auth = loading.load_auth_from_conf_options(conf, GROUP)
        session_options.check(conf, GROUP)
        session = loading.load_session_from_conf_options(
            conf, GROUP, auth=auth
        )
        made = loading.load_adapter_from_conf_options(
            conf, GROUP, session=session, auth=auth
        )
    if auth is None:
        raise errors.ConfigError(
            '[ironic] auth_type is not set: write "password" and the options '
            'of a user that may see all nodes, or "none" and '
            'endpoint_override for an Ironic without keystone, or name a cloud '
            'of clouds.yaml (--os-cloud)'
        )
    LOG.info(
        'Ironic is asked as %s, from %s',
        session_options.user(conf, GROUP),
        account,
    )
    url = _url(conf, auth)
    _protect(made, conf)
    return made, url and error_text.without_credentials(url)


def _protect(made: adapter.Adapter, conf: cfg.ConfigOpts) -> None:
    """Bound the answers to an adapter's requests; follow no redirect."""
    protection.protect(made, GROUP)
    group, opened = conf[GROUP], made.session.session
    opened.hooks['response'] += [protection.drop_wait, _plain_fault]
    bounded = bounded_adapter.BoundedAdapter(
        seconds=group.request_deadline,
        **{name: group[name] for name in _TLS if name in group},
    )
    counted = watched.WatchedAdapter(
        bounded,
        'ironic',
        error_text.without_credentials(
            session_options.option(conf, GROUP, 'auth_url') or ''
        ),
    )
    for prefix in list(opened.adapters):
        opened.mount(prefix, counted)


def _plain_fault(answer: requests.Response, **_how: object) -> None:
    """Put an error body into the form that ironicclient can read: a hook."""
    if answer.status_code >= 400:
        plain = answers.plain_fault(answer.content)
        setattr(answer, '_content', plain)  # noqa: B010 (mypy: not public)


def _url(conf: cfg.ConfigOpts, auth: plugin.BaseAuthPlugin) -> str | None:
    """Return the configured address, None to use the catalog's."""
    account = clouds.account_of(conf, GROUP)
    fixed = isinstance(auth, plugin.FixedEndpointPlugin)
    endpoint = getattr(auth, 'endpoint', None) if fixed else None
    override = conf[GROUP].endpoint_override
    for name, url in (
        ('endpoint_override', override),
        ('endpoint', endpoint),
        ('auth_url', getattr(auth, 'auth_url', None)),
    ):
        url_credentials.check(account.option(name), url)
    if fixed and not (override or endpoint):
        raise errors.ConfigError(
            f'[ironic] auth_type {conf[GROUP].auth_type} has no catalog with '
            "Ironic's address: write the address as endpoint_override"
        )
    return override or endpoint
