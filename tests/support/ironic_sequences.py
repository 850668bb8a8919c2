# SPDX-License-Identifier: Apache-2.0
"""Random sequences of what happens to an Ironic and to the agent that asks it.

A sequence is made of one number. ``Sequence.run`` raises an AssertionError where the
driver describes something else than Ironic has, and Ironic could tell it:

* after a list with traits, each node is right;
* after a list without traits, the nodes are those of Ironic, and each is right
  but for a trait that Ironic's times do not tell;
* after a count in the place of a list, the nodes are those of Ironic if its times
  tell them, and each is right whose change they tell;
* after ``changes``, each node is right whose change Ironic's times tell. A
  change during the call is right after the next one.

``can_tell`` says which changes the times tell; docs/ironic.md lists the others.
"""

import dataclasses
import random
from collections.abc import Callable, Mapping
from typing import Any

import ironic_double

from compute_agent import errors
from drivers.ironic import reader
from drivers.ironic.client import api
from drivers.ironic.nodes import answers
from drivers.ironic.nodes import node as ironic

SHARD = 'rack1'
STEPS = 40
# Seconds within which a change shows after its time, as docs/ironic.md has them.
SOON, LATE = 5.0, 60.0
INTERVAL = 900.0  # of the lists with traits
TRAITS = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C', 'CUSTOM_D')
CHANGES: tuple[dict[str, Any], ...] = (
    {'resource_class': 'gold'},
    {'resource_class': 'silver'},
    {'resource_class': 'Gold'},
    {'maintenance': True},
    {'maintenance': False},
    {'power_state': 'power on'},
    {'provision_state': 'active'},
    {'provision_state': 'available'},
    {},
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Version:
    """A row of the database from when it showed.

    :ivar at: the true time
    :ivar updated: Ironic's time, None for never
    :ivar created: Ironic's time
    """

    at: float
    updated: float | None
    created: float | None


class Sequence:
    """One sequence.

    :ivar done: what happened, for the message
    """

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        nulls_first = self._random.random() < 0.3
        self._ironic = ironic_double.IronicDouble(
            nulls_first=nulls_first,
            whole_seconds=self._random.random() < 0.4,
            # A short page reads the less below the mark by chance.
            most=self._random.choice([3, 1000] if nulls_first else [1, 1, 2]),
        )
        # With few nodes, a flood of changes is one of four.
        self._flood = self._random.choice([api.LIMIT, api.LIMIT, 4])
        self._is_calm = self._random.random() < 0.5
        self._step = 0.0
        self._versions: list[Version] = []
        self._known: dict[str, tuple[Any, ...]] = {}
        self._backup = self._ironic.backup()
        self._locked: dict[str, float] = {}
        self._faults: list[Callable[[], object]] = []
        self.done: list[str] = []
        self._ironic.before = self._before
        self._start()
        for _ in range(self._random.randint(0, 6)):
            self._add()

    # --- what happens ---------------------------------------------------------

    def run(self) -> None:
        """Let everything happen.

        :raises AssertionError: the driver describes something wrong
        """
        usual = api.LIMIT
        api.LIMIT = self._flood
        try:
            self._run()
        finally:
            api.LIMIT = usual

    def _run(self) -> None:
        steps: list[tuple[int, Callable[[], object]]] = [
            (12, self._change),
            (3, self._overtake),
            (1, self._overtake_a_list),
            (8, self._set_traits),
            (3, self._lock),
            (4, self._unlock),
            (4, self._add),
            (2, self._delete),
            (4, self._move),
            (1, self._touch_all),
            (1, self._take_backup),
            (30, self._ask_changes),
            (8, self._list),
        ]
        if not self._is_calm:
            steps += [
                (1, self._step_clock),
                (1, self._restore),
                (1, self._restart),
            ]
        weights, calls = zip(*steps, strict=True)
        for _ in range(STEPS):
            self._pass_time()
            (call,) = self._random.choices(calls, weights)
            call()
        self._ironic.pass_time(INTERVAL)
        self._list()

    def _say(self, text: str) -> None:
        self.done.append(f'{self._ironic.now:.1f} {text}')

    def _pass_time(self, most: float = INTERVAL) -> None:
        kind = self._random.random()
        usual = 5.0 if kind < 0.8 else 70.0 if kind < 0.99 else INTERVAL
        most = min(most, usual)
        self._pass_seconds(self._random.uniform(0, most))

    def _pass_seconds(self, seconds: float) -> None:
        end = self._ironic.now + seconds
        while self._ironic.now < end:  # so each commit is noted at its time
            due = min([end, *(at for at, _ in self._ironic.pending)])
            self._ironic.pass_time(max(0.0, due - self._ironic.now))
            self._note()

    def _some(self) -> str | None:
        rows = sorted(self._ironic.rows)
        return self._random.choice(rows) if rows else None

    def _late(self) -> float:
        kind = self._random.random()
        if kind < 0.5:
            return 0.0
        return self._random.uniform(0, 8.0 if kind < 0.8 else 50.0)

    def _another_process(self) -> None:
        """Let the next changes be made by a process with another clock."""
        skew = self._random.uniform(-0.9, 0.9)
        self._ironic.ahead = self._step + skew

    def _change(self) -> None:
        ident = self._some()
        if ident:
            fields = self._random.choice(CHANGES)
            late = self._late()
            self._another_process()
            self._ironic.change(ident, late, **fields)
            self._say(f'change {ident[-2:]} {fields} late {late:.1f}')
            self._note()

    def _overtake(self) -> None:
        """A trait shows after changes that began later."""
        first = self._some()
        if first is None:
            return
        late = self._random.choice([2.0, 8.0, 12.0, 50.0])
        self._another_process()
        trait = f'CUSTOM_{len(self.done)}'
        self._ironic.change(first, late, traits=[trait])
        self._say(f'late {trait} {first[-2:]} {late}')
        for _ in range(self._random.randint(1, 4)):
            self._pass_time(3.0)
            self._touch()
        if self._random.random() < 0.7:
            self._ask_changes()

    def _overtake_a_list(self) -> None:
        """A trait shows after a list that began later."""
        first = self._some()
        if first is None:
            return
        trait = f'CUSTOM_{len(self.done)}'
        self._ironic.change(first, 45.0, traits=[trait])
        self._say(f'late {trait} {first[-2:]} 45')
        for _ in range(10):
            self._pass_time(4.0)
            self._touch()
        for _ in range(2):
            self._ask_changes()
            self._list()
            self._pass_seconds(45.0)

    def _touch(self) -> None:
        ident = self._some()
        if ident:
            self._ironic.change(ident)
            self._say(f'touch {ident[-2:]}')
            self._note()

    def _set_traits(self) -> None:
        ident = self._some()
        if ident:
            some = self._random.sample(TRAITS, self._random.randint(0, 4))
            self._another_process()
            self._ironic.set_traits(ident, *some)
            self._say(f'traits {ident[-2:]} {some}')
            self._note()

    def _lock(self) -> None:
        ident = self._some()
        if ident and ident not in self._locked:
            self._ironic.change(ident)
            self._note()
            some = self._random.sample(TRAITS, self._random.randint(0, 4))
            self._ironic.write_traits(ident, *some)
            self._locked[ident] = self._ironic.now
            self._say(f'lock {ident[-2:]} {some}')

    def _unlock(self) -> None:
        if self._locked:
            ident = self._random.choice(sorted(self._locked))
            del self._locked[ident]
            self._ironic.change(ident)
            self._say(f'unlock {ident[-2:]}')
            self._note()

    def _add(self) -> None:
        if len(self._ironic.rows) < 9:
            shard = self._random.choice([SHARD, SHARD, None])
            ident = self._ironic.add(shard=shard)
            self._say(f'add {ident[-2:]} to {shard}')
            self._note()

    def _delete(self) -> None:
        ident = self._some()
        if ident:
            self._ironic.delete(ident)
            self._locked.pop(ident, None)
            self._say(f'delete {ident[-2:]}')

    def _move(self) -> None:
        ident = self._some()
        if ident:
            shard = self._random.choice([SHARD, None])
            self._ironic.change(ident, shard=shard)
            self._say(f'move {ident[-2:]} to {shard}')
            self._note()

    def _touch_all(self) -> None:
        for ident in self._ironic.rows:
            self._ironic.change(ident)
        self._say('touch all')
        self._note()

    def _step_clock(self) -> None:
        self._step = self._random.choice([0, 0, 30, -30, 3600, -3600])
        self._ironic.ahead = self._step
        self._say(f'clock ahead {self._step}')

    def _take_backup(self) -> None:
        self._backup = self._ironic.backup()
        self._say('backup')

    def _restore(self) -> None:
        """Restore the database; Ironic is away for a question at least."""
        self._ironic.restore(self._backup)
        self._locked.clear()
        self._say('restore')
        self._note()
        if self._random.random() < 0.7:
            self._faults.append(self._away)
            self._ask_changes()

    def _restart(self) -> None:
        self._start()
        self._say('restart')

    def _start(self) -> None:
        self._api = api.Api(self._ironic, shard=SHARD)  # type: ignore[arg-type]
        self._reader = reader.Reader(
            self._api, full_interval=INTERVAL, clock=self._ironic.clock
        )
        self._is_covered = False  # the changes were known before the list
        self._must_be_full = True
        self._asked_at = -INTERVAL
        self._full_at = self._listed_at = 0.0
        self._newest: float | None = None
        self._went_back = False

    # --- what the agent does --------------------------------------------------

    def _plan_faults(self) -> None:
        kind = self._random.random()
        if kind < 0.06 and not self._is_calm:
            self._faults.append(
                self._random.choice([self._away, self._garbage])
            )
        elif kind < 0.25:
            self._faults.append(
                self._random.choice(
                    [self._change, self._set_traits, self._add, self._delete]
                )
            )

    def _before(self, path: str) -> None:
        del path
        if self._faults and self._random.random() < 0.6:
            self._faults.pop()()

    def _away(self) -> None:
        self._say('away')
        raise errors.Unavailable('away')

    def _garbage(self) -> None:
        self._say('garbage')
        raise errors.UnknownState('garbage')

    def _ask_changes(self) -> None:
        self._plan_faults()
        began, before = self._ironic.now, self._reader.reading
        steps = len(self.done)
        self._look_for_older()
        try:
            names = self._reader.read_changes()
        except errors.AgentError as exc:
            self._say(f'changes failed: {exc}')
            assert self._reader.reading is before
            self._must_be_full = True
            self._faults.clear()
            return
        self._faults.clear()
        self._asked_at = self._ironic.now
        reading = self._reader.reading
        self._say(f'changes {[name[-2:] for name in names]}')
        differing = {
            name
            for name in reading.nodes
            if reading.facts(name) != before.facts(name)
        }
        assert set(names) == differing, (names, differing)
        is_quiet = len(self.done) == steps + 1
        if not is_quiet:
            self._newest = None
        elif self._went_back:
            self._must_be_full = True
        if self._is_covered and not self._reader.is_behind and is_quiet:
            self._check(began, SOON)

    def _list(self) -> None:
        self._plan_faults()
        began, steps = self._ironic.now, len(self.done)
        sent = len(self._ironic.sent)
        before = self._reader.reading.listing.found
        self._went_back = False
        if began - self._asked_at < reader.LIST_INTERVAL:
            self._look_for_older()
        must_be_full = (
            self._must_be_full
            or began - self._asked_at >= reader.LIST_INTERVAL
            or began - self._full_at >= INTERVAL
        )
        try:
            self._reader.read_all()
        except errors.AgentError as exc:
            self._say(f'list failed: {exc}')
            self._faults.clear()
            return
        is_quiet = len(self.done) == steps
        if not is_quiet:
            self._newest = None
        self._faults.clear()
        asked = [r for r in self._ironic.sent[sent:] if 'resource_class' in r]
        is_full = 'traits' in ''.join(asked[-1:])
        self._say(f'list {"with" if is_full else "without"} traits')
        if is_quiet and self._went_back:
            must_be_full = True
        assert is_full or not must_be_full
        if asked:
            self._listed_at = began
        else:
            self._say('no list, but a count')
            assert began - self._listed_at < reader.LIST_INTERVAL
        if is_full:
            self._newest = None
            self._full_at = began
            self._must_be_full = False
            self._is_covered = bool(self._reader.marks)
        if is_quiet and asked:
            self._check_list(began, None if is_full else before)
        elif is_quiet:
            self._check_count(began)

    # --- what must be right ---------------------------------------------------

    def _note(self) -> None:
        """Note what of the database is new, and when it showed."""
        for row in self._ironic.visible({'shard': SHARD}):
            seen = (row.updated_at, row.created_at)
            if self._known.get(row.uuid) != seen:
                self._known[row.uuid] = seen
                self._versions.append(
                    Version(
                        at=self._ironic.now,
                        updated=row.updated_at,
                        created=row.created_at,
                    )
                )
        there = {r.uuid for r in self._ironic.visible({'shard': SHARD})}
        for ident in [*self._known]:
            if ident not in there:
                del self._known[ident]

    def _wanted(self) -> Mapping[str, ironic.Node]:
        return {
            row.uuid: ironic.Node.from_row(row.fields)
            for row in self._ironic.visible({'shard': SHARD})
        }

    def can_tell(self, row: ironic_double.Row, overlap: float) -> bool:
        """Return True if Ironic's times tell the last change of a node.

        A row hides another one if it showed before, its time is not older,
        and either is newer, or showed earlier, by more than the overlap.
        """
        return not row.is_dirty and self._tells(row, overlap)

    def _tells(self, row: ironic_double.Row, overlap: float) -> bool:
        if row.updated_at is None:
            return self._shows(row, row.created_at, overlap, _created)
        return self._shows(row, row.updated_at, overlap, _updated)

    def _shows(
        self,
        row: ironic_double.Row,
        time: float | None,
        overlap: float,
        of: Callable[[Version], float | None],
    ) -> bool:
        assert time is not None
        for one in self._versions:
            other = of(one)
            if other is None or one.at >= row.committed or other < time:
                continue
            if other - time > overlap or row.committed - one.at > overlap:
                return False
        return True

    def _check(self, began: float, overlap: float) -> None:
        """Check each node whose last change Ironic tells."""
        nodes = self._reader.reading.listing.found
        for row in self._ironic.visible({'shard': SHARD}):
            if row.committed <= began and self.can_tell(row, overlap):
                wanted = ironic.Node.from_row(row.fields)
                assert nodes.get(row.uuid) == wanted, (
                    nodes.get(row.uuid),
                    wanted,
                )

    def _check_list(self, began: float, before: answers.Found | None) -> None:
        """Check the nodes after a list.

        :param before: those that were known before it; None if the list was
            with traits
        """
        wanted = self._wanted()
        nodes = self._reader.reading.listing.found
        assert set(nodes) == set(wanted)
        if before is None:
            assert nodes == wanted
            return
        self._check(began, LATE)
        for name, node in nodes.items():
            known = before.get(name)
            assert isinstance(node, ironic.Node)
            if isinstance(known, ironic.Node):
                # Only a trait that no time told may be as it was.
                known = dataclasses.replace(wanted[name], traits=known.traits)
            assert node in (wanted[name], known)

    def _check_count(self, began: float) -> None:
        """Check the nodes after a count in the place of a list."""
        self._check(began, LATE)
        rows = self._ironic.visible({'shard': SHARD})
        if all(self._tells(row, LATE) for row in rows):
            nodes = self._reader.reading.listing.found
            assert set(nodes) == {row.uuid for row in rows}

    def _look_for_older(self) -> None:
        """Note if the newest time went back; the next list is with traits."""
        self._went_back = False
        times = [
            row.updated_at
            for row in self._ironic.visible({'shard': SHARD})
            if row.updated_at is not None
        ]
        newest = max(times, default=None)
        if self._newest is not None and (
            newest is None or newest < self._newest
        ):
            self._went_back = True
        self._newest = newest


def _created(one: Version) -> float | None:
    return one.created


def _updated(one: Version) -> float | None:
    return one.updated
