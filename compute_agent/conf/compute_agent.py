# SPDX-License-Identifier: Apache-2.0
"""Options of ``[compute_agent]``: those that nova does not have."""

from typing import Any

from oslo_config import cfg

GROUP = 'compute_agent'

_OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'full_read_interval',
        default=3600,
        min=0,
        help='Seconds after which a provider is read again from placement '
        'although its generation stands still. It heals what very old '
        'clients (API below 1.19) change without moving the generation. 0 '
        "means never. A node that left the driver's list but exists is asked "
        'for again as often.',
    ),
    cfg.IntOpt(
        'max_deletions',
        default=10,
        min=0,
        help='How many providers one cycle may delete of nodes that are gone. '
        'If there are more, none is deleted and the nodes are reported as '
        'failed: "compute-agent sync --yes" deletes them, or a higher value.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
