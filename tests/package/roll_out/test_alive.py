# SPDX-License-Identifier: Apache-2.0
"""The image's health check without metrics: what "status" must say to pass.

The program is a stand-in that prints a state; tests/package/container runs the
check against a daemon.
"""

import datetime as dt
import json
import os
import pathlib
import subprocess
import sys

import pytest

from compute_agent import error_text

CHECK = pathlib.Path(__file__).parents[3] / 'packaging' / 'alive.py'


def began(seconds_ago):
    now = dt.datetime.now(dt.UTC).timestamp()
    return error_text.moment(now - seconds_ago)


@pytest.mark.parametrize(
    ('since', 'code', 'expected'),
    [
        (None, 0, 0),
        (60, 0, 0),
        (1300, 0, 1),
        (None, 1, 1),
    ],
    ids=['between two cycles', 'in a cycle', 'a cycle hangs', 'no daemon'],
)
def test_only_a_hang_or_no_daemon_is_unhealthy(
    tmp_path, since, code, expected
):
    state = {'running_since': since and began(since)}
    program = tmp_path / 'compute-agent'
    program.write_text(
        f'#!/bin/sh\n[ "$*" = \'status -f json\' ] || exit 3\n'
        f"echo '{json.dumps(state)}'\nexit {code}\n"
    )
    program.chmod(0o755)
    ran = subprocess.run(
        [sys.executable, CHECK],
        env={'PATH': f'{tmp_path}:{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == expected, ran.stderr
