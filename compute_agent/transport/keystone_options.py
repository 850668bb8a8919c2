# SPDX-License-Identifier: Apache-2.0
"""keystoneauth's options of a group: session, account and endpoint.

``conf/`` registers them for ``[placement]`` and ``[nova]``, and the driver of
Ironic for its group, each with defaults of its own. So a group can be copied
from nova.conf. keystoneauth takes a while to import.
"""

from collections.abc import Iterable, Mapping

from keystoneauth1 import loading
from oslo_config import cfg

#: The authentication plugins that any service may be asked with.
PLUGINS = ('password', 'v3applicationcredential')


def register_opts(
    conf: cfg.ConfigOpts, group: str, defaults: Mapping[str, object]
) -> None:
    """Register the options in a group.

    The authentication plugin registers its own when ``auth_type`` is read.

    :param defaults: replace those of keystoneauth
    """
    loading.register_session_conf_options(conf, group)
    loading.register_auth_conf_options(conf, group)
    loading.register_adapter_conf_options(
        conf, group, include_deprecated=False
    )
    for name, default in defaults.items():
        conf.set_default(name, default, group=group)


def of_plugin(name: str) -> set[str]:
    """Return the options of an authentication plugin; none if it is unknown.

    A plugin may lack the libraries that it needs. The use of the account says
    so.
    """
    try:
        found = loading.get_auth_plugin_conf_options(name)
    except Exception:  # noqa: BLE001 (of any plugin)
        return set()
    return {opt.dest for opt in found}


def opts(
    own: Iterable[cfg.Opt],
    defaults: Mapping[str, object],
    plugins: Iterable[str] = PLUGINS,
) -> list[cfg.Opt]:
    """Return a group's own options and keystoneauth's, each name once.

    :param plugins: the authentication plugins whose options are listed
    """
    found = {
        opt.dest: opt
        for opt in (
            *own,
            *loading.get_session_conf_options(),
            *loading.get_auth_common_conf_options(),
            *loading.get_adapter_conf_options(include_deprecated=False),
            *(
                opt
                for plugin in plugins
                for opt in loading.get_auth_plugin_conf_options(plugin)
            ),
        )
    }
    for name, default in defaults.items():
        found[name].default = default  # a copy; keystoneauth's stay
    return list(found.values())
