# SPDX-License-Identifier: Apache-2.0
"""Real database servers that several agents share, and how they fail.

``postgresql_pair.py`` has a primary with a standby that can be promoted,
``galera.py`` a cluster of three; both have the verbs of ``Servers`` below. They
listen on 127.0.0.1 and end with the test. ``relay.py`` stands for the network
between a client and its server, ``namespace.py`` is a network of its own.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import tempfile
import time
import typing
from collections.abc import Callable, Collection, Iterator

import stopped_process

PATIENCE = 120.0  # seconds, for a machine at its limits
USER = 'agent'


class Servers(typing.Protocol):
    """Some servers with the same data; the first is number 0."""

    def new_database(self, name: str) -> None:
        """Make an empty database; an existing one is replaced."""

    def url(self, name: str, at: tuple[str, int] | None = None) -> str:
        """Return SQLAlchemy's URL of a database.

        :param at: host and port; those of server 0 by default
        """

    def address(self, number: int = 0) -> tuple[str, int]:
        """Return host and port of a server that takes writes."""

    def kill_sessions(
        self, name: str, ports: Collection[int] | None = None
    ) -> int:
        """End sessions in a database at the servers; return how many.

        :param ports: those of the clients; all by default
        """

    def accounts(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Return a context with two more accounts.

        ``locked`` has a password that nobody knows, ``guest`` the password
        "secret" and no right but to look into this database.
        """

    def stopped(
        self, number: int = 0
    ) -> contextlib.AbstractContextManager[None]:
        """Return a context in which the server's processes do not run."""


@contextlib.contextmanager
def folder(owner: str) -> Iterator[pathlib.Path]:
    """Yield a new directory that a server's user can reach.

    It is in memory where that is possible: it holds many files for minutes.
    """
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    made = pathlib.Path(tempfile.mkdtemp(prefix='databases-', dir=place))
    try:
        made.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(made, owner)
        yield made
    finally:
        shutil.rmtree(made)


@contextlib.contextmanager
def no_processor(pid: int) -> Iterator[None]:
    """Stop a process and its children; let them go on at the end."""
    stopped: list[int] = []
    try:
        for number in family(pid):
            stopped.append(number)
            stopped_process.freeze(number)
        yield
    finally:
        for number in reversed(stopped):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)


def family(pid: int) -> Iterator[int]:
    """Yield the process, then its children: a stopped one makes no more."""
    yield pid
    listed = ''
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        # Another one may end meanwhile.
        listed = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text()
    for child in listed.split():
        yield from family(int(child))


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds.

    :raises AssertionError: it does not in two minutes
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f'not in time: {what}'
        time.sleep(0.05)
