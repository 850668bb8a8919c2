# SPDX-License-Identifier: Apache-2.0
"""Nova's environment with the agent in it, and one placement."""

import collections.abc
import json
import os
import pathlib
import subprocess
import typing

import pytest

from demo import server_process

HERE = pathlib.Path(__file__).parent
TOP = HERE.parents[2]
STAMP = TOP / '.servers' / 'nova-agent.stamp'
PYTHON = TOP / '.servers' / 'nova' / 'bin' / 'python'
PATIENCE = 600.0  # seconds; a report takes some
COMPUTE_ID = '11111111-1111-4111-8111-111111111111'
_CONF = """\
[DEFAULT]
host = cn1
state_path = {folder}/state
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
{more}
"""

Report = dict[str, dict[str, typing.Any]]


class Reports(typing.NamedTuple):
    """The result for one driver.

    :ivar failure: why nova's report failed; empty if it did not
    :ivar sync: exit code and words of the agent's command
    :ivar plan: the same of the command after it
    """

    failure: str
    by_nova: Report
    by_the_agent: Report
    sync: dict[str, typing.Any]
    plan: dict[str, typing.Any]

    def differences(self) -> dict[str, typing.Any]:
        """Return provider → its two values where they differ.

        Nova gives a child a random uuid, so only the roots' are compared.
        """
        nova, agent = _comparable(self.by_nova), _comparable(self.by_the_agent)
        return {
            name: (nova.get(name), agent.get(name))
            for name in nova.keys() | agent.keys()
            if nova.get(name) != agent.get(name)
        }


class BesideNova:
    """Runs nova's drivers in nova's environment.

    :param placement: the address of placement
    """

    def __init__(self, folder: pathlib.Path, placement: str) -> None:
        self._folder = folder
        self._placement = placement
        self._runs = 0
        self.conf = folder / 'nova.conf'
        self.state = folder / 'state'
        self.state.mkdir()
        self.configure()

    def configure(self, more: str = '', *, has_identity: bool = True) -> None:
        """Write nova.conf; nova and the agent read the same one."""
        self.conf.write_text(
            _CONF.format(
                folder=self._folder, placement=self._placement, more=more
            )
        )
        identity = self.state / 'compute_id'
        if has_identity:
            identity.write_text(COMPUTE_ID)
        else:
            identity.unlink(missing_ok=True)

    def reports(
        self,
        *targets: str,
        before: collections.abc.Sequence[tuple[str, str, object]] = (),
        instances: collections.abc.Sequence[str] = (),
        cycles: int = 1,
    ) -> dict[str, Reports]:
        """Return target → the reports of its nodes by nova and by the agent.

        :param before: requests that make placement what it is before either
        :param instances: the instances on this host in nova's database
        :param cycles: how often nova reports
        """
        self._runs += 1
        order, result = (
            self._folder / f'{name}-{self._runs}.json'
            for name in ('order', 'result')
        )
        order.write_text(
            json.dumps(
                {
                    'placement': self._placement,
                    'files': [str(self.conf)],
                    'folder': str(self._folder / f'run-{self._runs}'),
                    'result': str(result),
                    'before': list(before),
                    'instances': list(instances),
                    'cycles': cycles,
                }
            )
        )
        self._python(str(HERE / 'both.py'), str(order), *targets)
        return {
            target: Reports(
                failure=one['failure of nova'],
                by_nova=one['by nova'],
                by_the_agent=one['by the agent'],
                sync=one['sync'],
                plan=one['plan'],
            )
            for target, one in json.loads(result.read_text()).items()
        }

    def command(
        self, driver: str, *words: str, python: pathlib.Path = PYTHON
    ) -> subprocess.CompletedProcess[str]:
        """Run the agent's command line with a driver."""
        ours = self._folder / 'agent.conf'
        ours.write_text(
            f'[DEFAULT]\ncompute_driver = {driver}\n'
            f'[compute_agent]\nstate_path = {self._folder}/agent\n'
        )
        return subprocess.run(
            [
                *(str(python), '-m', 'compute_agent.cmd.app.start'),
                *(f'--config-file={self.conf}', f'--config-file={ours}'),
                *words,
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=_environment(),
        )

    def pytest(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a file of tests in nova's environment."""
        alone = ['-p', 'no:cacheprovider', '-W', 'ignore', '--noconftest']
        place = ['-c', os.devnull, f'--rootdir={self._folder}']
        return subprocess.run(
            [str(PYTHON), '-m', 'pytest', *alone, *place, str(HERE / name)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=_environment(),
            cwd=self._folder,
        )

    def _python(self, *words: str) -> None:
        log = self._folder / 'both.log'
        with log.open('wb') as said:
            done = subprocess.run(
                [str(PYTHON), *words],
                stdout=said,
                stderr=said,
                timeout=PATIENCE,
                check=False,
                env=_environment(),
            )
        assert done.returncode == 0, server_process.last_error(log)


def _environment() -> dict[str, str]:
    paths = os.pathsep.join([str(TOP), str(HERE)])
    return {**os.environ, 'PYTHONPATH': paths}


def _comparable(report: Report) -> Report:
    return {
        name: {**one, 'uuid': '' if one['parent'] else one['uuid']}
        for name, one in report.items()
    }


@pytest.fixture
def beside_nova(
    placement_server: typing.Any, tmp_path: pathlib.Path
) -> BesideNova:
    """Nova's environment, and a placement without providers."""
    if not STAMP.exists():
        pytest.fail(
            'nova is not installed beside the agent; run '
            f'"make .servers/{STAMP.name}"',
            pytrace=False,
        )
    return BesideNova(tmp_path, placement_server.url)
