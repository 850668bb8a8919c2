# SPDX-License-Identifier: Apache-2.0
"""The person in approvals and in the history is the one that the system knows."""

import os
import pwd

import pytest

from compute_agent.cmd.app import person


@pytest.fixture(autouse=True)
def no_sudo(monkeypatch):
    monkeypatch.delenv('SUDO_USER', raising=False)


@pytest.mark.parametrize('variable', ['LOGNAME', 'USER', 'LNAME', 'USERNAME'])
def test_the_environment_does_not_decide(monkeypatch, variable):
    monkeypatch.setenv(variable, 'mallory')
    assert person.name() == pwd.getpwuid(os.getuid()).pw_name


def test_the_person_behind_sudo_is_named(monkeypatch):
    monkeypatch.setenv('SUDO_USER', 'alice')
    user = pwd.getpwuid(os.getuid()).pw_name
    assert person.name() == f'alice (as {user})'


def test_a_user_without_a_name_is_a_number(monkeypatch):
    monkeypatch.setattr(os, 'getuid', lambda: 2**31 - 7)
    assert person.name() == f'user {2**31 - 7}'
