# SPDX-License-Identifier: Apache-2.0
"""A Prometheus that answers queries about samples of another time.

``promtool`` makes its database of them; the server listens on 127.0.0.1 and
scrapes nothing. Both programs come from the distribution
(``make .servers/prometheus.stamp``).
"""

import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

FETCHED = pathlib.Path(__file__).parents[2] / '.servers/prometheus'
PATIENCE = 120.0  # seconds until it answers


class Prometheus:
    """A running server.

    :param url: where it answers
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def at(self, expr: str, when: float) -> list[dict[str, Any]]:
        """Return the samples of a query at one moment."""
        return self._ask('query', query=expr, time=when)

    def between(
        self, expr: str, *, begin: float, end: float, step: float
    ) -> list[dict[str, Any]]:
        """Return the series of a query."""
        return self._ask(
            'query_range', query=expr, start=begin, end=end, step=step
        )

    def is_ready(self) -> bool:
        """Return True once it answers."""
        try:
            with urllib.request.urlopen(f'{self._url}/-/ready', timeout=5):  # noqa: S310 (its own server)
                return True
        except OSError:
            return False

    def _ask(self, what: str, **fields: object) -> list[dict[str, Any]]:
        url = f'{self._url}/api/v1/{what}?{urllib.parse.urlencode(fields)}'
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 (its own server)
            found: list[dict[str, Any]] = json.load(answer)['data']['result']
        return found


@contextlib.contextmanager
def serving(
    lines: Iterable[str], directory: pathlib.Path
) -> Iterator[Prometheus]:
    """Yield a server that has these lines of OpenMetrics.

    :param directory: for its files
    """
    given, data = directory / 'samples', directory / 'data'
    given.write_text(''.join(f'{line}\n' for line in lines))
    (directory / 'empty.yaml').write_text('{}\n')
    subprocess.run(  # noqa: S603 (programs of the distribution)
        [
            *(_program('promtool'), 'tsdb', 'create-blocks-from'),
            *('openmetrics', str(given), str(data)),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    where = f'127.0.0.1:{_free_port()}'
    with subprocess.Popen(  # noqa: S603 (programs of the distribution)
        [
            _program('prometheus'),
            f'--config.file={directory / "empty.yaml"}',
            f'--storage.tsdb.path={data}',
            '--storage.tsdb.retention.time=99y',
            f'--web.listen-address={where}',
            '--log.level=error',
        ]
    ) as running:
        try:
            yield _ready(Prometheus(f'http://{where}'), running)
        finally:
            running.terminate()


def _ready(
    server: Prometheus, running: 'subprocess.Popen[bytes]'
) -> Prometheus:
    until = time.monotonic() + PATIENCE
    while not server.is_ready():
        if running.poll() is not None or time.monotonic() > until:
            raise SystemExit('prometheus did not start')
        time.sleep(0.2)
    return server


def _program(name: str) -> str:
    found = FETCHED / name
    path = str(found) if found.exists() else shutil.which(name)
    if path is None:
        raise SystemExit(f'{name} is missing: Debian has it in "prometheus"')
    return path


def _free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
