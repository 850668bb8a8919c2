# SPDX-License-Identifier: Apache-2.0
"""Each file that is read has one check of trust and of size.

The agent's state, rules, local facts and provider-config files trust the same
owners and modes. A file that a person names may be anybody's.
"""

import os

import pytest

from compute_agent import errors, file_trust, private_files
from compute_agent.cmd import state
from compute_agent.cmd.app import configuration
from compute_agent.cmd.candidates import flavor_file
from compute_agent.cmd.plan import saved
from compute_agent.provider_config import files
from compute_agent.transport import cloud_account
from drivers.fake import driver as fake
from drivers.host import driver, rule_files
from drivers.host.reading import local

READERS = {
    'state': private_files.check_directory,
    'rules': lambda folder: rule_files.read(
        str(folder), driver.WORDS, given=True, starter=False
    ),
    'facts': lambda folder: _refuse(local.LocalFacts([str(folder)]).read()),
    'provider_config': lambda folder: files.read(str(folder), given=True),
}
TEXTS = {
    'rules': 'rules: []\n',
    'facts': 'facts: {}\n',
    'provider_config': 'meta: {schema_version: "1.0"}\nproviders: []\n',
}
NAMED = {
    'a flavor': flavor_file.read,
    'saved facts': driver.read_saved_facts,
    'saved plans': lambda path: saved.read([path]),
    'an exported node': lambda path: state._read(path, None),
    'a tree of the fake driver': fake.FakeDriver,
    'a configuration': configuration._check_text,
    'accounts': cloud_account._parsed,
}


def _refuse(answer):
    if answer.faults:
        raise errors.ConfigError(answer.faults[0])


@pytest.mark.parametrize('reader', READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ('mode', 'user', 'root', 'trusted'),
    [
        (0o755, None, 0, True),
        (0o700, None, 0, True),
        (0o775, None, 0, False),
        (0o757, None, 0, False),
        (0o1777, None, 0, False),
        (0o755, 60_001, os.geteuid(), True),  # the owner is root
        (0o755, 60_001, 60_002, False),
    ],
)
def test_all_readers_trust_the_same_folders(
    tmp_path, monkeypatch, reader, mode, user, root, trusted
):
    tmp_path.chmod(mode)
    if user is not None:
        monkeypatch.setattr(os, 'geteuid', lambda: user)
        monkeypatch.setattr(file_trust, '_ROOT', root)
    if trusted:
        reader(tmp_path)
        return
    with pytest.raises(errors.ConfigError) as raised:
        reader(tmp_path)
    assert 'belongs to' in str(raised.value) or 'go-w' in str(raised.value)


def _of_another(path):
    os.chown(path, 60_002, -1)


def _a_link(path):
    path.rename(path.with_suffix('.txt'))
    path.symlink_to(path.with_suffix('.txt'))


def _endless(path):
    path.unlink()
    path.symlink_to('/dev/zero')


def _a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def _huge(path):
    with path.open('wb') as file:
        file.truncate(1 << 30)


SPOILED = {
    'users other than its owner may write to it': lambda p: p.chmod(0o666),
    'it belongs to user 60002': _of_another,
    'it is a symbolic link': _a_link,
    'it is not a regular file': _a_pipe,
    'it has more than': _huge,
}


@pytest.mark.catches(
    'anybody may write the files that are read',
    case='provider_config-users other than its owner may write to it',
)
@pytest.mark.parametrize('why', SPOILED)
@pytest.mark.parametrize('reader', TEXTS)
def test_all_readers_trust_the_same_files(tmp_path, reader, why):
    path = tmp_path / 'a.yaml'
    path.write_text(TEXTS[reader])
    READERS[reader](tmp_path)
    if SPOILED[why] is _of_another and os.geteuid() != 0:
        pytest.skip('only root gives files away')
    SPOILED[why](path)
    try:
        told = str(READERS[reader](tmp_path))  # rules are left out
    except errors.ConfigError as exc:
        told = str(exc)
    assert why in told


@pytest.mark.parametrize(
    ('spoil', 'why'),
    [
        (_endless, 'it is not a regular file'),
        (_a_pipe, 'it is not a regular file'),
        (_huge, r'it has more than \d+ bytes'),
    ],
)
@pytest.mark.parametrize('read', NAMED.values(), ids=NAMED)
def test_a_file_that_a_person_names_has_an_end(tmp_path, read, spoil, why):
    path = tmp_path / 'a.yaml'
    path.write_text('{}')
    spoil(path)
    with pytest.raises(errors.ConfigError, match=why):
        read(str(path))


def test_a_file_that_a_person_names_may_be_a_link_to_anybody_s(tmp_path):
    path = tmp_path / 'a.yaml'
    path.write_text('vcpus: 1\n')
    path.chmod(0o666)
    _a_link(path)
    assert flavor_file.read(str(path)).amounts == {'VCPU': 1}
