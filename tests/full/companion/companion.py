# SPDX-License-Identifier: Apache-2.0
"""The companion of a test: its files, its daemon, its commands.

It is configured as docs/companion.md says: nova's files first, and one more for
the agent. The driver is ``host``, with rules and facts of the test's own beside
the starter rules.
"""

import contextlib
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

import yaml

from demo import server_process

# What the companion says while there is no root.
WAITS = 'nova-compute creates it'
_CONF = """\
[DEFAULT]
compute_driver = host
debug = false
use_stderr = true
[compute_agent]
mode = companion
state_path = {folder}/state
[compute]
provider_config_location = {folder}/provider_config
[placement]
endpoint = {placement}
[facts]
directories = {folder}/facts.d
[rules]
directory = {folder}/rules.d
"""
# As docs/in-place-of-nova.md says. It takes nova's line for its driver libvirt.
_REPORTER = """\
[DEFAULT]
use_stderr = true
[compute_agent]
mode = reporter
state_path = {folder}/state
[compute]
provider_config_location = {folder}/provider_config
[placement]
endpoint = {placement}
[rules]
directory = {folder}/rules.d
[facts]
directories = {folder}/facts.d
"""
# What it needs besides if it does not read nova's files.
_BY_ITSELF = """\
[DEFAULT]
host = a-service-s-name
state_path = {folder}
[placement]
auth_type = admin_token
token = admin
[libvirt]
connection_uri = {libvirt}
"""
RULES = """\
rules:
- name: rack
  traits: ['CUSTOM_RACK_{local.rack}']
- name: hypervisor
  traits: ['CUSTOM_GUESTS_OF_{libvirt.hypervisor}']
- name: fpga
  child: '{node}_fpga'
  traits: [CUSTOM_FAST]
  inventory: {CUSTOM_FPGA: local.fpgas}
"""


class Companion:
    """A companion in a folder of its own.

    :param placement: the address of placement
    :param novas: nova's configuration files
    """

    def __init__(
        self,
        folder: pathlib.Path,
        placement: str,
        novas: Sequence[pathlib.Path],
    ) -> None:
        self.folder = folder
        self.placement = placement
        for name in ('facts.d', 'rules.d', 'provider_config'):
            (folder / name).mkdir(parents=True)
        self.conf = folder / 'companion.conf'
        self.conf.write_text(_CONF.format(folder=folder, placement=placement))
        self.novas = list(novas)
        self._undo: contextlib.ExitStack | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.write_rules(RULES)
        self.write_facts({'rack': 7, 'fpgas': 2})

    @property
    def log(self) -> str:
        """All that its last daemon said; nothing before it starts."""
        return self._log.read_text() if self._log.exists() else ''

    @property
    def has_cycled(self) -> bool:
        """True if its last daemon ended a cycle, be it to wait for nova."""
        return ' cycle: ' in self.log or self.waits

    @property
    def waits(self) -> bool:
        """True if it said that it waits for the root."""
        return WAITS in self.log

    def write_rules(self, text: str) -> None:
        """Replace the rules; a daemon reads them on SIGHUP."""
        (self.folder / 'rules.d' / 'site.yaml').write_text(text)

    def write_facts(self, facts: Mapping[str, object]) -> None:
        """Replace the facts of the site; a daemon reads them in each cycle."""
        folder = self.folder / 'facts.d'
        (folder / '.new').write_text(yaml.safe_dump({'facts': dict(facts)}))
        (folder / '.new').rename(folder / 'site.yaml')

    def start(self) -> None:
        """Start the daemon."""
        with contextlib.ExitStack() as undo:
            self._process = undo.enter_context(
                server_process.running(self._command('run'), self._log)
            )
            self._undo = undo.pop_all()

    def become_reporter(self, more: str = '') -> None:
        """Be configured for a host whose nova-compute reports nothing.

        :param more: lines of the configuration besides
        """
        self.conf.write_text(
            _REPORTER.format(folder=self.folder, placement=self.placement)
            + more
        )

    def reload(self) -> None:
        """Send SIGHUP to the daemon."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def stop(self) -> None:
        """End the daemon if it runs."""
        if self._undo is not None:
            self._undo.close()

    def forget(self) -> None:
        """Become an agent that never ran here."""
        shutil.rmtree(self.folder / 'state')

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command; return what it prints."""
        done = subprocess.run(
            self._command(*words),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def read_no_files_of_novas(self, libvirt: str) -> None:
        """Be configured without nova's files, and so without its uuid file."""
        conf = self.folder / 'by_itself.conf'
        conf.write_text(_BY_ITSELF.format(folder=self.folder, libvirt=libvirt))
        self.novas = [conf]

    @property
    def _log(self) -> pathlib.Path:
        return self.folder / 'companion.log'

    def _command(self, *words: str) -> list[str]:
        files = [f'--config-file={file}' for file in (*self.novas, self.conf)]
        program = [sys.executable, '-u', '-m', 'compute_agent.cmd.app.start']
        return [*program, *files, *words]
