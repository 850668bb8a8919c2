# SPDX-License-Identifier: Apache-2.0
"""The state database: what this agent added, and what it last saw.

SQLite in ``state_path``, WAL. Two parts: the *record* (created, ours, held,
intents), which must be durable before a request is sent, and the *snapshot*
(readings, known names), which can be lost at the price of reading again and
is kept by placement service (``site``): another spelling of an endpoint costs
a full read and no record. It knows nothing of HTTP or of plans.
"""

import contextlib
import json
import os
import pathlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence

from . import (
    assertion,
    departures,
    errors,
    intentions,
    inventory,
    names,
    ownership,
    provider,
    state_file,
)

_RECORD = ('created', 'ours', 'held', 'intent')


class State:
    """The state database for one placement service; threads may share it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        site: str,
        path: pathlib.Path | None = None,
    ) -> None:
        self._db = connection
        self._path = path
        self._inode = path.stat().st_ino if path else None
        self._lock = threading.RLock()
        self._site = self._site_id(site)

    @classmethod
    def open(cls, directory: pathlib.Path, site: str) -> 'State':
        """Return the state kept in a directory, made there if need be.

        :raises errors.ConfigError: it cannot be written, or is not ours
        """
        path = directory / state_file.FILE_NAME
        with state_file.explained(path):
            directory.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            with contextlib.ExitStack() as undo:
                db = undo.enter_context(
                    contextlib.closing(state_file.connect(path.as_posix()))
                )
                db.execute('pragma journal_mode = wal')
                state_file.prepare(db, path)
                opened = cls(db, site, path)
                undo.pop_all()
                return opened

    @classmethod
    def look(cls, directory: pathlib.Path, site: str) -> 'State':
        """Return a copy of a directory's state that is never written back.

        For the commands that only look, beside a daemon that writes; without
        a database the copy is an empty one.

        :raises errors.ConfigError: it cannot be read, or is not ours
        """
        path = directory / state_file.FILE_NAME
        with state_file.explained(path):
            if not path.exists():
                return cls.in_memory(site)
            with contextlib.closing(
                state_file.connect(f'{path.resolve().as_uri()}?mode=ro')
            ) as db:
                if state_file.is_new(db):
                    return cls.in_memory(site)
                memory = state_file.connect(':memory:')
                try:
                    db.backup(memory)
                    state_file.migrate(memory)
                    state_file.check_version(memory, path)
                    return cls(memory, site)
                except BaseException:
                    memory.close()
                    raise

    @classmethod
    def in_memory(cls, site: str = '') -> 'State':
        """Return a state that is forgotten with the process."""
        db = state_file.connect(':memory:')
        db.executescript(state_file.SCHEMA)
        return cls(db, site)

    def close(self) -> None:
        """Close the database; what was written is there."""
        with self._lock:
            self._db.close()

    # --- the record -----------------------------------------------------------

    def record(self, uuids: Iterable[str]) -> ownership.Record:
        """Return what earlier cycles left of these providers."""
        ours: dict[ownership.Key, frozenset[str]] = {}
        held: dict[ownership.Key, dict[str, frozenset[str]]] = {}
        created = set()
        with self._reading():
            for uuid in uuids:
                for kind, name in self._recorded('ours', uuid, 'kind, name'):
                    key = (uuid, assertion.Kind(kind))
                    ours[key] = ours.get(key, frozenset()) | {name}
                for kind, source, text in self._recorded(
                    'held', uuid, 'kind, source, names'
                ):
                    key = (uuid, assertion.Kind(kind))
                    held.setdefault(key, {})[source] = _set(text)
                if self._recorded('created', uuid, 'uuid'):
                    created.add(uuid)
        return ownership.Record(
            created=frozenset(created), ours=ours, held=held
        )

    def created_for(self, node_uuid: str) -> list[str]:
        """Return the providers created while this node was described."""
        with self._reading():
            rows = self._db.execute(
                'select uuid from created where node_uuid = ?', (node_uuid,)
            ).fetchall()
        return [uuid for (uuid,) in rows]

    def intents(self, node_uuid: str) -> dict[str, list[intentions.Intent]]:
        """Return this node's unconfirmed intents by provider, oldest first."""
        found: dict[str, list[intentions.Intent]] = {}
        with self._reading():
            for row in self._db.execute(
                'select uuid, kind, generation, names, added from intent'
                ' where node_uuid = ? order by position',
                (node_uuid,),
            ):
                found.setdefault(row[0], []).append(_intent(*row))
        return found

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[intentions.Intent],
        held: Mapping[ownership.Key, ownership.Held],
    ) -> None:
        """Record what is about to be sent, durably, in one transaction.

        :param held: who holds which names from now on
        """
        with self._transaction() as db:
            for (uuid, kind), by_source in held.items():
                for source, some in by_source.items():
                    db.execute(
                        'replace into held values (?, ?, ?, ?)',
                        (uuid, kind, source, _text(some)),
                    )
            db.executemany(
                'replace into intent values (?, ?, ?, ?, ?, ?, ?)',
                [
                    (
                        node_uuid,
                        position,
                        i.uuid,
                        i.kind,
                        i.generation,
                        _text(i.names),
                        _text(i.added),
                    )
                    for position, i in enumerate(intents)
                ],
            )

    def settle(
        self,
        done: Iterable[intentions.Intent],
        dropped: Iterable[intentions.Intent] = (),
        *,
        readings: Iterable[provider.Reading] = (),
        gone: Iterable[str] = (),
    ) -> None:
        """Record what was done and what was not, in one transaction.

        :param readings: the providers as they stand after it
        :param gone: the providers deleted: all that is recorded of them goes
        """
        confirmed = list(done)
        with self._transaction() as db:
            for intent in confirmed:
                self._confirm(db, intent)
            for intent in (*confirmed, *dropped):
                self._forget_intent(db, intent)
            for reading in readings:
                self._save(db, reading)
            for uuid in gone:
                self._forget(db, uuid)

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop all that is recorded of providers that are no more."""
        with self._transaction() as db:
            for uuid in uuids:
                self._forget(db, uuid)

    # --- the nodes ------------------------------------------------------------

    def nodes(self, driver: str) -> dict[str, departures.Known]:
        """Return the nodes this driver has had here, by uuid."""
        with self._reading():
            rows = self._db.execute(
                'select uuid, name, asked_at from node where driver = ?',
                (driver,),
            ).fetchall()
        return {
            uuid: departures.Known(name=name, asked_at=asked_at)
            for uuid, name, asked_at in rows
        }

    def keep_nodes(
        self, driver: str, known: Mapping[str, departures.Known]
    ) -> None:
        """Record that the driver has these nodes, and when it was asked."""
        with self._transaction() as db:
            db.executemany(
                'replace into node values (?, ?, ?, ?)',
                [
                    (uuid, one.name, driver, one.asked_at)
                    for uuid, one in known.items()
                ],
            )

    def forget_nodes(self, uuids: Iterable[str]) -> None:
        """Drop nodes that are gone, here and there."""
        with self._transaction() as db:
            db.executemany(
                'delete from node where uuid = ?', [(u,) for u in uuids]
            )

    # --- the snapshot ---------------------------------------------------------

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return what was last read of these providers, of those known."""
        found = {}
        with self._reading():
            for uuid in uuids:
                row = self._db.execute(
                    'select * from reading where site = ? and uuid = ?',
                    (self._site, uuid),
                ).fetchone()
                if row is not None:
                    found[uuid] = _reading(row)
        return found

    def members(self, root_uuid: str) -> set[str]:
        """Return the providers last seen in the tree of this root."""
        with self._reading():
            rows = self._db.execute(
                'select uuid from reading where site = ? and root_uuid = ?',
                (self._site, root_uuid),
            ).fetchall()
        return {uuid for (uuid,) in rows}

    def save(self, readings: Iterable[provider.Reading]) -> None:
        """Keep these readings."""
        with self._transaction() as db:
            for reading in readings:
                self._save(db, reading)

    def known_names(self) -> names.KnownNames | None:
        """Return the names this placement knew when it was last asked."""
        with self._reading():
            row = self._db.execute(
                'select traits, classes, read_at from known where site = ?',
                (self._site,),
            ).fetchone()
            if row is None:
                return None
            return names.KnownNames(
                traits=_set(row[0]),
                resource_classes=_set(row[1]),
                read_at=float(row[2]),
            )

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names this placement knows; None forgets them."""
        with self._transaction() as db:
            db.execute('delete from known where site = ?', (self._site,))
            if known is not None:
                db.execute(
                    'insert into known values (?, ?, ?, ?)',
                    (
                        self._site,
                        _text(known.traits),
                        _text(known.resource_classes),
                        known.read_at,
                    ),
                )

    # --- inside ---------------------------------------------------------------

    def _site_id(self, site: str) -> int:
        find = 'select id from site where name = ?'
        row = self._db.execute(find, (site,)).fetchone()
        if row is None:
            self._db.execute('insert into site (name) values (?)', (site,))
            row = self._db.execute(find, (site,)).fetchone()
        return int(row[0])

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """One look; what cannot be understood is said and not guessed."""
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValueError, TypeError) as exc:
                raise errors.ConfigError(
                    f'the state database cannot be read ({exc}): '
                    f'{state_file.advice(exc)}'
                ) from exc

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One durable write."""
        with self._lock:
            self._check_file()
            try:
                self._db.execute('begin immediate')
                yield self._db
                self._db.execute('commit')
            except sqlite3.Error as exc:
                self._roll_back()
                raise errors.Unavailable(
                    f'the state database cannot be written ({exc}): '
                    f'{state_file.advice(exc)}'
                ) from exc
            except BaseException:
                self._roll_back()
                raise

    def _check_file(self) -> None:
        """Refuse to write into a file that is no longer there.

        :raises errors.Unavailable: it was removed or replaced meanwhile
        """
        if self._path is None:
            return
        try:
            same = self._path.stat().st_ino == self._inode
        except OSError:
            same = False
        if not same:
            raise errors.Unavailable(
                f'{self._path} was removed or replaced while the agent runs: '
                'put it back, or start the agent anew'
            )

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute('rollback')

    def _recorded(
        self, table: str, uuid: str, columns: str
    ) -> list[tuple[str, ...]]:
        query = f'select {columns} from {table} where uuid = ?'  # noqa: S608 (constants)
        return self._db.execute(query, (uuid,)).fetchall()

    def _confirm(
        self, db: sqlite3.Connection, intent: intentions.Intent
    ) -> None:
        if intent.kind is None:
            db.execute(
                'replace into created select uuid, node_uuid from intent'
                ' where uuid = ? and kind is null',
                (intent.uuid,),
            )
            return
        key = (intent.uuid, intent.kind)
        had = db.execute(
            'select name from ours where uuid = ? and kind = ?', key
        ).fetchall()
        stay = ({n for (n,) in had} | intent.added) & intent.names
        db.execute('delete from ours where uuid = ? and kind = ?', key)
        db.executemany(
            'insert into ours values (?, ?, ?)',
            [(*key, name) for name in sorted(stay)],
        )

    def _forget_intent(
        self, db: sqlite3.Connection, intent: intentions.Intent
    ) -> None:
        db.execute(
            'delete from intent where uuid = ? and kind is ?'
            ' and generation = ?',
            (intent.uuid, intent.kind, intent.generation),
        )

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        for table in _RECORD:
            query = f'delete from {table} where uuid = ?'  # noqa: S608
            db.execute(query, (uuid,))
        db.execute(
            'delete from reading where site = ? and uuid = ?',
            (self._site, uuid),
        )

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        one = reading.provider
        for kind in assertion.Kind:
            # What is not there is nobody's: it may come back as another's.
            db.execute(
                'delete from ours where uuid = ? and kind = ? and name not in'
                ' (select value from json_each(?))',
                (one.uuid, kind, _text(intentions.carried(one, kind))),
            )
        db.execute(
            'replace into reading values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (
                self._site,
                one.uuid,
                reading.root_uuid,
                one.name,
                one.parent_uuid,
                one.generation,
                _content(one),
                reading.read_at,
                reading.suspect,
            ),
        )


