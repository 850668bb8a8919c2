# SPDX-License-Identifier: Apache-2.0
"""A real libvirtd of the tests' own, with QEMU's and the test driver.

It is libvirt's session daemon: it runs without privileges, in a folder of its
own, so several run side by side, and beside the system's. If root runs the
tests, the user nobody runs the daemon. There is no KVM in it: guests would be
emulated, so its answers depend on the machine's processor only. The parity
run uses it, too.
"""

import contextlib
import functools
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import typing

import stopped_process
from defusedxml import ElementTree

from compute_agent import errors
from demo import server_process
from drivers.libvirt_python import connection

PROGRAM = 'libvirtd'
EMULATOR = 'qemu-system-x86_64'
HINT = (
    'run "make .servers/libvirt.stamp", which tells the packages that are '
    'missing'
)
# Seconds; the first start asks QEMU, which takes four on an idle machine and a
# minute on a busy one. Only a libvirtd that fails takes as long as this.
PATIENCE = 300.0
NOBODY = 65534

_CONF = """\
unix_sock_dir = "{folder}"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "3:file:{folder}/libvirtd.log"
"""
_FOLDERS = ('CACHE', 'CONFIG', 'DATA', 'RUNTIME')


class LocalLibvirt:
    """A libvirtd that runs between ``start`` and ``stop`` or ``kill``.

    It can be started again, and then has the same address.

    :param folder: exists and belongs to the user that runs the daemon; its
        path is short, because a socket's must be
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._undo = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The address of QEMU's driver, for ``[libvirt] connection_uri``."""
        return f'qemu+unix:///session?socket={self._socket}'

    @property
    def test_uri(self) -> str:
        """The address of the test driver, whose host is made up.

        Its devices can be created and deleted. They are lost when the last
        connection to it is closed.
        """
        return f'test+unix:///default?socket={self._socket}'

    @property
    def _socket(self) -> pathlib.Path:
        return self._folder / 'libvirt-sock'

    def start(self) -> None:
        """Start the daemon; return when it answers, and quickly from then on.

        :raises errors.ConfigError: it is not installed, or does not answer
        """
        binding()
        _installed(EMULATOR)
        conf = self._folder / 'libvirtd.conf'
        conf.write_text(_CONF.format(folder=self._folder))
        with contextlib.ExitStack() as undo:
            self._process = undo.enter_context(
                server_process.running(self._command(conf), self._log)
            )
            self._wait(self._process)
            self._warm_up()
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """End the daemon, as its package's unit would."""
        self._undo.close()

    def kill(self) -> None:
        """Kill the daemon; it cannot say goodbye."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """Stop the daemon in the middle of its work, until ``thaw``."""
        if self._process is not None:
            stopped_process.freeze(self._process.pid)

    def thaw(self) -> None:
        """Let a frozen daemon go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """End the daemon and start it again."""
        self.stop()
        self.start()

    def rename_host(self, name: str) -> None:
        """Give this daemon's host another name; the machine keeps its own.

        :raises errors.ConfigError: the daemon has no host name of its own,
            because only root can give it one
        """
        if self._process is None or not _may_have_own_name():
            raise errors.ConfigError(
                'only root can give a libvirtd a host name of its own, by '
                'unshare and nsenter of util-linux'
            )
        space = f'--uts=/proc/{self._process.pid}/ns/uts'
        subprocess.run(['nsenter', space, 'hostname', name], check=True)

    def restart_if_ended(self) -> None:
        """Start the daemon again if it does not run."""
        if self._process is None or self._process.poll() is not None:
            self.restart()

    @property
    def _log(self) -> pathlib.Path:
        return self._folder / 'output.log'

    def _command(self, conf: pathlib.Path) -> list[str]:
        places = [f'HOME={self._folder}']
        for name in _FOLDERS:
            place = self._folder / name.lower()
            place.mkdir(mode=0o700, exist_ok=True)
            _give_away(place)
            suffix = 'DIR' if name == 'RUNTIME' else 'HOME'
            places.append(f'XDG_{name}_{suffix}={place}')
        pid_file = str(self._folder / 'libvirtd.pid')
        daemon = [_installed(PROGRAM), '-f', str(conf), '-p', pid_file]
        own = ['unshare', '--uts', '--'] if _may_have_own_name() else []
        return [*own, *_as_nobody(), 'env', *places, *daemon]

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise errors.ConfigError(
                f'{PROGRAM} does not answer; '
                f'{server_process.last_error(self._log)}'
            )

    def _warm_up(self) -> None:
        """Ask what takes long the first time, however long it takes.

        The agent waits a limited time for an answer, so on a busy machine its
        first cycle could find what guests can have unknown.
        """
        libvirt = binding()
        with contextlib.closing(libvirt.open(self.uri)) as connection:
            for arch, machine, kind in _guests(connection.getCapabilities()):
                # A kind that libvirt refuses is refused quickly.
                with contextlib.suppress(libvirt.libvirtError):
                    connection.getDomainCapabilities(None, arch, machine, kind)
        devices = [_installed(EMULATOR), '-device', 'help']
        subprocess.run(devices, check=True, stdout=subprocess.DEVNULL)

    def _answers(self) -> bool:
        libvirt = binding()
        try:
            with contextlib.closing(libvirt.open(self.uri)) as connection:
                connection.getVersion()
        except libvirt.libvirtError:
            return False
        return True


@contextlib.contextmanager
def running() -> typing.Iterator[LocalLibvirt]:
    """Yield a libvirtd in a folder below /tmp, which is removed afterwards."""
    # Pytest's own folders have paths that are too long for a socket, and no
    # other user may enter those of root.
    folder = pathlib.Path(tempfile.mkdtemp(prefix='libvirt-', dir='/tmp'))
    try:
        _give_away(folder)
        server = LocalLibvirt(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def binding() -> typing.Any:
    """Return libvirt-python.

    :raises errors.ConfigError: it is not installed
    """
    try:
        return connection.load_binding()
    except errors.DriverError as exc:
        raise errors.ConfigError(f'{exc}; {HINT}') from exc


def _guests(capabilities: str) -> typing.Iterator[tuple[str, str, str]]:
    """Yield architecture, machine type and virt_type of guests to ask about."""
    found = ElementTree.fromstring(capabilities).findall('guest/arch')
    archs = [str(arch.get('name')) for arch in found]
    return itertools.product(archs, ('pc', 'q35'), ('kvm', 'qemu'))


def _installed(program: str) -> str:
    """Return the path of a program; a user's PATH may lack /usr/sbin."""
    places = os.pathsep.join((os.environ.get('PATH', ''), '/usr/sbin'))
    found = shutil.which(program, path=places)
    if found is None:
        raise errors.ConfigError(f'no {program} is installed; {HINT}')
    return found


def _give_away(folder: pathlib.Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)


@functools.cache
def _may_have_own_name() -> bool:
    """Return True if a process may get a host name beside the machine's.

    Some containers do not allow it, even to root.
    """
    done = subprocess.run(
        ['unshare', '--uts', '--', 'true'], check=False, capture_output=True
    )
    return done.returncode == 0


def _as_nobody() -> list[str]:
    """Return the command that runs another as nobody, if this is root."""
    if os.geteuid() != 0:
        return []
    user, group = f'--reuid={NOBODY}', f'--regid={NOBODY}'
    # A process that changes its user no longer ends with its parent.
    end_with_parent = ['--pdeathsig', 'TERM']
    return ['setpriv', user, group, '--clear-groups', *end_with_parent, '--']
