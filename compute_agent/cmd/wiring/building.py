# SPDX-License-Identifier: Apache-2.0
"""The composition root: connects the objects of an agent.

``agent.py`` calls it for the commands; the tests and the benchmarks call it,
too.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence

from report_client import client
from report_client.api import providers
from report_client.api.values import provider_query
from report_client.http import placement as placement_api

from ... import errors
from ...cycle import judging, node_list, resource_tracker
from ...cycle.departures import departed_nodes, other_shares
from ...cycle.node import node_planner
from ...fleet.values import mark, share
from ...identity import (
    compute_id,
    host_adoption,
    identity,
    nova_compute,
    nova_root,
)
from ...identity import identity as host_names
from ...limits import contention
from ...ownership import policy
from ...provider_config import files as provider_config
from ...state.nodes import KnownNode
from ...state.state import State
from ...tree.node import Node
from ...virt import driver as virt
from ...virt.drivers import Drivers
from .agent import Agent
from .agent_settings import CurrentSettings, Settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The part of an agent in a fleet.

    :ivar may_begin: as in ``resource_tracker.Control``
    :ivar shares: the other shares in the database; None without a database
    """

    may_begin: Callable[[], object] = bool
    shares: other_shares.Shares | None = None


NO_FLEET = Fleet()


def build_agent(
    settings: Settings,
    *,
    drivers: Drivers,
    service: placement_api.Placement,
    state: State,
    files: provider_config.ProviderConfigFiles | None = None,
    clock: Callable[[], float] = time.time,
    control: resource_tracker.Control | None = None,
    fleet: Fleet = NO_FLEET,
) -> Agent:
    """Return an agent; it sends no request yet.

    :param clock: seconds since the epoch
    :param control: used in place of the limits in ``settings``, a new backoff
        and an empty memory of contention
    """
    current = CurrentSettings(settings)
    for one in drivers:
        one.driver.host_options = virt.HostOptions(
            ratios=settings.ratios, reserved=settings.reserved
        )
    state.history.clock = clock
    state.nodes.settle_sources(drivers)
    named = share.named(settings.share, drivers.filters)
    own = mark.Mark.of(named, state.agent_id)
    root = _novas_root(settings, service, state)
    nodes = _node_list(settings, drivers, service, state, root)
    report_client = client.ReportClient(
        service,
        state,
        clock=clock,
        full_read_interval=settings.full_read_interval,
        sharing_interval=settings.sharing_interval,
        workers=settings.workers,
        fall_wait=settings.fall_wait,
    )
    others = None
    if fleet.shares is not None and not settings.part.is_beside_nova:
        others = other_shares.OtherShares(
            fleet.shares, state, lambda: nodes.uuids, lambda: planner.mark
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
            mark=None if settings.is_companion else own,
            marks_nodes=settings.marks_nodes and drivers.may_have_many,
            clock=clock,
            nova=nova_compute.NovaCompute(settings.identity_directories)
            if settings.mode is None
            else None,
            author=state.history.author,
            host=_host_uuid(settings, service, state),
            check_others=None if others is None else others.check,
        ),
        files=files,
        names=state.agreed_names,
        lost=state.snapshot,
        elsewhere=state.nodes.elsewhere,
    )
    control = control or resource_tracker.Control(
        limits=current.limits, contention=contention.Contention(clock)
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
        control=dataclasses.replace(
            control, may_begin=fleet.may_begin, others=others
        ),
        undos=state.undos,
        judge=judging.Judge(state.approvals, state.masses),
    )
    return Agent(
        current=current,
        drivers=drivers,
        client=report_client,
        tracker=tracker,
        state=state,
        share=named,
        files=files,
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


def _host_uuid(
    settings: Settings, service: placement_api.Placement, state: State
) -> host_adoption.HostUuid | None:
    if settings.part.is_beside_nova:
        return None
    api = providers.Providers(service)
    query = provider_query.ProviderQuery
    return host_adoption.HostUuid(
        settings.identity_directories,
        state.handover,
        lambda uuid: api.list_providers(query(uuid=uuid)),
    )


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