def _text(some: Iterable[str]) -> str:
    return json.dumps(sorted(some))


def _set(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))


def _intent(
    uuid: str, kind: str | None, generation: str, sent: str, added: str
) -> intentions.Intent:
    return intentions.Intent(
        uuid=uuid,
        kind=None if kind is None else assertion.Kind(kind),
        generation=int(generation),
        names=_set(sent),
        added=_set(added),
    )


def _content(one: provider.Provider) -> str:
    inventories = {
        rc: list(i.to_record().values()) for rc, i in one.inventories.items()
    }
    return json.dumps(
        [inventories, sorted(one.traits), sorted(one.aggregates)]
    )


def _reading(row: Sequence[object]) -> provider.Reading:
    _, uuid, root, name, parent, generation, content, read_at, suspect = row
    inventories, traits, aggregates = json.loads(str(content))
    fields = list(inventory.Inventory.__dataclass_fields__)
    return provider.Reading(
        provider=provider.Provider(
            uuid=str(uuid),
            name=str(name),
            parent_uuid=None if parent is None else str(parent),
            generation=int(str(generation)),
            inventories={
                rc: inventory.Inventory(**dict(zip(fields, i, strict=True)))
                for rc, i in inventories.items()
            },
            traits=frozenset(traits),
            aggregates=frozenset(aggregates),
        ),
        root_uuid=str(root),
        read_at=float(str(read_at)),
        suspect=bool(suspect),
    )
