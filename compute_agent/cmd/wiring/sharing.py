# SPDX-License-Identifier: Apache-2.0
"""An agent that shares its nodes with others: its lease and its record.

Part of the composition root. ``opening.py`` imports it only if
``[compute_agent] state_connection`` is set. A daemon asks ``is_ready`` before
each cycle; a command that writes holds the lease for its time (``held``).
"""

import contextlib
import dataclasses
import functools
import importlib.metadata
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

from ... import error_text, errors
from ...fleet import fence, lease, membership, overview
from ...fleet.database import connection, schema
from ...fleet.shared_record import COMMITS, Asked, SharedRecord
from ...fleet.values import mark, roles
from ...fleet.values import share as share_names
from ...state.state import State
from ...virt.drivers import Drivers
from ..app import configuration

_LOOK = 0.5  # seconds; a command looks for a change of the lease
_PATIENCE = 2  # leases without a beat until nobody is expected to report


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The database of a share, as this agent uses it."""

    engine: sa.Engine
    membership: membership.Membership
    record: SharedRecord
    place: str
    seconds: float


@contextlib.contextmanager
def joined(
    conf: cfg.ConfigOpts, drivers: Drivers, *, stands_by: bool
) -> Iterator[Joined]:
    """Connect to the database of a share; the lease is not looked at yet.

    :raises errors.ConfigError: the URL or the name of the share is wrong
    """
    group = conf.compute_agent
    name = share_names.named(group.share, drivers.filters)
    me = _member(group.lease_seconds)
    with _engine(conf) as engine:
        made = membership.Membership(
            lease.Leases(engine),
            me,
            share=name,
            driver='+'.join(called for called, _filter in drivers.filters),
            stands_by=stands_by,
            prepare=functools.partial(schema.prepare, engine),
        )
        record = SharedRecord(
            engine, name, me.who, history_days=group.history_days
        )
        with contextlib.closing(made):
            yield Joined(
                engine=engine,
                membership=made,
                record=record,
                place=_place(engine, name),
                seconds=group.lease_seconds,
            )


class Watch:
    """A look at the lease of a share from outside, again and again."""

    def __init__(self, leases: lease.Leases, name: str) -> None:
        self._leases = leases
        self._name = name
        self._sight: roles.Sight | None = None

    def is_dead(self) -> bool:
        """Return True if its row stood still for longer than a take-over takes.

        :raises errors.Unavailable: the database is away
        """
        asked, row = fence.uptime(), self._leases.row(self._name)
        if row is None:
            return True
        now = fence.uptime()
        self._sight = roles.look(self._sight, row.watched, asked, now)
        return now - self._sight.since > _PATIENCE * row.lease_seconds


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share, as a command sees it that does not join it.

    :ivar agent_id: the id of all its agents; empty if ``is_used`` is not set
    :ivar is_used: False if no agent has used the database yet
    """

    name: str
    agent_id: str
    is_used: bool
    leases: lease.Leases
    record: SharedRecord
    place: str

    def holder(self) -> str:
        """Return a line about the agent that holds it; empty if none does."""
        row = self.leases.row(self.name) if self.is_used else None
        if row is None or row.holder is None:
            return ''
        return membership.about(self.name, row)

    def ask(self, content: str, who: str) -> str:
        """Leave a request for its holder; return the request's key.

        :raises errors.AgentError: the database cannot be used
        """
        key = uuid.uuid4().hex
        self.record.ask(
            Asked(key=key, content=content, who=who, at=time.time())
        )
        return key

    def watch(self) -> Watch:
        """Return a look at its lease."""
        return Watch(self.leases, self.name)


@contextlib.contextmanager
def share_of(
    conf: cfg.ConfigOpts, drivers: Drivers | None = None
) -> Iterator[Share]:
    """Connect to the database of a share, to look at it or to ask its holder.

    :param drivers: None if they are not loaded yet
    :raises errors.AgentError: the database or the share cannot be used
    """
    name = share_name(conf, drivers)
    with _engine(conf) as engine:
        is_used = _is_used(engine)
        yield Share(
            name=name,
            agent_id=_agent_id(engine, name) if is_used else '',
            is_used=is_used,
            leases=lease.Leases(engine),
            record=SharedRecord(engine, name),
            place=_place(engine, name),
        )


@contextlib.contextmanager
def _engine(conf: cfg.ConfigOpts) -> Iterator[sa.Engine]:
    """Lend the engine of the shared database; it does not connect yet.

    :raises errors.ConfigError: the URL is wrong
    """
    group = conf.compute_agent
    engine = connection.engine(group.state_connection, group.lease_seconds)
    try:
        yield engine
    finally:
        engine.dispose()


def _is_used(engine: sa.Engine) -> bool:
    """Return False for a database that no agent has used yet.

    :raises errors.AgentError: the database does not answer, or has another
        version
    """
    found = schema.version(engine)
    if found is not None:
        schema.check(engine, found)
    return found is not None


