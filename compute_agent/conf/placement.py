# SPDX-License-Identifier: Apache-2.0
"""Options of ``[placement]``: keystoneauth's, and the embedded placement."""

from typing import Any

from oslo_config import cfg

from ..transport import session_options

GROUP = 'placement'
SERVICE_TYPE = 'placement'
PORT = 8778

# Defaults for options of keystoneauth.
DEFAULTS = {
    'service_type': SERVICE_TYPE,
    'valid_interfaces': ['internal', 'public'],
    'timeout': 30,
}

_EMBEDDED = [
    cfg.BoolOpt(
        'embedded',
        default=False,
        help='Use an embedded placement service on 127.0.0.1, for development '
        'and demonstrations. The daemon starts it, unless "placement serve" '
        'serves that of the same state directory; the other commands find it. '
        'It proves by a secret in the state directory that it is the right '
        'one; to another service at its port, nothing is sent. Every client '
        'that reaches its port is an administrator. All authentication options '
        'are ignored.',
    ),
    cfg.PortOpt(
        'embedded_port',
        default=PORT,
        help='The port of the embedded placement service.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group.

    The authentication plugin registers its options when ``auth_type`` is read.
    """
    conf.register_opts(_EMBEDDED, group=GROUP)
    session_options.register_opts(conf, GROUP, DEFAULTS)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group, with those of the usual plugins."""
    plugins = (*session_options.PLUGINS, 'admin_token')
    return [(GROUP, session_options.opts(_EMBEDDED, DEFAULTS, plugins))]
