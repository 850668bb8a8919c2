# SPDX-License-Identifier: Apache-2.0
"""The modules beside this file, by their names."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