def _agent_id(engine: sa.Engine, name: str) -> str:
    """Return the id of the agents of a share.

    :raises errors.AgentError: the database cannot be used
    """
    return mark.shared_id(name, schema.identity(engine))


def shares(conf: cfg.ConfigOpts) -> list[dict[str, Any]]:
    """Return all shares in the database; see ``fleet/overview.py``.

    :raises errors.AgentError: the database cannot be used
    """
    with _engine(conf) as engine:
        leases = lease.Leases(engine)
        return overview.look(leases) if _is_used(engine) else []


def running(conf: cfg.ConfigOpts, name: str) -> list[str]:
    """Return the agents of a share that beat now, the holder first.

    :raises errors.AgentError: the database cannot be used
    """
    return [
        f'{one["host"]} (process {one["process"]})'
        for share in shares(conf)
        if share['share'] == name
        for one in (
            *([share['holder']] if share['beat_age'] is not None else ()),
            *share['standbys'],
        )
    ]


def share_name(conf: cfg.ConfigOpts, drivers: Drivers | None = None) -> str:
    """Return the name of this agent's share.

    :param drivers: None if they are not loaded; only a share that the option
        does not name needs them
    :raises errors.ConfigError: a driver cannot be loaded, or gives no name
    """
    given = conf.compute_agent.share
    if given or drivers is not None:
        return share_names.named(given, drivers.filters if drivers else ())
    with contextlib.ExitStack() as stack:
        loaded = configuration.load_drivers(conf)
        for one in loaded:
            stack.callback(one.close)
        return share_names.named(given, loaded.filters)


def _place(engine: sa.Engine, name: str) -> str:
    return f'{connection.place(engine)}, share {name}'


def _member(seconds: float) -> lease.Member:
    """Return this process, as the database names it."""
    return lease.Member(
        who=uuid.uuid4().hex,
        host=socket.gethostname(),
        pid=os.getpid(),
        lease_seconds=seconds,
        since=error_text.moment(time.time()),
        version=importlib.metadata.version('compute-agent'),
    )


class Sharing:
    """The lease and the record of an agent, for the thread of its cycles.

    :param taken_over: called when this agent has the record of another
    :ivar record: the record in the shared database
    :ivar seconds: the time for which a beat counts
    :cvar commits: hears how long each commit to the shared database took
    """

    commits = COMMITS

    def __init__(
        self,
        joined: Joined,
        state: State,
        taken_over: Callable[[], object],
    ) -> None:
        self.membership = joined.membership
        self._engine, self._state = joined.engine, state
        self._has_id = False
        self.record = joined.record
        self.seconds = joined.seconds
        self._replica = state.replica(joined.record, joined.place)
        self._taken_over = taken_over
        self._epoch: int | None = None
        self.membership.record = self._replica

    @property
    def epoch(self) -> int | None:
        """The epoch of the lease, if this agent holds it and has the record."""
        epoch = self._epoch
        return epoch if epoch == self.membership.epoch else None

    def is_ready(self) -> bool:
        """Return True if this agent holds the lease, and has the record.

        A standby follows the record meanwhile.

        :raises errors.AgentError: one of the databases cannot be used
        """
        away = self.membership.away
        if away is not None:
            raise type(away)(str(away)) from away
        epoch = self.membership.epoch
        if epoch != self._epoch or self._replica.epoch != self._epoch:
            self._replica.stand_by()
            self._epoch = None
        try:
            if epoch is None or self._epoch is None:
                if not self._follow(epoch):
                    return False
            elif self._replica.is_behind:
                self._replica.catch_up()
        except errors.Deposed as exc:
            self.membership.lost(epoch, exc)
            return False
        return True

    def pay(self) -> None:
        """Bring the last outcomes to the shared database, if that is possible.

        A successor that lacks them settles the intents itself.
        """
        with contextlib.suppress(errors.AgentError):
            self._replica.pay()

    def _follow(self, epoch: int | None) -> bool:
        """Follow the record; return True if this agent took the share over."""
        if not self._has_id:
            name = self.membership.share
            self._state.take_id(_agent_id(self._engine, name))
            self._has_id = True
        if epoch is None:
            self._replica.catch_up()
            return False
        self._replica.take_over(epoch)
        self._taken_over()
        self._epoch = epoch
        return True

    @contextlib.contextmanager
    def held(self, first: Callable[[], object] = bool) -> Iterator[None]:
        """Hold the lease for a command, and leave it at the end.

        :param first: called under the lease, before the record is compared
        :raises errors.ConfigError: another agent holds it
        """
        has_begun = False
        changed = threading.Event()
        self.membership.call(changed.set)
        self.membership.start()
        try:
            while not (has_begun and self.is_ready()):
                if self.membership.epoch is not None and not has_begun:
                    first()
                    has_begun = True
                    continue
                if self.membership.away is not None:
                    raise self.membership.away
                if self.membership.ended:
                    raise errors.ConfigError(
                        f'{self.membership.holder()}: run the command there'
                    )
                changed.wait(_LOOK)
                changed.clear()
            yield
        finally:
            self.pay()
            self.membership.close()
            self.membership.leave()
