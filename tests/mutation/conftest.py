# SPDX-License-Identifier: Apache-2.0
"""The package beside this file, by its name."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
