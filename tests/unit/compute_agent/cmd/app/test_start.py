# SPDX-License-Identifier: Apache-2.0
"""An interrupt while the program is imported ends it without a traceback."""

import subprocess
import sys

import pytest

# SIGINT comes when a module is looked for.
INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(name, path=None, target=None):
        if name == 'compute_agent.cmd.app.{}':
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
from compute_agent.cmd.app import start
sys.exit(start.main())
"""


@pytest.mark.parametrize('module', ['signals', 'main', 'configuration'])
def test_an_early_interrupt_prints_nothing(module):
    done = subprocess.run(
        [sys.executable, '-c', INTERRUPTED.format(module), 'plan'],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, '', '')
