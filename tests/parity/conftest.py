# SPDX-License-Identifier: Apache-2.0
"""The parity run's own modules."""

import pathlib
import sys

# Test folders are no packages, so what these tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
