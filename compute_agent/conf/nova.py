# SPDX-License-Identifier: Apache-2.0
"""Options of ``[nova]``: keystoneauth's, for the commands that ask nova."""

from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = 'nova'

# Defaults for options of keystoneauth.
DEFAULTS = {
    'service_type': 'compute',
    'valid_interfaces': ['internal', 'public'],
    'timeout': 60,
}


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group.

    The authentication plugin registers its options when ``auth_type`` is read.
    """
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
            *loading.get_session_conf_options(),
            *loading.get_auth_common_conf_options(),
            *loading.get_adapter_conf_options(include_deprecated=False),
            *loading.get_auth_plugin_conf_options('password'),
            *loading.get_auth_plugin_conf_options('v3applicationcredential'),
        )
    }
    for name, default in DEFAULTS.items():
        opts[name].default = default  # in our own copy
    return [(GROUP, list(opts.values()))]
