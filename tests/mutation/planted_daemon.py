# SPDX-License-Identifier: Apache-2.0
"""The agent with a planted defect, as a program: its name, then the command.

``tests/chaos`` runs it to see that a run notices.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'support')]

import planted  # noqa: E402 (found by path)
import pytest  # noqa: E402

from compute_agent.cmd.app import main  # noqa: E402

if __name__ == '__main__':
    planted.VARIANTS[sys.argv.pop(1)].plant(pytest.MonkeyPatch())
    sys.exit(main.main())
