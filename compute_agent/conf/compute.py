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
        help='The directory of provider-config files: traits and inventories '
        'of your own that are added to what the driver reports. Every *.yaml '
        "in it is read, in nova's format, at the start and at SIGHUP. That "
        'this directory is missing is a mistake only where the option is '
        'set.',
    ),
    cfg.IntOpt(
        'resource_provider_association_refresh',
        default=300,
        min=0,
        max=default.LONGEST_INTERVAL,
        help='For how many seconds sharing providers of others are taken to '
        'be as they were when they were last asked for. A cycle in between in '
        'which nothing moves is one request, not two. Those that this agent '
        'created, or reports something for, are asked for in each cycle, and '
        'all are when a node comes into another aggregate, after a cycle that '
        'wrote something, and at SIGHUP. 0 means only then and at the start.',
    ),
    cfg.IntOpt(
        'update_resources_max_workers',
        default=4,
        min=1,
        max=64,
        help='How many nodes are worked on at a time, each with its own '
        'requests to placement. It matters to drivers of many nodes only.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
