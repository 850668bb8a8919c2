# SPDX-License-Identifier: Apache-2.0
"""The configuration of an agent with an account of the secure cloud.

``Setup`` writes it, and runs in this process the commands that read it.
"""

import collections.abc
import contextlib
import pathlib
import typing

import pytest
import secure_cloud

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import agent_settings, opening

FAKE_FILE = """
nodes:
  - name: cn1
    uuid: 11111111-1111-4111-8111-111111111111
    inventories: {VCPU: 8}
    traits: [CUSTOM_GOLD]
"""


class Setup:
    """The configuration of an agent, and the commands that read it."""

    def __init__(
        self,
        folder: pathlib.Path,
        cloud: secure_cloud.SecureCloud,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self.cloud = cloud
        self.config = folder / 'agent.conf'
        self.cafile = folder / 'ca.pem'
        self._capsys = capsys
        cloud.authority.cert_pem.write_to_path(str(self.cafile))
        (folder / 'fake.yaml').write_text(FAKE_FILE)

    def configure(self, user: str | None = None, **options: object) -> None:
        """Write the options of [placement]; None leaves one out."""
        given: dict[str, object] = {
            'auth_type': 'password',
            'auth_url': f'{self.cloud.keystone}/v3',
            'cafile': self.cafile,
            'region_name': 'one',
            'valid_interfaces': 'internal',
        }
        if user:
            given |= {
                'username': user,
                'password': secure_cloud.PASSWORD.replace('$', '$$'),
                'project_name': 'service',
                'user_domain_id': 'default',
                'project_domain_id': 'default',
            }
        given |= options
        lines = [f'{k} = {v}' for k, v in given.items() if v is not None]
        self.config.write_text(
            '\n'.join(
                [
                    '[DEFAULT]',
                    'compute_driver = fake',
                    'host = cn1',
                    f'state_path = {self.folder / "state"}',
                    '[fake]',
                    f'file = {self.folder / "fake.yaml"}',
                    '[placement]',
                    *lines,
                ]
            )
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its exit code and its output."""
        self._capsys.readouterr()
        code = main.main(['--config-file', str(self.config), *words])
        out, err = self._capsys.readouterr()
        assert 'Traceback' not in err
        assert secure_cloud.PASSWORD not in f'{out}{err}'
        return code, out, err

    def refusal(self, *words: str) -> str:
        """Return the one line of a command that fails."""
        code, _, err = self.run(*words)
        assert code == 1
        assert err.count('\n') == 1, err
        return err

    @contextlib.contextmanager
    def agent(self) -> collections.abc.Iterator[typing.Any]:
        """The agent of the daemon, in this process."""
        options = main.GlobalOptions(
            config_files=[str(self.config)], config_dirs=[], debug=False
        )
        conf = configuration.load(options, environment=False)
        with opening.open_agent(conf, read_only=False) as made:
            made.current.value = agent_settings.from_conf(conf, unlimited=True)
            made.begin_files()
            yield made
