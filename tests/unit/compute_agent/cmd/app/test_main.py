# SPDX-License-Identifier: Apache-2.0
"""An exit inside of the program becomes an exit code, and at most a line."""

import pytest

from compute_agent.cmd.app import main


@pytest.mark.parametrize(
    ('given', 'code', 'said'),
    [
        (None, 0, ''),
        (0, 0, ''),
        (2, 1, ''),
        (3, 3, ''),
        ('no\nrack', 1, 'compute-agent: no rack\n'),
    ],
)
def test_an_exit_ends_the_program(monkeypatch, capsys, given, code, said):
    def leave(_self, _argv):
        raise SystemExit(given)

    monkeypatch.setattr(main.ComputeAgent, 'run', leave)
    assert main.main(['plan']) == code
    assert capsys.readouterr().err == said
