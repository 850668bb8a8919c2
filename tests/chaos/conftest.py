# SPDX-License-Identifier: Apache-2.0
"""The chaos run's own modules; its placement is a process of its own."""

import pathlib
import sys

# Test folders are no packages, so what these tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
