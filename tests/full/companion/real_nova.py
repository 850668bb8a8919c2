# SPDX-License-Identifier: Apache-2.0
"""The real nova-compute of a test: its files, its process, its log.

The databases are made once for all tests, and each begins with those of a new
host. nova's environment runs what needs nova's code.
"""

import contextlib
import os
import pathlib
import re
import sqlite3

import local_nova  # type: ignore[import-not-found]

from demo import server_process

HERE = pathlib.Path(__file__).parent
PARITY = HERE.parents[1] / 'parity'
PATIENCE = 600.0  # seconds; only a hang takes as long
# Seconds. nova's defaults are 60 s, and 300 s for the refresh.
INTERVAL = int(os.environ.get('COMPUTE_AGENT_COMPANION_INTERVAL', '1'))
SERVICE = 'a-service-s-name'
_CONF = """\
[DEFAULT]
host = {service}
periodic_fuzzy_delay = 0
update_resources_interval = {interval}
[compute]
resource_provider_association_refresh = {refresh}
[placement]
endpoint = {placement}
"""
_TROUBLE = re.compile(
    r'(?m)^\S+ \S+ \d+ ((?:WARNING|ERROR|CRITICAL) \S+) \[.*?\] (.*)'
)
# On a busy machine, a task of nova's may last longer than the short interval of
# the test: the last of these. The others are said when the test ends nova.
_OF_THE_TEST = (
    'pool does not have free threads',
    'graceful shutdown did not complete',
    'because shutdown has been started',
    'A dynamic interval looping call should supply',
)
_UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def is_installed() -> bool:
    """Return True if nova and what it needs of libvirt are installed."""
    stamp = HERE.parents[2] / '.servers' / 'nova-libvirt.stamp'
    return stamp.exists()


class RealNova:
    """nova-compute on this host.

    :param local: its databases and the file that all tests share
    :param folder: of this test
    :param placement: the address of placement
    """

    def __init__(
        self,
        local: local_nova.LocalNova,
        folder: pathlib.Path,
        placement: str,
    ) -> None:
        self._local = local
        self._local.forget()
        self._folder = folder
        self._log = folder / 'nova-compute.log'
        self._log.touch()
        self._conf = folder / 'nova-test.conf'
        self._placement = placement
        self.call_service(SERVICE)
        self.more: list[pathlib.Path] = []
        self.number = 0  # of the process
        self._undo = contextlib.ExitStack()

    @property
    def state_path(self) -> pathlib.Path:
        """nova's directory of that name."""
        return self._local.conf.parent / 'state'

    @property
    def files(self) -> list[pathlib.Path]:
        """The configuration files."""
        return [self._local.conf, self._conf, *self.more]

    def call_service(self, host: str) -> None:
        """Set nova's option ``host``."""
        self._conf.write_text(
            _CONF.format(
                service=host,
                interval=INTERVAL,
                refresh=5 * INTERVAL,
                placement=self._placement,
            )
        )

    def start(self) -> None:
        """Start nova-compute."""
        script = str(PARITY / 'nova_compute.py')
        process = self._undo.enter_context(
            server_process.running(
                self._command('python', '-u', script, 'CONF', self._log_file),
                self._folder / 'nova-output',
            )
        )
        self.number = process.pid

    def stop(self) -> None:
        """End nova-compute if it runs."""
        self._undo.close()

    def run(self, *words: str) -> None:
        """Run a program of nova's environment.

        :param words: with CONF for the options that name the files
        """
        log = self._folder / 'nova-command.log'
        server_process.run(self._command(*words), log, PATIENCE)

    def delete_service(self, *, keeps_identity: bool = True) -> None:
        """Delete the compute service, whose process has ended.

        :param keeps_identity: False if the file ``compute_id`` goes, too
        """
        self.run('python', str(HERE / 'delete_service.py'), 'CONF')
        self._local.forget(keeps_identity=keeps_identity)

    def disable_service(self, *, disabled: bool) -> None:
        """Disable or enable the compute service, as nova-api does."""
        database = self._local.conf.parent / 'cell1.sqlite'
        with contextlib.closing(sqlite3.connect(database, timeout=30)) as db:
            db.execute('update services set disabled = ?', (disabled,))
            db.commit()

    # --- the log --------------------------------------------------------------

    @property
    def log(self) -> str:
        """The log of all its runs."""
        return self._log.read_text(errors='replace')

    def troubles(self, since: int = 0) -> set[str]:
        """Return the warnings and errors of the log from a place on.

        Without times and uuids, so that those of two runs can be compared.
        """
        return {
            f'{where}: {_UUID.sub("UUID", said)}'
            for where, said in _TROUBLE.findall(self.log[since:])
            if not any(text in said for text in _OF_THE_TEST)
        }

    @property
    def _log_file(self) -> str:
        return f'--log-file={self._log}'

    def _command(self, program: str, *words: str) -> list[str]:
        files = [f'--config-file={file}' for file in self.files]
        rest = [
            w for word in words for w in (files if word == 'CONF' else [word])
        ]
        return [str(local_nova.PROGRAMS / program), *rest]
