# SPDX-License-Identifier: Apache-2.0
"""Building the agent's objects from configuration: the composition root.

Everything else receives its collaborators; here they are made and put
together, and what was opened is closed again.
"""

import contextlib
import dataclasses
import functools
import pathlib
import re
import time
from collections.abc import Iterator

import requests
from keystoneauth1 import adapter, loading, session, token_endpoint
from keystoneauth1 import exceptions as ksa_exceptions
from oslo_config import cfg

from report_client import client, placement

from .. import (
    departures,
    errors,
    host_inventory,
    identity,
    ratios,
    resource_tracker,
    state,
)
from ..conf import default as default_conf
from ..conf import placement as placement_conf
from ..dev import embedded_placement as embedded
from ..virt import driver as virt
from . import configuration

GROUP = placement_conf.GROUP
_USER = re.compile(r'//[^/@]*@')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The wired agent.

    :ivar records: the state database
    """

    driver: virt.ComputeDriver
    client: client.SchedulerReportClient
    tracker: resource_tracker.ResourceTracker
    records: state.State


@contextlib.contextmanager
def agent(
    conf: cfg.ConfigOpts, *, looking: bool, unlimited: bool = False
) -> Iterator[Agent]:
    """Build the agent, and close what it opened.

    :param looking: the state is only looked at, never written back
    :param unlimited: a cycle may delete as many providers as it wants to
    :raises errors.ConfigError: something of the configuration is wrong
    """
    compute_driver = configuration.load_driver(conf)
    service = placement_service(conf)
    opened = state.State.look if looking else state.State.open
    with contextlib.closing(opened(state_path(conf), _site(conf))) as kept:
        report_client = client.SchedulerReportClient(
            service,
            kept,
            clock=time.time,
            full_read_interval=conf.compute_agent.full_read_interval,
        )
        yield Agent(
            driver=compute_driver,
            client=report_client,
            records=kept,
            tracker=_tracker(
                conf,
                compute_driver,
                report_client,
                kept,
                None if unlimited else conf.compute_agent.max_deletions,
            ),
        )


def placement_service(conf: cfg.ConfigOpts) -> placement.Placement:
    """Return placement's API as configured; nothing is asked yet.

    :raises errors.ConfigError: something of ``[placement]`` is wrong
    """
    return placement.Placement(_adapter(conf), where(conf), _hint(conf))


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


def embedded_url(conf: cfg.ConfigOpts) -> str:
    """Return where the embedded placement listens."""
    return f'http://127.0.0.1:{conf.placement.embedded_port}'


def where(conf: cfg.ConfigOpts) -> str:
    """Return what to call this placement in messages."""
    if conf.placement.embedded:
        return f'the embedded placement at {embedded_url(conf)}'
    group = conf.placement
    url = group.endpoint_override or _plugin_option(conf, 'endpoint')
    return f'placement at {_USER.sub("//", url)}' if url else 'placement'


def _hint(conf: cfg.ConfigOpts) -> str:
    """Return what to look at when this placement does not answer."""
    if conf.placement.embedded:
        return 'start it with "compute-agent placement serve" (or "run")'
    return 'is it up, and are the [placement] options right?'


def _check_urls(conf: cfg.ConfigOpts) -> None:
    """Refuse an address that no request could be sent to.

    :raises errors.ConfigError: it lacks http:// or https://
    """
    for name in ('endpoint_override', 'endpoint', 'auth_url'):
        url = _plugin_option(conf, name)
        if url and not url.startswith(('http://', 'https://')):
            raise errors.ConfigError(
                f'[placement] {name} {url!r} is no address: begin it with '
                'http:// or https://'
            )


def _site(conf: cfg.ConfigOpts) -> str:
    """Return what tells this placement from others in the state database."""
    group = conf.placement
    if group.embedded:
        return 'embedded'
    parts = (
        group.endpoint_override,
        _plugin_option(conf, 'endpoint') or _plugin_option(conf, 'auth_url'),
        group.region_name,
        group.service_name,
    )
    return ' '.join(str(part).lower().rstrip('/') for part in parts if part)


def _plugin_option(conf: cfg.ConfigOpts, name: str) -> str | None:
    """Return an option that only some authentication plugins have."""
    group = conf.placement
    return str(group[name] or '') if name in group else None


def _tracker(
    conf: cfg.ConfigOpts,
    compute_driver: virt.ComputeDriver,
    report_client: client.SchedulerReportClient,
    kept: state.State,
    max_deletions: int | None,
) -> resource_tracker.ResourceTracker:
    host_uuid = functools.partial(
        identity.host_uuid, state_path(conf), _config_directories(conf)
    )
    return resource_tracker.ResourceTracker(
        compute_driver,
        report_client,
        kept,
        gone=departures.Departures(
            compute_driver,
            kept,
            clock=time.time,
            interval=conf.compute_agent.full_read_interval,
            max_deletions=max_deletions,
        ),
        identify=lambda names: identity.identify(
            names, compute_driver.get_nodenames_by_uuid(), host_uuid
        ),
        ratios=_ratios(conf),
        reserved=host_inventory.Reserved(
            cpus=conf.reserved_host_cpus,
            memory_mb=conf.reserved_host_memory_mb,
            disk_mb=conf.reserved_host_disk_mb,
        ),
        workers=conf.compute.update_resources_max_workers,
    )


def _config_directories(conf: cfg.ConfigOpts) -> list[pathlib.Path]:
    files = conf.config_file or []
    return sorted({pathlib.Path(f).absolute().parent for f in files})


def _ratios(conf: cfg.ConfigOpts) -> ratios.Ratios:
    stems = {rc: stem for rc, (stem, _) in default_conf.RATIOS.items()}
    forced = {rc: conf[f'{s}_allocation_ratio'] for rc, s in stems.items()}
    initial = {
        rc: conf[f'initial_{s}_allocation_ratio'] for rc, s in stems.items()
    }
    return ratios.Ratios(
        forced={rc: r for rc, r in forced.items() if r},
        initial={rc: r for rc, r in initial.items() if r},
    )


def _adapter(conf: cfg.ConfigOpts) -> adapter.Adapter:
    """Return keystoneauth's adapter for placement; it asks nothing yet."""
    if conf.placement.embedded:
        token = token_endpoint.Token(embedded_url(conf), 'admin')
        direct = requests.Session()
        direct.trust_env = False  # no proxy stands before the loopback
        made = session.Session(
            auth=token, session=direct, timeout=conf.placement.timeout
        )
        return adapter.Adapter(made, service_type=placement_conf.SERVICE_TYPE)
    with configuration.explained():
        try:
            auth = loading.load_auth_from_conf_options(conf, GROUP)
            made = loading.load_session_from_conf_options(
                conf, GROUP, auth=auth
            )
            found: adapter.Adapter = loading.load_adapter_from_conf_options(
                conf, GROUP, session=made, auth=auth
            )
        except ksa_exceptions.ClientException as exc:
            raise errors.ConfigError(f'[placement]: {exc}') from exc
    _check_urls(conf)
    if auth is None:
        raise errors.ConfigError(
            '[placement] auth_type is not set: write "password" and the '
            'options of a user with the role admin or service, or '
            '"embedded = true" for a placement of our own'
        )
    return found
