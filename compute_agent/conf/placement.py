# SPDX-License-Identifier: Apache-2.0
"""Options of ``[placement]``: keystoneauth's, and the embedded placement."""

from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg

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
        'and demonstrations. The daemon starts it, and the other commands find '
        'it. Every client that reaches its port is an administrator. All '
        'authentication options are ignored.',
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
    loading.register_session_conf_options(conf, GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    loading.register_adapter_conf_options(
        conf, GROUP, include_deprecated=False
    )
    for name, default in DEFAULTS.items():
        conf.set_default(name, default, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group, with those of the usual plugins."""
    opts = {
        opt.dest: opt
        for opt in (
            *_EMBEDDED,
            *loading.get_session_conf_options(),
            *loading.get_auth_common_conf_options(),
            *loading.get_adapter_conf_options(include_deprecated=False),
            *loading.get_auth_plugin_conf_options('password'),
            *loading.get_auth_plugin_conf_options('v3applicationcredential'),
            *loading.get_auth_plugin_conf_options('admin_token'),
        )
    }
    for name, default in DEFAULTS.items():
        opts[name].default = default  # in our own copy
    return [(GROUP, list(opts.values()))]
