# SPDX-License-Identifier: Apache-2.0
"""The agent with a defect: it never hears that a node is gone.

A program; ``test_chaos.py`` runs it to see that a run notices.
"""

import sys

from compute_agent.cmd.app import main
from compute_agent.cycle.departures import departed_nodes


def _nobody(*_: object, **__: object) -> departed_nodes.Departed:
    return departed_nodes.Departed()


if __name__ == '__main__':
    departed_nodes.Departures.since = _nobody  # type: ignore[method-assign]
    sys.exit(main.main())
