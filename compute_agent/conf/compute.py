# SPDX-License-Identifier: Apache-2.0
"""Options of ``[compute]``, spelled as in nova.conf."""

from typing import Any

from oslo_config import cfg

from . import default

GROUP = 'compute'

_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'provider_config_location',
        default='/etc/nova/provider_config/',
        mutable=True,
        help='The directory of provider-config files, in which you add traits '
        'and inventories of your own to those that the driver reports. The '
        "agent reads every .yaml file in it, in nova's format, at the start "
        'and on SIGHUP. A missing directory is an error only if this option '
        'is set. A file or directory that another user than root and the '
        "agent's can change is refused.",
    ),
    cfg.IntOpt(
        'resource_provider_association_refresh',
        default=300,
        min=0,
        max=default.LONGEST_INTERVAL,
        help='How many seconds the agent waits before it reads the sharing '
        'providers of other writers again. In that time, a cycle in which '
        'nothing changes sends one request, not two. Sharing providers that '
        'this agent created, or reports something for, are read in each cycle. '
        'All are read at the start, when a node joins another aggregate, after '
        'a cycle that wrote something, and on SIGHUP. 0 means only then. For '
        'as long, but for 300 seconds at most, an agent of one node relies on '
        'a list that shows no provider below that node, and asks only for '
        "the generation of the node's provider.",
    ),
    cfg.IntOpt(
        'update_resources_max_workers',
        default=4,
        min=1,
        max=64,
        help='The most nodes that are processed at a time, each with its own '
        'requests to placement. The agent begins with one, and takes more '
        'while it waits for placement or for drivers. It matters only to '
        'drivers of many nodes.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
