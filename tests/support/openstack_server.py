# SPDX-License-Identifier: Apache-2.0
"""A real keystone or placement in a process, which starts again with its data.

Both come from an environment of their own (``make .servers/keystone.stamp``),
in which ``serve_openstack.py`` runs them. They listen at 127.0.0.1 without TLS.
"""

import contextlib
import os
import pathlib
import random
import socket
import subprocess
import time
from collections.abc import Sequence

import requests

from demo import server_process

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get(
    'COMPUTE_AGENT_KEYSTONE', str(ROOT / '.servers/keystone/bin/python')
)
MISSING = (
    f'there is no {PYTHON}: "make .servers/keystone.stamp" installs keystone'
)
PATIENCE = 240.0  # seconds, for a machine at its limits
# The kernel takes none of these for the client's end of a connection, so that
# a server that was away finds its port free.
_PORTS = range(10_240, 32_768)
_SCRIPT = pathlib.Path(__file__).with_name('serve_openstack.py')


class OpenStackServer:
    """Keystone or placement between ``start`` and ``stop``.

    :param name: ``keystone`` or ``placement``
    :param folder: has its configuration file, its log and its data
    :param threads: SQLite takes one only
    :param environment: VARIABLE=value for the process
    :ivar url: its address
    """

    def __init__(
        self,
        name: str,
        folder: pathlib.Path,
        *,
        threads: int = 1,
        environment: Sequence[str] = (),
    ) -> None:
        self._log = folder / f'{name}.log'
        port = steady_port()
        self.url = f'http://127.0.0.1:{port}'
        self._command = [
            *('env', *environment, PYTHON, str(_SCRIPT)),
            *(name, str(folder), str(port), str(threads)),
        ]
        self._undo = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the process; ``wait`` says when it answers."""
        self._process = self._undo.enter_context(
            server_process.running(self._command, self._log)
        )

    def wait(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            is_alive = self._process and self._process.poll() is None
            assert is_alive, server_process.last_error(self._log)
            assert time.monotonic() < deadline, f'{self.url} does not answer'
            time.sleep(0.05)

    def start(self) -> None:
        """Start it; return when it answers."""
        self.begin()
        self.wait()

    def stop(self) -> None:
        """End it."""
        self._undo.close()

    def _answers(self) -> bool:
        with requests.Session() as session:
            session.trust_env = False  # no proxy for the loopback
            try:
                session.get(self.url, timeout=PATIENCE)
            except requests.RequestException:
                return False
        return True


def steady_port() -> int:
    """Return a free port that is no client's while its server is away."""
    while True:
        port = random.choice(_PORTS)
        with (
            contextlib.suppress(OSError),
            socket.create_server(('127.0.0.1', port)),
        ):
            return port
