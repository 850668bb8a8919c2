# SPDX-License-Identifier: Apache-2.0
"""Entry point of ``python -m demo``."""

import sys

from . import ironic_demo

sys.exit(ironic_demo.main())
