# SPDX-License-Identifier: Apache-2.0
"""A booted Debian in a directory, and the placement that its agent asks."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import time
import typing
from collections.abc import Callable, Iterator

import requests

PATIENCE = 300  # seconds; only a hang takes as long
HEADERS = {
    'X-Auth-Token': 'admin',
    'OpenStack-API-Version': 'placement 1.39',
}


def wait_for(condition: Callable[[], typing.Any]) -> typing.Any:
    """Return what the condition gives once that is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, 'it did not come true'
        time.sleep(0.2)
    return found


class Machine:
    """The booted Debian; commands run in it as root."""

    def __init__(self, directory: pathlib.Path, leader: int) -> None:
        self.directory = directory
        self._enter = (
            'nsenter', '--target', str(leader), '--mount', '--uts', '--ipc',
            '--pid', '--root',
        )  # fmt: skip

    def attempt(
        self, command: str, answer: str = ''
    ) -> subprocess.CompletedProcess[str]:
        """Run a line of a shell in root's home; return how it went.

        :param answer: what a person types meanwhile
        """
        environment = {
            'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
            'DEBIAN_FRONTEND': 'noninteractive',
            'LC_ALL': 'C.UTF-8',
        }
        return subprocess.run(
            [*self._enter, '/bin/bash', '-c', f'cd /root; {command}'],
            capture_output=True, text=True, check=False, env=environment,
            input=answer,
        )  # fmt: skip

    def run(self, command: str, answer: str = '') -> str:
        """Run a line of a shell that must succeed; return its output."""
        done = self.attempt(command, answer)
        assert done.returncode == 0, f'{command}\n{done.stdout}{done.stderr}'
        return done.stdout.strip()

    def path(self, inside: str) -> pathlib.Path:
        """Return the path of this file from outside."""
        return self.directory / inside.lstrip('/')

    def service(self, name: str, unit: str = 'compute-agent') -> str:
        """Return a property of the daemon's unit."""
        return self.run(f'systemctl show {unit} -P {name}')


@contextlib.contextmanager
def booted(directory: pathlib.Path, *options: str) -> Iterator[Machine]:
    """Boot the Debian in a directory, and delete it at the end.

    :param options: of systemd-nspawn
    """
    process = subprocess.Popen(
        ['systemd-nspawn', '--quiet', '--register=no', '--keep-unit',
         '--console=pipe', '--boot', f'--directory={directory}', *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        leader = wait_for(lambda: first_child(process.pid))
        made = Machine(directory, leader)
        up = 'systemctl is-system-running --wait'
        wait_for(lambda: made.attempt(up).stdout.strip() == 'running')
        yield made
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
        process.kill()
        process.wait()
        shutil.rmtree(directory, ignore_errors=True)


def first_child(pid: int) -> int | None:
    """Return the first child of this process, if it has one."""
    listed = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text()
    return int(listed.split()[0]) if listed else None


class Placement:
    """The real placement, in a process of this checkout."""

    def __init__(self, port: int) -> None:
        self.url = f'http://127.0.0.1:{port}'

    def get(self, path: str) -> typing.Any:
        """Return the answer, or None while nobody answers."""
        try:
            return requests.get(
                self.url + path, headers=HEADERS, timeout=PATIENCE
            ).json()
        except requests.ConnectionError:
            return None

    def clear(self) -> None:
        """Delete all providers."""
        for uuid in self.providers().values():
            requests.delete(
                f'{self.url}/resource_providers/{uuid}',
                headers=HEADERS,
                timeout=PATIENCE,
            ).raise_for_status()

    def providers(self) -> dict[str, str]:
        """Return the names of the providers and their uuids."""
        found = self.get('/resource_providers')['resource_providers']
        return {p['name']: p['uuid'] for p in found}


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return int(found.getsockname()[1])
