# SPDX-License-Identifier: Apache-2.0
"""The agent's state, rules and local facts trust the same owners and modes."""

import os

import pytest

from compute_agent import errors, file_trust, private_files
from drivers.host import driver, rule_files
from drivers.host.reading import local

READERS = {
    'state': private_files.check_directory,
    'rules': lambda folder: rule_files.read(
        str(folder), driver.WORDS, given=True, starter=False
    ),
    'facts': lambda folder: _refuse(local.LocalFacts([str(folder)]).read()),
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
