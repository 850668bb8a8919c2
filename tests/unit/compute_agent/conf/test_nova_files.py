# SPDX-License-Identifier: Apache-2.0
"""Nova's configuration files are told from the agent's own."""

import pathlib

import pytest

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.run import process
from compute_agent.conf import nova_files

BUS = '[DEFAULT]\ntransport_url = rabbit://\n'
OWN = '[compute_agent]\nmode = companion\n'


def write(folder, name, text=''):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def options(*files, folders=()):
    return main.GlobalOptions(
        config_files=[*map(str, files)],
        config_dirs=[*map(str, folders)],
        debug=False,
    )


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('nova.conf', ''),
        ('nova.conf', OWN),
        ('nova-compute/nova.conf', ''),
        ('nova-compute.conf', ''),
        ('conf.d/10-nova.conf', ''),
        ('nova/01-extra.conf', ''),
        ('nova.conf.d/extra.conf', ''),
        ('conf.d/base.conf', BUS),
    ],
)
def test_a_file_of_nova_is_known_by_its_name_its_folder_or_its_bus(
    tmp_path, name, text
):
    assert nova_files.is_novas(write(tmp_path, name, text))


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('compute-agent.conf', '[DEFAULT]\nstate_path = /var/lib/nova\n'),
        ('conf.d/companion.conf', OWN),
        ('nova/companion.conf', OWN),
        ('beside-nova.conf', ''),
        ('missing/companion.conf', None),
    ],
)
def test_the_agent_s_own_files_are_none(tmp_path, name, text):
    path = tmp_path / name
    if text is not None:
        write(tmp_path, name, text)
    assert not nova_files.is_novas(path)


def test_a_link_to_nova_s_file_is_one(tmp_path):
    link = tmp_path / 'conf.d/base.conf'
    link.parent.mkdir()
    link.symlink_to(write(tmp_path, 'nova.conf'))
    assert nova_files.is_novas(link)


def test_nova_s_files_come_first_and_the_others_keep_their_order(tmp_path):
    own = write(tmp_path, 'own.conf', OWN)
    folder = tmp_path / 'conf.d'
    companion = write(folder, 'companion.conf', OWN)
    nova = write(folder, 'nova.conf', BUS)
    assert configuration.files(options(own, folders=[folder])) == [
        str(path) for path in (nova, own, companion)
    ]


def test_the_directory_of_the_service_is_read_without_options_only(
    tmp_path, monkeypatch
):
    """As the unit reads it, so a command has the daemon's options."""
    there = write(tmp_path, 'companion.conf', OWN)
    monkeypatch.setattr(configuration, 'DIRECTORY', tmp_path)
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    assert str(there) in configuration.files(options())
    named = write(tmp_path / 'other', 'named.conf', OWN)
    assert configuration.files(options(named)) == [str(named)]
    monkeypatch.setattr(configuration, 'DIRECTORY', tmp_path / 'missing')
    assert str(there) not in configuration.files(options())


@pytest.mark.parametrize(
    ('own', 'expected'),
    [
        ('', '/var/lib/compute-agent'),
        ('[DEFAULT]\nhost = cn1\n', '/var/lib/compute-agent'),
        ('[DEFAULT]\nstate_path = /srv/agent\n', '/srv/agent'),
        ('[compute_agent]\nstate_path = /srv/own\n', '/srv/own'),
    ],
)
def test_the_state_is_never_in_nova_s_directory(tmp_path, own, expected):
    """The directory of nova's compute_id and of its guests is nova's."""
    nova = write(tmp_path, 'nova.conf', '[DEFAULT]\nstate_path = /srv/nova\n')
    conf = configuration.load(
        options(write(tmp_path, 'own.conf', own), nova), local=True
    )
    folder = conf.compute_agent.state_path or conf.state_path
    assert folder == expected
    if expected != '/srv/agent':
        assert conf.instances_path == '/srv/nova/instances'


@pytest.mark.catches("the agent logs into nova-compute's file")
def test_nova_s_files_decide_nothing_of_the_log(tmp_path):
    nova = write(
        tmp_path,
        'nova.conf',
        '[DEFAULT]\ndebug = true\nlog_dir = /var/log/nova\nuse_journal = true\n'
        'log_file = nova-compute.log\nuse_stderr = false\n'
        'log_config_append = /etc/nova/logging.conf\n',
    )
    own = write(tmp_path, 'own.conf', '[DEFAULT]\nuse_json = true\n')
    logs = configuration.load_own(
        options(nova, own), process._register_logging
    )
    assert (logs.log_file, logs.log_dir, logs.log_config_append) == (None,) * 3
    assert (logs.debug, logs.use_journal, logs.use_stderr) == (
        False,
        False,
        True,
    )
    assert logs.use_json


def test_a_value_may_name_an_option_of_the_agent(tmp_path):
    own = write(
        tmp_path, 'own.conf', '[DEFAULT]\nlog_file = $state_path/agent.log\n'
    )
    logs = configuration.load_own(options(own), process._register_logging)
    assert pathlib.Path(logs.log_file).name == 'agent.log'
