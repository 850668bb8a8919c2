# SPDX-License-Identifier: Apache-2.0
"""How many examples a property test tries.

``make test`` sets COMPUTE_AGENT_EXAMPLES to a share of them, so that it ends
soon. Everything else, CI included, tries all.
"""

import os

SHARE = float(os.environ.get('COMPUTE_AGENT_EXAMPLES', '1'))
LEAST = 10


def examples(count: int) -> int:
    """Return this number, or its share, at least ten."""
    return count if SHARE >= 1 else max(LEAST, round(count * SHARE))
