# SPDX-License-Identifier: Apache-2.0
"""Bad drivers find the rack that they are made of by its path."""

import pathlib
import sys

# Test folders are no packages, so what these tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
