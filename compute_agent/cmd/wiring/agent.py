# SPDX-License-Identifier: Apache-2.0
"""The composition root: builds an agent from settings and collaborators.

``build_agent`` connects the objects; the commands, the tests and the
benchmarks all use it. ``open_agent`` makes the collaborators from the
configuration, and closes them at the end.
"""

import contextlib
import dataclasses
import functools
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from oslo_config import cfg

from report_client import client
from report_client.api import providers
from report_client.api.values import provider_query
from report_client.http import placement as placement_api

from ... import errors
from ...conf import misspelled
from ...cycle import garbage, judging, node_list, resource_tracker
from ...cycle.departures import departed_nodes
from ...cycle.node import node_planner
from ...identity import compute_id, identity, nova_compute, nova_root
from ...identity import identity as host_names
from ...limits import contention
from ...ownership import policy
from ...ownership.policy import NO_PRUNE, Prune
from ...provider_config import files as provider_config
from ...state.nodes import KnownNode
from ...state.state import State
from ...transport import rate_limit
from ...tree.node import Node
from ...virt.drivers import Drivers
from ..app import configuration
from . import agent_settings, placement
from .agent_settings import CurrentSettings, Settings

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent whose objects are connected.

    :ivar drivers: the drivers that describe the nodes
    :ivar state: the state database
    :ivar files: the operator's additions to the driver's description; None
        if there are none
    """

    current: CurrentSettings
    drivers: Drivers
    client: client.SchedulerReportClient
    tracker: resource_tracker.ResourceTracker
    state: State
    files: provider_config.ProviderConfigFiles | None

    def begin_files(self) -> None:
        """Read the operator's files if they were not read yet.

        :raises errors.ConfigError: a file is wrong
        """
        if self.files is not None:
            self.files.begin()

    def reload(self, settings: Settings) -> None:
        """Use other settings from the next cycle on, and read files again.

        Only ``limits``, ``masked_traits``, ``takes_over``, ``recreate_roots``
        and ``prune`` take effect.

        :raises errors.ConfigError: one of the operator's files is wrong
        """
        self.current.value = settings
        self.client.invalidate()
        if self.files is not None:
            self.files.reload()

    def reload_driver(self) -> None:
        """Have the drivers read their own files again.

        :raises errors.ConfigError: one of them is wrong
        """
        self.drivers.reload()


def build_agent(
    settings: Settings,
    *,
    drivers: Drivers,
    service: placement_api.Placement,
    state: State,
    files: provider_config.ProviderConfigFiles | None = None,
    clock: Callable[[], float] = time.time,
    control: resource_tracker.Control | None = None,
) -> Agent:
    """Return an agent; it sends no request yet.

    :param clock: seconds since the epoch
    :param control: in place of the limits in ``settings``, a new backoff and
        an empty memory of contention
    """
    current = CurrentSettings(settings)
    state.history.clock = clock
    state.nodes.settle_sources(drivers)
    root = _novas_root(settings, service, state)
    nodes = _node_list(settings, drivers, service, state, root)
    report_client = client.SchedulerReportClient(
        service,
        state,
        clock=clock,
        full_read_interval=settings.full_read_interval,
        sharing_interval=settings.sharing_interval,
        workers=settings.workers,
        fall_wait=settings.fall_wait,
    )
    planner = node_planner.NodePlanner(
        nodes,
        report_client,
        state.records,
        settings=node_planner.Settings(
            ratios=settings.ratios,
            reserved=settings.reserved,
            orders=current.orders,
            uuid_files=functools.partial(
                compute_id.uuid_files, settings.identity_directories
            ),
            mode=settings.part,
            marker=nova_compute.NovaMarker(
                settings.identity_directories,
                lambda: root.known,
                drivers=settings.drivers,
            )
            if settings.mode is policy.Mode.REPORTER
            else None,
            clock=clock,
            nova=nova_compute.NovaCompute(settings.identity_directories)
            if settings.mode is None
            else None,
            author=state.history.author,
        ),
        files=files,
        names=state.agreed_names,
        lost=state.snapshot,
    )
    tracker = resource_tracker.ResourceTracker(
        report_client,
        planner,
        nodes,
        gone=departed_nodes.Departures(
            drivers,
            nodes,
            state.records,
            state.nodes,
            clock=clock,
            interval=settings.full_read_interval,
        ),
        workers=settings.workers,
        control=control
        or resource_tracker.Control(
            limits=current.limits, contention=contention.Contention(clock)
        ),
        undos=state.undos,
        judge=judging.Judge(state.approvals, clock),
    )
    return Agent(
        current=current,
        drivers=drivers,
        client=report_client,
        tracker=tracker,
        state=state,
        files=files,
    )


#: The actor in the history for what the daemon does.
DAEMON = 'daemon'


@contextlib.contextmanager
def open_agent(
    conf: cfg.ConfigOpts,
    *,
    read_only: bool,
    unlimited: bool = False,
    prune: Prune = NO_PRUNE,
    wait: rate_limit.Wait | None = None,
    describes: bool = True,
    by: str = '',
) -> Iterator[Agent]:
    """Build the agent that the configuration describes; close it at the end.

    :param read_only: read the state database and never write to it
    :param unlimited: lift the limits on removals, and allow takeovers
    :param prune: names to remove although the agent did not record them
    :param wait: waits until a throttled request may be sent
    :param describes: False if only the record counts; then neither the
        drivers are started nor the operator's files read
    :param by: the actor in the history, such as a command and its person
    :raises errors.ConfigError: an option is wrong, or the state is unusable
    """
    garbage.set_thresholds()
    with contextlib.ExitStack() as stack:
        drivers = configuration.load_drivers(conf, by_name=not describes)
        for one in drivers:
            stack.callback(one.close)
        service = placement.placement_service(conf, wait)
        for line in misspelled.lines(conf):
            LOG.warning('%s', line)
        open_state = State.open_copy if read_only else State.open
        path, site = agent_settings.state_path(conf), placement.site(conf)
        state = stack.enter_context(contextlib.closing(open_state(path, site)))
        state.history.by = by or state.history.by
        state.history.keep(
            agent_settings.history_bounds(conf, by_age=by == DAEMON)
        )
        yield build_agent(
            agent_settings.from_conf(conf, unlimited=unlimited, prune=prune),
            drivers=drivers,
            service=service,
            state=state,
            files=provider_config.ProviderConfigFiles(
                functools.partial(
                    agent_settings.provider_config_location, conf
                ),
                is_companion=agent_settings.mode(conf)
                is policy.Mode.COMPANION,
            )
            if describes
            else None,
        )


def _node_list(
    settings: Settings,
    drivers: Drivers,
    service: placement_api.Placement,
    state: State,
    root: nova_root.NovaRoot,
) -> node_list.NodeList:
    """Return the list of the drivers' nodes, each with its uuid and name."""
    api = providers.Providers(service)
    query = provider_query.ProviderQuery

    def known() -> Mapping[str, KnownNode]:
        return state.nodes.of_drivers(drivers.references)

    if settings.part.is_beside_nova:
        return node_list.NodeList(
            drivers, functools.partial(_novas_nodes, root), known
        )
    own, *others = settings.identity_directories
    host_name = host_names.HostName(
        lambda uuid: api.list_providers(query(uuid=uuid)),
        lambda name: api.list_providers(query(name=name)),
    )

    def identify(
        names: Sequence[str],
        by_uuid: Mapping[str, str],
        by_nova: Mapping[str, str],
    ) -> list[Node]:
        nodes = identity.identify(
            names, by_uuid, lambda: compute_id.host_uuid(own, others)
        )
        return [
            host_name.named(node, by_nova.get(node.name) or node.name)
            for node in nodes
        ]

    return node_list.NodeList(drivers, identify, known)


def _novas_root(
    settings: Settings, service: placement_api.Placement, state: State
) -> nova_root.NovaRoot:
    api = providers.Providers(service)
    query = provider_query.ProviderQuery
    return nova_root.NovaRoot(
        functools.partial(nova_root.host_file, settings.identity_directories),
        lambda name: api.list_providers(query(name=name)),
        lambda uuid: bool(state.snapshot.readings([uuid])),
    )


def _novas_nodes(
    root: nova_root.NovaRoot,
    names: Sequence[str],
    by_uuid: Mapping[str, str],
    by_nova: Mapping[str, str],
) -> list[Node]:
    """Return the nodes as nova-compute knows them."""
    if any(by_nova.get(name) == '' for name in names):
        raise errors.NotYet(
            "libvirt has not told the host's name yet, by which "
            'nova-compute knows it; nothing is written until then'
        )
    named = [by_nova.get(name, name) for name in names]
    known = {u: by_nova.get(name, name) for u, name in by_uuid.items()}
    return identity.identify(named, known, lambda: root.uuid(named[0]))
