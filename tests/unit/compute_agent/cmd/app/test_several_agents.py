# SPDX-License-Identifier: Apache-2.0
"""A machine with several agents has a file of each; --agent names one."""

import pytest

from compute_agent import errors
from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import agent_settings
from compute_agent.conf import default

BUS = '[DEFAULT]\ntransport_url = rabbit://\nstate_path = /var/lib/nova\n'


@pytest.fixture
def etc(tmp_path, monkeypatch):
    """The directory of the package, with what two agents have in common."""
    folders = {name: tmp_path / name for name in ('conf.d', 'agents')}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setattr(configuration, 'DIRECTORY', folders['conf.d'])
    monkeypatch.setattr(configuration, 'AGENTS', folders['agents'])
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    (tmp_path / 'conf.d/all.conf').write_text('[DEFAULT]\nhost = all\n')
    for name in ('rack1', 'rack2'):
        path = tmp_path / f'agents/{name}.conf'
        path.write_text(f'[DEFAULT]\nhost = {name}\n')
    return tmp_path


def options(*files, agent=None):
    return main.GlobalOptions(
        config_files=[*map(str, files)],
        config_dirs=[],
        debug=False,
        agent=agent,
    )


def test_the_file_of_the_agent_is_read_after_those_of_all(etc):
    files = configuration.files(options(agent='rack1'))
    assert files[-2:] == [
        str(etc / 'conf.d/all.conf'), str(etc / 'agents/rack1.conf')
    ]  # fmt: skip
    conf = configuration.load(options(agent='rack1'), local=True)
    assert conf.host == 'rack1'


@pytest.mark.catches('of several agents, one that nobody named is asked')
def test_a_command_that_names_none_is_refused(etc):
    with pytest.raises(errors.ConfigError) as raised:
        configuration.files(options())
    assert str(raised.value) == (
        f'this machine has an agent for each file in {etc}/agents: name it '
        'with --agent rack1 or rack2, or another configuration with '
        '--config-file or --config-dir'
    )
    other = etc / 'conf.d/all.conf'
    assert configuration.files(options(other)) == [str(other)]
    for path in (etc / 'agents').iterdir():
        path.unlink()
    assert configuration.files(options())[-1] == str(other)


def test_a_name_without_a_file_is_an_error(etc):
    with pytest.raises(errors.ConfigError) as raised:
        configuration.load(options(agent='rack9'), local=True)
    assert str(raised.value) == (
        f'no such configuration file: {etc}/agents/rack9.conf'
    )


@pytest.mark.parametrize('nova', ['', BUS])
def test_each_has_a_state_of_its_own(etc, nova):
    """Also where nova.conf says where nova's is."""
    (etc / 'conf.d/nova.conf').write_text(nova)
    conf = configuration.load(options(agent='rack1'), local=True)
    place = agent_settings.state_path(conf)
    assert str(place) == f'{default.STATE_PATH}/rack1'
    with (etc / 'agents/rack1.conf').open('a') as file:
        file.write('state_path = /srv/rack1\n')
    conf = configuration.load(options(agent='rack1'), local=True)
    assert str(agent_settings.state_path(conf)) == '/srv/rack1'
