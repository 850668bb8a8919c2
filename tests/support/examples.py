# SPDX-License-Identifier: Apache-2.0
"""How many examples a property test tries.

``make test`` sets COMPUTE_AGENT_EXAMPLES to a share of them, so that it ends
soon. Everything else, CI included, tries all. By hand, a number above 1 tries
that many times as many.
"""

import os

SHARE = float(os.environ.get('COMPUTE_AGENT_EXAMPLES', '1'))
LEAST = 10


def examples(count: int) -> int:
    """Return this number, or its share, at least ten, or its multiple."""
    share = round(count * SHARE)
    return share if SHARE >= 1 else max(LEAST, share)
