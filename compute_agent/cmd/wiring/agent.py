# SPDX-License-Identifier: Apache-2.0
"""Building the agent's objects from configuration: the composition root.

Everything else receives its collaborators; here they are made and put
together, and what was opened is closed again.
"""

import contextlib
import dataclasses
import functools
import gc
import math
import pathlib
import time
from collections.abc import Iterator

from oslo_config import cfg

from report_client import client

from ...conf import default as default_conf
from ...cycle import (
    departed_nodes,
    identity,
    node_list,
    node_planner,
    resource_tracker,
)
from ...dev import embedded_placement as embedded
from ...limits import blast_radius
from ...ownership import policy
from ...provider_config import files as provider_config_files
from ...state import state
from ...tree import allocation_ratios, host_inventory
from ...virt import driver as virt
from .. import pruning
from ..app import configuration
from . import placement, throttled_session

# An agent of thousands of nodes has a million objects that stay. To look through
# them as often as Python does costs a fifth of a cycle's time.
GARBAGE = (50_000, 20, 50)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The wired agent.

    :ivar state: what survives a restart
    :ivar files: what operators add to what the driver describes
    """

    driver: virt.ComputeDriver
    client: client.SchedulerReportClient
    tracker: resource_tracker.ResourceTracker
    state: state.State
    files: provider_config_files.ProviderConfigFiles


@contextlib.contextmanager
def agent(
    conf: cfg.ConfigOpts,
    *,
    looking: bool,
    unlimited: bool = False,
    prune: pruning.Prune = pruning.NOTHING,
    wait: throttled_session.Wait | None = None,
) -> Iterator[Agent]:
    """Build the agent, and close what it opened.

    :param looking: the state is only looked at, never written back
    :param unlimited: a cycle may remove as much as it wants to
    :param prune: names that go although nobody recorded them
    :param wait: what a request waits with for its turn
    :raises errors.ConfigError: something of the configuration is wrong
    """
    gc.set_threshold(*GARBAGE)
    compute_driver = configuration.load_driver(conf)
    service = placement.placement_service(conf, wait)
    opened = state.State.look if looking else state.State.open
    site = placement.site(conf)
    with contextlib.closing(opened(state_path(conf), site)) as kept:
        report_client = client.SchedulerReportClient(
            service,
            kept,
            clock=time.time,
            full_read_interval=conf.compute_agent.full_read_interval,
            sharing_interval=_sharing_interval(conf),
            workers=conf.compute.update_resources_max_workers,
        )
        files = provider_config_files.ProviderConfigFiles(
            functools.partial(_provider_configs, conf)
        )
        planner = node_planner.NodePlanner(
            compute_driver,
            report_client,
            kept.records,
            settings=_settings(conf, prune),
            files=files,
        )
        yield Agent(
            driver=compute_driver,
            client=report_client,
            state=kept,
            files=files,
            tracker=_tracker(
                conf,
                compute_driver,
                report_client,
                kept,
                planner,
                unlimited=unlimited,
            ),
        )


def embedded_placement(
    conf: cfg.ConfigOpts,
) -> embedded.EmbeddedPlacement:
    """Return the embedded placement; entering it starts it."""
    return embedded.EmbeddedPlacement(
        state_path(conf) / 'placement.sqlite',
        port=conf.placement.embedded_port,
    )


def state_path(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the state directory, as an absolute path."""
    return pathlib.Path(conf.state_path).absolute()


def _sharing_interval(conf: cfg.ConfigOpts) -> float:
    """Return how old may be what is known of sharing providers, in seconds."""
    seconds: int = conf.compute.resource_provider_association_refresh
    return seconds or math.inf


def _tracker(
    conf: cfg.ConfigOpts,
    compute_driver: virt.ComputeDriver,
    report_client: client.SchedulerReportClient,
    kept: state.State,
    planner: node_planner.NodePlanner,
    *,
    unlimited: bool,
) -> resource_tracker.ResourceTracker:
    host_uuid = functools.partial(identity.host_uuid, *identity_places(conf))
    return resource_tracker.ResourceTracker(
        report_client,
        planner,
        node_list.NodeList(
            compute_driver,
            lambda names: identity.identify(
                names, compute_driver.get_nodenames_by_uuid(), host_uuid
            ),
        ),
        gone=departed_nodes.Departures(
            compute_driver,
            kept.records,
            kept.nodes,
            clock=time.time,
            interval=conf.compute_agent.full_read_interval,
        ),
        workers=conf.compute.update_resources_max_workers,
        control=resource_tracker.Control(
            limits=lambda: None if unlimited else _limits(conf)
        ),
    )


def _settings(
    conf: cfg.ConfigOpts, prune: pruning.Prune
) -> node_planner.Settings:
    """Return what the operator chose."""
    return node_planner.Settings(
        ratios=_ratios(conf),
        reserved=host_inventory.Reserved(
            cpus=conf.reserved_host_cpus,
            memory_mb=conf.reserved_host_memory_mb,
            disk_mb=conf.reserved_host_disk_mb,
        ),
        orders=functools.partial(_orders, conf, prune),
    )


def _limits(conf: cfg.ConfigOpts) -> blast_radius.Limits:
    """Return what one cycle may remove, as it is now."""
    return blast_radius.Limits(
        deletions=conf.compute_agent.max_deletions,
        percent=conf.compute_agent.max_removed_percent,
    )


def _orders(
    conf: cfg.ConfigOpts, prune: pruning.Prune
) -> node_planner.OrdersOf:
    """Return what the operator says of the nodes' names, as it is now."""
    usual = policy.Orders(masked=conf.compute_agent.masked_traits)
    if not prune.names:
        return lambda _node: usual
    return lambda node: dataclasses.replace(usual, prune=prune.of(node))


def identity_places(
    conf: cfg.ConfigOpts,
) -> tuple[pathlib.Path, list[pathlib.Path]]:
    """Return the directories of this host's uuid: ours, and where else."""
    return state_path(conf), _config_directories(conf)


def _provider_configs(conf: cfg.ConfigOpts) -> tuple[str, bool]:
    """Return the directory of the operator's files, and if it was chosen."""
    option = 'provider_config_location'
    found = conf.get_location(option, 'compute')
    given = found is not None and found.location.is_user_controlled
    return conf.compute[option], given


def _config_directories(conf: cfg.ConfigOpts) -> list[pathlib.Path]:
    files = conf.config_file or []
    return sorted({pathlib.Path(f).absolute().parent for f in files})


def _ratios(conf: cfg.ConfigOpts) -> allocation_ratios.Ratios:
    stems = {rc: stem for rc, (stem, _) in default_conf.RATIOS.items()}
    forced = {rc: conf[f'{s}_allocation_ratio'] for rc, s in stems.items()}
    initial = {
        rc: conf[f'initial_{s}_allocation_ratio'] for rc, s in stems.items()
    }
    return allocation_ratios.Ratios(
        forced={rc: r for rc, r in forced.items() if r},
        initial={rc: r for rc, r in initial.items() if r},
    )
