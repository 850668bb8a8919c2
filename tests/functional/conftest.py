# SPDX-License-Identifier: Apache-2.0
"""Functional tests speak with the real placement, mostly through an agent."""

import pytest

pytest.register_assert_rewrite('agents')

from agents import agent_factory, operator  # noqa: E402, F401 (fixtures)
