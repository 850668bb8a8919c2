# SPDX-License-Identifier: Apache-2.0
"""The settings of an agent as a value, made from the options.

``agent.py`` builds an agent from it. Commands make it from oslo.config, tests
make it directly. ``placement.py`` reads the options for the connection to
placement.
"""

import dataclasses
import math
import pathlib
from collections.abc import Callable, Collection, Sequence

from oslo_config import cfg

from ...conf import default as default_conf
from ...limits import blast_radius
from ...ownership import policy
from ...ownership.policy import NO_PRUNE, Prune
from ...state.history import rotation
from ...tree import host_inventory
from ...tree.inventory import Ratios
from ...tree.node import Node


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The choices of the operator, from the options and the command line.

    :ivar identity_directories: where the host's uuid is kept: the agent's
        directory first, then those where nova may have written it
    :ivar reserved: the resources that a host keeps for itself
    :ivar full_read_interval: seconds after which an unchanged provider is
        read again; 0 for never
    :ivar sharing_interval: seconds for which the sharing providers of other
        writers are not read again
    :ivar fall_wait: seconds for which a lower generation may be a late answer
    :ivar workers: the number of nodes that are processed at a time
    :ivar limits: the largest removals of a cycle; None for no limit
    :ivar masked_traits: traits that are never reported, with ``*`` and ``?``
    :ivar takes_over: True to allow the first write to other writers' providers
    :ivar is_confirmed: True if a person allowed whatever waits
    :ivar recreate_roots: False to leave the roots gone that others deleted
    :ivar prune: names to remove although the agent did not record them
    :ivar mode: the agent's part for its nodes; None if the operator did not
        say it
    :ivar share: the name of the agent's share; empty for a name that follows
        from the drivers
    :ivar marks_nodes: True to put the agent's mark on the roots of its nodes,
        if there may be several
    :ivar drivers: the value of ``[DEFAULT] compute_driver``
    """

    identity_directories: Sequence[pathlib.Path]
    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    reserved: host_inventory.Reserved = dataclasses.field(
        default_factory=host_inventory.Reserved
    )
    full_read_interval: float = 3600
    sharing_interval: float = 300
    fall_wait: float = 120
    workers: int = 1
    limits: blast_radius.Limits | None = dataclasses.field(
        default_factory=blast_radius.Limits
    )
    masked_traits: Collection[str] = ()
    takes_over: bool = False
    is_confirmed: bool = False
    recreate_roots: bool = True
    prune: Prune = NO_PRUNE
    mode: policy.Mode | None = None
    share: str = ''
    marks_nodes: bool = True
    drivers: Sequence[str] = ()

    @property
    def is_companion(self) -> bool:
        """True if nova-compute reports the nodes."""
        return self.mode is policy.Mode.COMPANION

    @property
    def part(self) -> policy.Mode:
        """The agent's part for its nodes, also if the operator did not say."""
        return self.mode or policy.Mode.OWNER

    def orders(self) -> Callable[[Node], policy.Orders]:
        """Return a function that gives the operator's orders for a node."""
        masks = policy.Orders(
            masked=self.masked_traits,
            takes_over=self.takes_over,
            is_confirmed=self.is_confirmed,
            recreates_roots=self.recreate_roots,
        )
        if not self.prune.names:
            return lambda _node: masks
        return lambda node: dataclasses.replace(
            masks, prune=self.prune.names_for(node)
        )


class CurrentSettings:
    """The settings in force; the daemon replaces them on SIGHUP.

    :ivar value: the settings; a cycle takes its limits and orders from them
        once, when it begins
    """

    def __init__(self, value: Settings) -> None:
        self.value = value

    def limits(self) -> blast_radius.Limits | None:
        """Return the largest removals of a cycle; None for no limit."""
        return self.value.limits

    def orders(self) -> Callable[[Node], policy.Orders]:
        """Return a function that gives the operator's orders for a node."""
        return self.value.orders()


