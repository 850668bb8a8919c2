# SPDX-License-Identifier: Apache-2.0
"""The checks of keystone: its discovery, and how long its certificate is good.

The certificate is read in a TLS handshake with the options of the account.
"""

import contextlib
import datetime as dt
import functools
import pathlib
import socket
import ssl
from urllib import parse

from keystoneauth1 import loading
from oslo_config import cfg

from ... import error_text
from ...transport import clouds, failures, session_options
from . import finding
from .finding import Check, Finding

_SOON = 30  # days
_GROUPS = ('placement', 'ironic')
_PATIENCE = 10.0  # seconds


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return a check for each server with TLS that the options name."""
    found: dict[str, str] = {}
    for group in _GROUPS:
        if group not in conf or not _has_plugin(conf, group):
            continue
        for option in ('auth_url', 'endpoint_override', 'endpoint'):
            url = session_options.option(conf, group, option) or ''
            if url.startswith('https://'):
                shown = parse.urlsplit(error_text.address(url))
                found.setdefault(shown.netloc, group)
    return [
        Check(
            name='certificate',
            run=functools.partial(certificate, conf, group, address),
        )
        for address, group in found.items()
    ]


def _has_plugin(conf: cfg.ConfigOpts, group: str) -> bool:
    """Register the options of the group's plugin; return False without one."""
    try:
        return loading.load_auth_from_conf_options(conf, group) is not None
    except Exception:  # noqa: BLE001 (the check of the account tells)
        return False


def certificate(conf: cfg.ConfigOpts, group: str, address: str) -> Finding:
    """Report the day until which the certificate of a server is good."""
    parts = parse.urlsplit(f'https://{address}')
    where, host = parts.netloc, parts.hostname or ''
    try:
        with contextlib.ExitStack() as stack:
            made = stack.enter_context(
                socket.create_connection((host, parts.port or 443), _PATIENCE)
            )
            shown = stack.enter_context(
                _context(conf, group).wrap_socket(made, server_hostname=host)
            ).getpeercert()
    except ssl.SSLError as exc:
        cafile = session_options.option(conf, group, 'cafile')
        account = clouds.account_of(conf, group)
        return finding.failed(
            failures.refused_certificate(exc, where, account, cafile)
        )
    except OSError as exc:
        return finding.failed(
            f'{where} cannot be reached ({error_text.cause(exc)})',
            'check that the server runs, and the address in the options',
        )
    return _good_until(where, str((shown or {}).get('notAfter', '')))


def _context(conf: cfg.ConfigOpts, group: str) -> ssl.SSLContext:
    """Return the TLS context that the options describe."""
    cafile = session_options.option(conf, group, 'cafile') or None
    is_folder = bool(cafile) and pathlib.Path(str(cafile)).is_dir()
    context = ssl.create_default_context(
        cafile=None if is_folder else cafile,
        capath=cafile if is_folder else None,
    )
    certfile = session_options.option(conf, group, 'certfile')
    if certfile:
        keyfile = session_options.option(conf, group, 'keyfile')
        context.load_cert_chain(certfile, keyfile or None)
    return context


def _good_until(where: str, moment: str) -> Finding:
    if not moment:
        return finding.not_checked(f'{where} shows no date')
    until = dt.datetime.fromtimestamp(ssl.cert_time_to_seconds(moment), dt.UTC)
    days = (until - dt.datetime.now(dt.UTC)).days
    said = f'that of {where} is good until {until:%Y-%m-%d} ({days} days)'
    if days < _SOON:
        return finding.warning(said, 'renew it')
    return finding.ok(said)
