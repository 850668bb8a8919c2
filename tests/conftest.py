# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for; the fixtures live in ``tests/support``."""

import pathlib
import signal
import sys

# Test folders are no packages, so what tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent / 'support'))

pytest_plugins = ['placement_fixture', 'command_line', 'ironic_fixture']

# A shell in the background, or nohup, has these ignored, and what a test starts
# would inherit that: then no signal would end it.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)
