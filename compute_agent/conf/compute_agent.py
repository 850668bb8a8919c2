# SPDX-License-Identifier: Apache-2.0
"""Options of ``[compute_agent]``: those that nova does not have."""

import math
from typing import Any

from oslo_config import cfg, types

from ..ownership import policy
from . import default

GROUP = 'compute_agent'
LEAST_RATE = 0.01  # requests a second; a wait stays one that clocks can count
LARGEST_RATE = 10_000


class _Mask(types.String):
    """A trait's name, in which * and ? stand for any characters."""

    def __call__(self, value: Any) -> str:
        """Return the mask."""
        return policy.check_mask(super().__call__(value))


class _Rate(types.Float):
    """A number of requests a second, 0 for as many as there are."""

    def __init__(self) -> None:
        super().__init__(min=0.0, max=LARGEST_RATE)

    def __call__(self, value: Any) -> float | None:
        """Return the number, None of an empty text."""
        rate: float | None = super().__call__(value)
        if rate is not None and not (
            rate == 0 or LEAST_RATE <= rate < math.inf
        ):
            raise ValueError(f'Should be 0, or {LEAST_RATE} at least')
        return rate


_OPTS: list[cfg.Opt] = [
    cfg.IntOpt(
        'full_read_interval',
        default=3600,
        min=0,
        max=default.LONGEST_INTERVAL,
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
        mutable=True,
        help='How many providers one cycle may delete, or reserve as a whole '
        'of nodes that are gone. If it would be more, nothing is done for a '
        'node that loses anything, and each is reported as failed: '
        '"compute-agent sync --yes" does it, or a higher value.',
    ),
    cfg.IntOpt(
        'max_removed_percent',
        default=20,
        min=0,
        max=100,
        mutable=True,
        help='Which part of all names that a cycle sees (traits, aggregates '
        'and resource classes of all providers) it may remove, if they are 50 '
        'or more. A class whose total becomes reserved counts as removed. If '
        'it would be more, nothing is done for a node that loses anything, '
        'and each is reported as failed: "compute-agent sync --yes" does it, '
        'or a higher value; 100 is no limit.',
    ),
    cfg.Opt(
        'max_requests_per_second',
        type=_Rate(),
        default=0.0,
        mutable=True,
        help='How many requests a second this agent sends to placement at '
        'most, all its workers together, repeated ones and those for a token '
        "counted. A second's worth may go at once. What is too early waits, "
        'and long waits are said. Fractions are allowed, from 0.01 up; 0 is '
        'no limit. SIGHUP is heard between two cycles, so one that waits for '
        'this must end first. Each command that is started beside the daemon '
        'has a budget of its own.',
    ),
    cfg.ListOpt(
        'masked_traits',
        item_type=_Mask(),
        default=[],
        mutable=True,
        help='Traits that are never reported, whoever asserts them. Names, '
        'with * for any characters and ? for one: HW_CPU_X86_AVX512*. What '
        'this agent added of them it removes; what another added stays.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS, group=GROUP)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
