# SPDX-License-Identifier: Apache-2.0
"""The programs that judge files for a roll-out: ``make roll-out-check``."""

import collections.abc
import os
import pathlib
import subprocess
import typing

import pytest

ROOT = pathlib.Path(__file__).parents[3]
TOOLS = ROOT / '.servers/roll-out/bin'


@pytest.fixture
def judge(
    tmp_path: pathlib.Path,
) -> collections.abc.Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs one of the programs to its end."""
    if not TOOLS.exists():
        pytest.fail(f'there is no {TOOLS}: "make .servers/roll-out.stamp"')
    environment = {
        **os.environ,
        'ANSIBLE_HOME': str(tmp_path / 'ansible'),
        'PATH': f'{TOOLS}:{os.environ["PATH"]}',
        'NO_COLOR': '1',
    }

    def run(
        *words: object, **how: typing.Any
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            **how,
        )

    return run
