# SPDX-License-Identifier: Apache-2.0
"""The options of the Ironic driver, spelled as in nova.conf.

The group ``[ironic]`` has keystoneauth's session, authentication and adapter
options and the driver's own. ``[workarounds]`` has one option of nova's. The
driver loader registers them. The sample file and the documentation list them.
"""

from oslo_config import cfg

from compute_agent.transport import session_options

GROUP = 'ironic'
WORKAROUNDS = 'workarounds'
EXCLUSIVE = 'exclusive'
MERGE = 'merge'

# Defaults for keystoneauth's options.
DEFAULTS = {
    'service_type': 'baremetal',
    'valid_interfaces': ['internal', 'public'],
    'timeout': 60,
}

_EXCLUSIVE = (
    "Ironic is the only source of a node's traits. The next cycle removes "
    'traits that others set in placement.'
)
_MERGE = (
    'Traits that others set in placement stay beside those of Ironic. Traits '
    'that Ironic drops are removed.'
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
        'several agents can share the nodes. No two agents may have the same '
        'nodes. Unset means all nodes. It needs Ironic API 1.82.',
    ),
    cfg.ListOpt(
        'peer_list',
        help="nova-compute's option, which this driver does not support: the "
        'hosts that share the nodes of conductor_group. Each agent describes '
        'all nodes of its group and shard. If the option names several hosts, '
        'the driver says so when it starts.',
    ),
    cfg.FloatOpt(
        'request_deadline',
        default=120.0,
        min=0.1,
        max=86400.0,
        help='The seconds within which an answer of Ironic or keystone must '
        'have arrived completely, however slowly it arrives. The option '
        'timeout limits only the wait for each further part of it.',
    ),
    cfg.FloatOpt(
        'listing_deadline',
        default=600.0,
        min=0.1,
        max=86400.0,
        help='The seconds within which the list of all nodes must be '
        'complete, with all its pages and repeated requests. If it takes '
        'longer, the nodes are not changed in this cycle.',
    ),
    cfg.IntOpt(
        'full_listing_interval',
        default=3600,
        min=0,
        max=604800,
        help="The seconds after which the agent lists the nodes' traits again "
        'although Ironic told the changes of each node. The lists in between '
        'are without traits, which saves most of the time that a list takes '
        'Ironic. 0 means with each list. If [compute_agent] changes_interval '
        'is 0, each list has the traits, too.',
    ),
    cfg.IntOpt(
        'api_max_retries',
        default=5,
        min=0,
        max=1000,
        help='How many times a request to Ironic is repeated if the node was '
        'locked, or Ironic was unavailable or too slow. Each attempt may take '
        "as long as the option timeout allows. nova's default is 60; fewer "
        'are enough here, because the daemon tries again in its next cycle.',
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
        help="Who owns the traits of a node's provider in placement. "
        "COMPUTE_STATUS_DISABLED and other projects' OWNER_* traits stay "
        'in either case.',
    ),
]

_WORKAROUND_OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'skip_reserve_in_use_ironic_nodes',
        default=False,
        help='Do not reserve a node because it has an instance; the '
        "instance's allocation is enough. The node is then available as soon "
        'as its instance is deleted. Use this only with an Ironic without '
        'automatic cleaning. Otherwise nodes would be offered while they are '
        'still being cleaned.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``.

    The authentication plugin registers its own options once ``auth_type`` is
    read.
    """
    conf.register_opts(_OPTS, group=GROUP)
    conf.register_opts(_WORKAROUND_OPTS, group=WORKAROUNDS)
    session_options.register_opts(conf, GROUP, DEFAULTS)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, including those of common plugins."""
    plugins = (*session_options.PLUGINS, 'none', 'http_basic')
    return [
        (GROUP, session_options.opts(_OPTS, DEFAULTS, plugins)),
        (WORKAROUNDS, _WORKAROUND_OPTS),
    ]


def check(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that mistakes are found at the start.

    :raises cfg.Error: a value is out of range or of another type, or a number
        is empty, which would mean no limit
    """
    for group, opts in list_opts():
        for opt in opts:
            if opt.dest in conf[group]:
                _refuse_empty(group, opt, conf[group][opt.dest])


def _refuse_empty(group: str, opt: cfg.Opt, value: object) -> None:
    """Refuse an empty "option =", which oslo.config reads as None."""
    if value is None and opt.default is not None:
        raise cfg.Error(
            f'[{group}] {opt.name} is empty: give it a value, or remove the '
            f'line to use the default {opt.default}'
        )
