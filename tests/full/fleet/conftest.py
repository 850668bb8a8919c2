# SPDX-License-Identifier: Apache-2.0
"""Test folders are no packages: modules are found by path."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
