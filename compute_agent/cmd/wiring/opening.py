# SPDX-License-Identifier: Apache-2.0
"""Opens the agent that the configuration describes, and closes it.

``open_agent`` makes the collaborators from the configuration, and
``building.py`` connects them. That and the libraries behind it are imported
only when an agent is opened, so that the help of a command is quick.
"""

import contextlib
import dataclasses
import functools
import logging
from collections.abc import Callable, Iterator

from oslo_config import cfg

from ... import errors
from ...conf import misspelled
from ...cycle import garbage
from ...ownership import policy
from ...ownership.policy import NO_PRUNE, Prune
from ...provider_config import files as provider_config
from ...state.database import lock
from ...state.state import State
from ...virt import long_calls
from ...virt.drivers import Drivers
from ..app import configuration
from . import agent_settings
from .agent import Agent

LOG = logging.getLogger(__name__)

#: The actor in the history for what the daemon does.
DAEMON = 'daemon'


@contextlib.contextmanager
def state_copy(
    conf: cfg.ConfigOpts, site: str = '', drivers: Drivers | None = None
) -> Iterator[State]:
    """Lend a copy of the state, which is never written back.

    For commands that only read, also while a daemon writes. With a shared
    database it has the record of the share, whatever this host has.

    :param site: the placement service; empty if only the record is wanted
    :param drivers: None if they are not loaded yet
    :raises errors.ConfigError: the state or the shared record cannot be read
    :raises errors.Unavailable: the shared database is away
    """
    path = agent_settings.state_path(conf)
    with contextlib.closing(State.open_copy(path, site)) as copy:
        if conf.compute_agent.state_connection:
            from . import sharing  # noqa: PLC0415 (needs the extra "fleet")

            with sharing.share_of(conf, drivers) as share:
                if share.is_used:
                    copy.read_shared(share.record, share.place)
                    copy.take_id(share.agent_id)
        elif copy.place:
            LOG.warning(
                'the record in %s is a copy of that of %s and may be older, '
                'because [compute_agent] state_connection is not set: set it '
                'to read the record itself',
                path,
                copy.place,
            )
        yield copy


def record_place(conf: cfg.ConfigOpts) -> str:
    """Return where the record is, for messages."""
    if conf.compute_agent.state_connection:
        return 'the shared database'
    return str(agent_settings.state_path(conf))


@contextlib.contextmanager
def open_agent(
    conf: cfg.ConfigOpts,
    *,
    read_only: bool,
    prune: Prune = NO_PRUNE,
    wait: Callable[[float], bool] | None = None,
    describes: bool = True,
    by: str = '',
    instead: Drivers | None = None,
) -> Iterator[Agent]:
    """Build the agent that the configuration describes; close it at the end.

    :param read_only: read the state database and never write to it
    :param prune: names to remove although the agent did not record them
    :param wait: waits until a throttled request may be sent
    :param describes: False if only the record counts; then neither the
        drivers are started nor the operator's files read
    :param by: the actor in the history, such as a command and its person
    :param instead: the drivers, in place of those of the configuration
    :raises errors.ConfigError: an option is wrong, or the state is unusable
    """
    from . import building, placement  # noqa: PLC0415 (slow to import)

    garbage.set_thresholds()
    path = agent_settings.state_path(conf)
    with contextlib.ExitStack() as stack:
        stack.enter_context(long_calls.told())
        if by != DAEMON and instead is None:
            stack.enter_context(lock.as_owner(path))
        drivers = instead or configuration.load_drivers(
            conf,
            by_name=not (describes or conf.compute_agent.state_connection),
        )
        for one in drivers:
            stack.callback(one.close)
        configuration.refuse_misplaced(conf, everywhere=True)
        joined = None
        if conf.compute_agent.state_connection and not read_only:
            from . import sharing  # noqa: PLC0415 (needs the extra "fleet")

            joined = stack.enter_context(
                sharing.joined(
                    conf,
                    drivers,
                    stands_by=by == DAEMON and conf.compute_agent.standby,
                )
            )
        service = placement.placement_service(
            conf, wait, joined.membership.may_write if joined else None
        )
        for line in misspelled.lines(conf):
            LOG.warning('%s', line)
        # The account's options are registered once the service is made.
        site = placement.site(conf)
        state = stack.enter_context(
            state_copy(conf, site, drivers)
            if read_only
            else contextlib.closing(State.open(path, site))
        )
        if state.place and not (joined or read_only):
            raise errors.ConfigError(
                f'the record in {path} is a copy of that of {state.place}, and '
                'this agent has no [compute_agent] state_connection: set it '
                'again; to go on without it, run "compute-agent state migrate '
                f'--to {path}" while it is set, and remove it then'
            )
        if state.is_older and not conf.compute_agent.state_connection:
            LOG.warning(
                'the state database in %s is an old copy that was put back: it '
                'does not tell any more which names this agent added, so these '
                'stay until "compute-agent sync --prune NAME"',
                path,
            )
        state.history.by = by or state.history.by
        state.history.keep(
            agent_settings.history_bounds(conf, by_age=by == DAEMON)
        )
        agent = building.build_agent(
            agent_settings.from_conf(conf, prune=prune),
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
            fleet=building.Fleet(
                may_begin=joined.membership.check, shares=joined.record
            )
            if joined
            else building.NO_FLEET,
        )
        if joined:
            shared = sharing.Sharing(joined, state, agent.take_over)
            agent = dataclasses.replace(agent, sharing=shared)
            if by != DAEMON:
                stack.enter_context(shared.held())
        yield agent
