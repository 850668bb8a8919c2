# SPDX-License-Identifier: Apache-2.0
"""Makes the modules of this folder importable: test folders are no packages."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