def from_conf(
    conf: cfg.ConfigOpts, *, unlimited: bool = False, prune: Prune = NO_PRUNE
) -> Settings:
    """Return the settings that the options give.

    :param unlimited: lift the limits on removals, and allow takeovers
    """
    return Settings(
        ratios=_ratios(conf),
        reserved=host_inventory.Reserved(
            cpus=conf.reserved_host_cpus,
            memory_mb=conf.reserved_host_memory_mb,
            disk_mb=conf.reserved_host_disk_mb,
        ),
        full_read_interval=conf.compute_agent.full_read_interval,
        # 0 means: never again because of time alone.
        sharing_interval=conf.compute.resource_provider_association_refresh
        or math.inf,
        fall_wait=conf.compute_agent.lower_generation_wait,
        workers=conf.compute.update_resources_max_workers,
        limits=None if unlimited else _limits(conf),
        masked_traits=tuple(conf.compute_agent.masked_traits),
        takes_over=unlimited or conf.compute_agent.adopt_existing_roots,
        is_confirmed=unlimited,
        recreate_roots=conf.compute_agent.recreate_roots,
        prune=prune,
        mode=mode(conf),
        share=conf.compute_agent.share or '',
        marks_nodes=conf.compute_agent.mark_nodes,
        drivers=tuple(conf.compute_driver),
        identity_directories=identity_directories(conf),
    )


def mode(conf: cfg.ConfigOpts) -> policy.Mode | None:
    """Return the agent's part for its nodes; None if it is not given."""
    given = conf.compute_agent.mode
    return None if given is None else policy.Mode(given)


def state_path(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the state directory, as an absolute path."""
    own = conf.compute_agent.state_path
    return pathlib.Path(own or conf.state_path).absolute()


def history_bounds(
    conf: cfg.ConfigOpts, *, by_age: bool = False
) -> rotation.Bounds:
    """Return how much history is kept.

    :param by_age: also drop entries that are too old, as the daemon does
    """
    return rotation.Bounds(
        days=conf.compute_agent.history_days,
        size=conf.compute_agent.history_max_mb * 2**20,
        by_age=by_age,
    )


def identity_directories(conf: cfg.ConfigOpts) -> list[pathlib.Path]:
    """Return the directories where this host's uuid may be kept."""
    shared = pathlib.Path(conf.state_path).absolute()
    directories = (state_path(conf), shared, *_config_directories(conf))
    return list(dict.fromkeys(directories))


def provider_config_location(conf: cfg.ConfigOpts) -> tuple[str, bool]:
    """Return the directory of the operator's files.

    The second value is True if the operator set the option, so that a missing
    directory is an error.
    """
    option = 'provider_config_location'
    found = conf.get_location(option, 'compute')
    is_set = found is not None and found.location.is_user_controlled
    return conf.compute[option], is_set


def _limits(conf: cfg.ConfigOpts) -> blast_radius.Limits:
    return blast_radius.Limits(percent=conf.compute_agent.max_removed_percent)


def _config_directories(conf: cfg.ConfigOpts) -> list[pathlib.Path]:
    """Return the directories of the configuration files.

    A link of the agent's may lead to nova's file, beside which nova looks.
    """
    files = [pathlib.Path(f) for f in conf.config_file or []]
    return sorted(
        {f.absolute().parent for f in files}
        | {f.resolve().parent for f in files}
    )


def _ratios(conf: cfg.ConfigOpts) -> Ratios:
    """Return the allocation ratios that are set; 0 and unset mean none."""
    stems = {rc: stem for rc, (stem, _) in default_conf.RATIOS.items()}
    forced = {rc: conf[f'{s}_allocation_ratio'] for rc, s in stems.items()}
    initial = {
        rc: conf[f'initial_{s}_allocation_ratio'] for rc, s in stems.items()
    }
    return Ratios(
        forced={rc: ratio for rc, ratio in forced.items() if ratio},
        initial={rc: ratio for rc, ratio in initial.items() if ratio},
    )
