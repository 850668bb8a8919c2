# SPDX-License-Identifier: Apache-2.0
"""A real nova-compute that reports to a placement, one configuration a time.

It is installed in an environment of its own (``make .servers/nova.stamp``) and
runs as one process (``nova_compute.py``), with SQLite databases below a folder.
"""

import contextlib
import json
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Sequence

import cases
import reported

from compute_agent import errors
from demo import server_process

HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE.parents[1] / '.servers' / 'nova' / 'bin'
PATIENCE = 600.0  # seconds; it takes ten
LOOK = 0.2  # seconds between two looks
STILL = 2.0  # seconds without a change, after which the report is complete
TRAIT_OF_THE_END = 'COMPUTE_NODE'  # nova writes the traits of a root last

_CONF = """\
[DEFAULT]
host = {host}
state_path = {folder}/state
transport_url = fake:/
compute_driver = libvirt.LibvirtDriver
periodic_fuzzy_delay = 0
report_interval = 10
update_resources_interval = 10
use_stderr = false
graceful_shutdown_timeout = 1
manager_shutdown_timeout = 0
[database]
connection = sqlite:///{folder}/cell1.sqlite?timeout=60
sqlite_synchronous = false
[api_database]
connection = sqlite:///{folder}/api.sqlite?timeout=60
sqlite_synchronous = false
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[libvirt]
virt_type = qemu
connection_uri = {libvirt}
[vnc]
enabled = false
[oslo_concurrency]
lock_path = {folder}/state/lock
[nova_sys_admin]
helper_command = {programs}/privsep-helper --config-file {folder}/nova.conf
"""


# Prints the options of nova by group.
_OPTIONS = """\
import json, nova.conf
conf = nova.conf.CONF
groups = {name: sorted(group._opts) for name, group in conf._groups.items()}
print(json.dumps({'DEFAULT': sorted(conf._opts), **groups}))
"""


def options() -> dict[str, list[str]]:
    """Return the names of nova's options by group."""
    done = subprocess.run(
        [str(PROGRAMS / 'python'), '-c', _OPTIONS],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


class LocalNova:
    """nova-compute with databases in a folder.

    :param placement: the address of placement
    :param libvirt: the address of libvirt
    """

    def __init__(
        self, folder: pathlib.Path, placement: str, libvirt: str
    ) -> None:
        self._folder = folder
        self._placement = reported.Placement(placement)
        folder.mkdir()
        self.conf.write_text(
            _CONF.format(
                host=socket.gethostname(),
                folder=folder,
                placement=placement,
                libvirt=libvirt,
                programs=PROGRAMS,
            )
        )

    @property
    def _template(self) -> pathlib.Path:
        """The folder of the databases without any host."""
        return self._folder / 'empty'

    @property
    def conf(self) -> pathlib.Path:
        """The file that all cases share."""
        return self._folder / 'nova.conf'

    def create_databases(self) -> None:
        """Make nova's databases, with one cell."""
        files = f'sqlite:///{self._folder}'
        server_process.run(
            [
                str(PROGRAMS / 'python'),
                str(HERE / 'nova_databases.py'),
                *self._files(),
                f'{files}/cell0.sqlite',
                f'{files}/cell1.sqlite?timeout=60',
            ],
            self._folder / 'databases.log',
            PATIENCE,
        )
        self._template.mkdir()
        for file in self._folder.glob('*.sqlite'):
            # nova's threads get "database is locked" less often so.
            with contextlib.closing(sqlite3.connect(file)) as database:
                database.execute('PRAGMA journal_mode = WAL')
            shutil.copy(file, self._template)

    def forget(self, *, keeps_identity: bool = False) -> None:
        """Make nova as it is on a new host.

        :param keeps_identity: True to forget what its databases have only
        """
        if not keeps_identity:
            shutil.rmtree(self._folder / 'state', ignore_errors=True)
            (self._folder / 'state' / 'instances').mkdir(parents=True)
        for file in self._folder.glob('*.sqlite-*'):
            file.unlink()  # of a nova-compute that was killed
        for file in self._template.iterdir():
            shutil.copy(file, self._folder)

    def report(self, case: cases.Case, conf: pathlib.Path) -> reported.Report:
        """Return what nova-compute reports with this file beside the first.

        :raises errors.ConfigError: it reports nothing, or something, contrary
            to the case
        """
        self.forget()
        log = self._folder / f'{case.name}.log'
        output = self._folder / f'{case.name}.out'
        command = [
            *(str(PROGRAMS / 'python'), str(HERE / 'nova_compute.py')),
            *(*self._files(conf), '--log-file', str(log)),
        ]
        log.touch()
        with server_process.running(command, output) as process:
            found = self._awaited(process, log)
        if bool(_roots(found)) is case.reports_nothing:
            raise errors.ConfigError(
                f'{case.name}: nova-compute reports '
                f'{"something" if case.reports_nothing else "nothing"}; '
                f'its log is {log}'
            )
        return found

    def _files(self, *more: pathlib.Path) -> Sequence[str]:
        return [
            word
            for file in (self.conf, *more)
            for word in ('--config-file', str(file))
        ]

    def _awaited(
        self, process: subprocess.Popen[bytes], log: pathlib.Path
    ) -> reported.Report:
        """Return the report once it is complete, or failed for good."""
        deadline = time.monotonic() + PATIENCE
        found, since = self._placement.report(), time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(LOOK)
            now = self._placement.report()
            if now != found:
                found, since = now, time.monotonic()
            is_over = bool(_roots(found)) or _failed(process, log)
            if is_over and time.monotonic() - since > STILL:
                return found
        return found


def _roots(found: reported.Report) -> list[reported.Provider]:
    """Return the roots that are complete."""
    return [
        one
        for one in found.values()
        if not one.parent and TRAIT_OF_THE_END in one.traits
    ]


def _failed(process: subprocess.Popen[bytes], log: pathlib.Path) -> bool:
    """Return True if nova-compute ended, or said that it cannot report.

    A fatal mistake does not end it: some of its threads go on.
    """
    text = log.read_text(errors='replace')
    return (
        process.poll() is not None
        or ' CRITICAL ' in text
        or 'Error updating resources for node' in text
    )
