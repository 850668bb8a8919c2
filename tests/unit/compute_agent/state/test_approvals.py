# SPDX-License-Identifier: Apache-2.0
"""Approvals go from a command to the daemon, until their changes are made."""

import contextlib
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.limits import approval
from compute_agent.state import state
from compute_agent.state.database import schema

SHOWN = approval.subject(approval.Kind.NAMES, ('a', 'trait', 'CUSTOM_X'))
OTHER = approval.subject(approval.Kind.NAMES, ('b', 'trait', 'CUSTOM_X'))
NOW = 1_700_000_000.0


def opened(directory):
    return contextlib.closing(state.State.open(directory))


def beside(directory):
    return contextlib.closing(state.State.open_beside(directory))


def grant(directory, *subjects, now=NOW):
    with beside(directory) as command:
        command.history.clock = lambda: now
        command.approvals.grant(subjects, 'alice')


def approved(daemon, *subjects, now=NOW):
    daemon.history.clock = lambda: now
    return daemon.approvals.approved(subjects)


def test_a_running_daemon_finds_the_approval_of_a_command(tmp_path):
    both = [SHOWN, OTHER]
    with opened(tmp_path) as daemon:
        assert approved(daemon, *both) == {}
        grant(tmp_path, SHOWN)
        for _ in range(2):
            assert approved(daemon, *both, now=NOW + 1) == {SHOWN: 'alice'}
        assert approved(daemon, OTHER, now=NOW + 1) == {}
        daemon.approvals.drop([SHOWN])
        assert approved(daemon, *both, now=NOW + 1) == {}


def test_an_approval_survives_a_restart(tmp_path):
    with opened(tmp_path):
        grant(tmp_path, SHOWN, OTHER)
    with opened(tmp_path) as daemon:
        found = approved(daemon, SHOWN, OTHER)
        assert found == {SHOWN: 'alice', OTHER: 'alice'}


def test_an_expired_approval_is_not_used_and_is_dropped(tmp_path):
    with opened(tmp_path) as daemon:
        grant(tmp_path, SHOWN)
        late = NOW + approval.LIFETIME
        assert approved(daemon, SHOWN, now=late) == {}
        grant(tmp_path, OTHER, now=late)
        assert approved(daemon, SHOWN) == {}


def test_a_command_never_migrates_the_database_of_a_daemon(tmp_path):
    with opened(tmp_path):
        pass
    file = tmp_path / schema.FILE_NAME
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute(f'pragma user_version = {schema.SCHEMA_VERSION - 1}')
    with pytest.raises(errors.ConfigError, match='has version'):
        state.State.open_beside(tmp_path)


def test_a_command_makes_no_database(tmp_path):
    with pytest.raises(errors.ConfigError, match='cannot be used'):
        state.State.open_beside(tmp_path)
    assert list(tmp_path.iterdir()) == []
