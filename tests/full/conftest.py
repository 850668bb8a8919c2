# SPDX-License-Identifier: Apache-2.0
"""Tests with real servers of other projects; agents as functional ones have."""

import pytest

pytest.register_assert_rewrite('agents')

from agents import agent_factory, operator  # noqa: E402, F401 (fixtures)
from ironic_agents import sent_to_ironic  # noqa: E402, F401
