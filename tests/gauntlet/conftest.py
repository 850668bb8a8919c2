# SPDX-License-Identifier: Apache-2.0
"""The gauntlet speaks with the real placement, through agents under test."""

import pathlib
import sys

import pytest

# Test folders are no packages, so what these tests share is found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite('agents', 'gauntlet')

from agents import agent_factory, operator  # noqa: E402, F401 (fixtures)
from gauntlet import bench, only_the_verdict_counts  # noqa: E402, F401
