# SPDX-License-Identifier: Apache-2.0
"""The options of the Ironic driver, spelled as in nova.conf.

keystoneauth's session, authentication and adapter options and our own in group
``[ironic]``, and one of nova's in ``[workarounds]``. The driver loader
registers them on the configuration it is given; the sample file and the
documentation list them.
"""

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = 'ironic'
WORKAROUNDS = 'workarounds'
EXCLUSIVE = 'exclusive'
MERGE = 'merge'

# Of keystoneauth's options.
DEFAULTS = {
    'service_type': 'baremetal',
    'valid_interfaces': ['internal', 'public'],
    'timeout': 60,
}
_PLUGINS = ('password', 'v3applicationcredential', 'none', 'http_basic')

_EXCLUSIVE = (
    "Ironic is the one source of a node's traits: what anybody else set in "
    'placement goes in the next cycle.'
)
_MERGE = (
    'Traits that others set in placement stay beside those of Ironic, and '
    'what Ironic drops goes.'
)

_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'conductor_group',
        deprecated_name='partition_key',
        max_length=255,
        regex=r'^[a-zA-Z0-9_.-]*$',
        help='Describe only the nodes of this conductor group of Ironic. '
        'Unset means the nodes of all groups; empty means those of the '
        'default group, which has no name. It needs Ironic API 1.46.',
    ),
    cfg.StrOpt(
        'shard',
        max_length=255,
        regex=r'^[a-zA-Z0-9_.-]+$',
        help='Describe only the nodes of this shard of Ironic, so that '
        'several agents can have a part each. Let no two agents have the '
        'same nodes. Unset means all nodes. It needs Ironic API 1.82.',
    ),
    cfg.IntOpt(
        'api_max_retries',
        default=5,
        min=0,
        max=1000,
        help='How many times a request to Ironic is repeated that found the '
        'node locked, or Ironic away or too slow (each try may take as long '
        "as timeout says). nova's default is 60; less is enough here, for "
        'the daemon looks again by itself.',
    ),
    cfg.IntOpt(
        'api_retry_interval',
        default=2,
        min=0,
        max=600,
        help='Seconds to wait before a request to Ironic is repeated.',
    ),
    cfg.StrOpt(
        'trait_ownership',
        default=EXCLUSIVE,
        choices=[
            (EXCLUSIVE, _EXCLUSIVE),
            (MERGE, _MERGE),
        ],
        help="Whose the traits of a node's provider in placement are. "
        'COMPUTE_STATUS_DISABLED and what other projects own stays in either '
        'case.',
    ),
]

_WORKAROUND_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'skip_reserve_in_use_ironic_nodes',
        default=False,
        help='Do not reserve a node because an instance is on it; its '
        'allocation keeps it from others. Then it can be had again as soon '
        'as its instance is deleted. This is for an Ironic without automatic '
        'cleaning; with it, nodes would be offered that are still cleaned.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on this configuration.

    The authentication plugin registers its own once ``auth_type`` is read.
    """
    conf.register_opts(_OPTS, group=GROUP)
    conf.register_opts(_WORKAROUND_OPTS, group=WORKAROUNDS)
    loading.register_session_conf_options(conf, GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    loading.register_adapter_conf_options(
        conf, GROUP, include_deprecated=False
    )
    for name, default in DEFAULTS.items():
        conf.set_default(name, default, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, with the usual plugins' among them."""
    opts = {
        opt.dest: opt
        for opt in (
            *_OPTS,
            *loading.get_session_conf_options(),
            *loading.get_auth_common_conf_options(),
            *loading.get_adapter_conf_options(include_deprecated=False),
            *(
                opt
                for plugin in _PLUGINS
                for opt in loading.get_auth_plugin_conf_options(plugin)
            ),
        )
    }
    for name, default in DEFAULTS.items():
        opts[name].default = default  # of our own copy
    return [(GROUP, list(opts.values())), (WORKAROUNDS, _WORKAROUND_OPTS)]


def check(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad one is said at the start.

    :raises cfg.Error: a value is out of range, of another type, or empty
        where that would be no limit
    """
    for group, opts in list_opts():
        for opt in opts:
            if opt.dest in conf[group]:
                _refuse_empty(group, opt, conf[group][opt.dest])


def _refuse_empty(group: str, opt: cfg.Opt, value: object) -> None:
    """Refuse "option =" of a number, which oslo.config takes for None."""
    if value is None and opt.default is not None:
        raise cfg.Error(
            f'[{group}] {opt.name} is empty: give it a value, or take the '
            f'line out, which means {opt.default}'
        )
