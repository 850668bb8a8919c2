# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the real database servers; each is started once in a process."""

import collections.abc

import pytest
from databases import galera as cluster
from databases import postgresql_pair, relay

from benchmarks.sync_cycles import postgresql


@pytest.fixture(scope='session')
def postgresql_servers() -> collections.abc.Iterator[
    postgresql_pair.PostgreSQLPair
]:
    """A PostgreSQL and a standby of it."""
    if not postgresql.is_installed():
        pytest.fail(postgresql_pair.MISSING)
    with postgresql_pair.running() as pair:
        yield pair


@pytest.fixture
def pair(
    postgresql_servers: postgresql_pair.PostgreSQLPair,
) -> postgresql_pair.PostgreSQLPair:
    """A PostgreSQL with a standby that follows it."""
    postgresql_servers.repair()
    return postgresql_servers


@pytest.fixture(scope='session')
def galera() -> collections.abc.Iterator[cluster.Galera]:
    """A Galera cluster of three."""
    if not cluster.is_installed():
        pytest.fail(cluster.MISSING)
    with cluster.running() as servers:
        yield servers


@pytest.fixture
def relaying() -> collections.abc.Iterator[
    collections.abc.Callable[..., relay.Relay]
]:
    """A function that makes a relay; all end with the test."""
    made: list[relay.Relay] = []

    def make(
        target: collections.abc.Callable[[], relay.Address],
    ) -> relay.Relay:
        made.append(relay.Relay(target))
        return made[-1]

    yield make
    for one in made:
        one.close()
