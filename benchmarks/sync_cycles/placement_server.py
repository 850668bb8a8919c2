# SPDX-License-Identifier: Apache-2.0
"""Placement in its own environment: uwsgi with worker processes.

``make bench`` installs it in ``.servers/placement``. It listens on the
loopback, and every client can be an administrator.
"""

import contextlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from . import agents, databases, processor_time, routes

PROGRAMS = agents.ROOT / '.servers' / 'placement' / 'bin'
CONFIG = 'placement.conf'
READY = 60  # seconds in which it must answer
MICROVERSION = '1.39'
_CONFIG = """
[api]
auth_strategy = noauth2
[placement_database]
connection = {url}
sync_on_startup = false
"""
_UWSGI = (
    '--http-socket={address} --add-header=Connection:close --master '
    '--module=benchmarks.sync_cycles.counted_placement:application '
    '--processes={workers} --threads=1 --lazy-apps --need-app '
    '--die-on-term --disable-logging --buffer-size=65535'
)


class Failed(Exception):
    """Placement did not start, or refused a request."""


class PlacementServer:
    """A running placement; it counts requests and processor time."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        port: int,
        noted: pathlib.Path,
        database_pid: int | None,
    ) -> None:
        self.url = f'http://127.0.0.1:{port}'
        self._process = process
        self._port = port
        self._noted = noted
        self._database_pid = database_pid

    def request(
        self, method: str, path: str, body: Any = None
    ) -> tuple[int, bytes]:
        """Return status and body of the answer to a request."""
        address = http.client.HTTPConnection('127.0.0.1', self._port)
        headers = {
            'X-Auth-Token': 'admin',
            'X-Roles': 'admin,service',  # POST /reshaper is a service's
            'OpenStack-API-Version': f'placement {MICROVERSION}',
            'Content-Type': 'application/json',
        }
        sent = None if body is None else json.dumps(body)
        with contextlib.closing(address) as connection:
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def mark(self) -> int:
        """Return the current end of the log of requests."""
        return self._noted.stat().st_size

    def since(self, mark: int) -> dict[str, int]:
        """Return the number of requests since a mark, by route."""
        with self._noted.open(encoding='utf-8') as noted:
            noted.seek(mark)
            return routes.counted(noted.read().splitlines())

    def processor_time(self) -> tuple[float, float]:
        """Return the seconds of placement's workers and of its database."""
        database = self._database_pid
        return (
            processor_time.of_tree(self._process.pid),
            processor_time.of_tree(database) if database else 0.0,
        )

    def wait(self) -> None:
        """Wait until it answers.

        :raises Failed: it ended, or does not answer in time
        """
        deadline = time.monotonic() + READY
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.request('GET', '/resource_classes')[0] == 200:
                    return
            time.sleep(0.02)
        log = self._noted.with_name('placement.log')
        raise Failed(f'placement does not start: {log.read_text()[-2000:]}')


@contextlib.contextmanager
def started(
    known: databases.Databases, name: str, folder: pathlib.Path, port: int
) -> Iterator[PlacementServer]:
    """Yield a placement that serves this database; end it on exit."""
    environment = _configured(known.url(name), folder)
    noted = folder / 'requests'
    noted.write_text('')
    words = _UWSGI.format(
        address=f'127.0.0.1:{port}', workers=known.workers
    ).split()
    with (folder / 'placement.log').open('wb') as log:
        process = subprocess.Popen(  # noqa: S603
            [PROGRAMS / 'uwsgi', *words],
            stdout=log,
            stderr=log,
            env={**environment, 'BENCH_REQUESTS': str(noted)},
        )
    with process:
        try:
            server = PlacementServer(process, port, noted, known.pid)
            server.wait()
            yield server
        finally:
            process.terminate()


def free_port() -> int:
    """Return a free port of the loopback."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def prepare(
    known: databases.Databases, name: str, folder: pathlib.Path
) -> None:
    """Create a database with placement's tables, traits and classes.

    The application is loaded once by itself, because workers that start
    together would insert the traits at the same time.
    """
    known.create(name)
    environment = _configured(known.url(name), folder)
    config = f'--config-file={folder / CONFIG}'
    sync = [str(PROGRAMS / 'placement-manage'), config, 'db', 'sync']
    load = [str(PROGRAMS / 'python'), '-c', 'import placement.wsgi.api']
    for words in (sync, load):
        done = subprocess.run(  # noqa: S603
            words, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Failed(f'{words[-1]}: {done.stderr[-2000:]}')


def _configured(url: str, folder: pathlib.Path) -> dict[str, str]:
    """Write the configuration; return the environment that selects it."""
    text = _CONFIG.format(url=url)
    (folder / CONFIG).write_text(text, encoding='utf-8')
    kept = {k: v for k, v in os.environ.items() if not k.startswith('OS_')}
    return {
        **kept,
        'OS_PLACEMENT_CONFIG_DIR': str(folder),
        'PYTHONPATH': str(agents.ROOT),
    }
