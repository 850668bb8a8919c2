# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for; the fixtures live in ``tests/support``."""

import pathlib
import sys

# Test folders are no packages, so what tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent / 'support'))

pytest_plugins = ['placement_fixture', 'command_line', 'ironic_fixture']
