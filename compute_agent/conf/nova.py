# SPDX-License-Identifier: Apache-2.0
"""Options of ``[nova]``: keystoneauth's, for the commands that ask nova."""

from typing import Any

from oslo_config import cfg

from ..transport import session_options

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
    session_options.register_opts(conf, GROUP, DEFAULTS)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group, with those of the usual plugins."""
    return [(GROUP, session_options.opts((), DEFAULTS))]
