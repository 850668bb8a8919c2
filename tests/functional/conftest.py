# SPDX-License-Identifier: Apache-2.0
"""Functional tests speak with the real placement, mostly through an agent."""

import pytest

pytest.register_assert_rewrite('agents', 'vgpu_cloud')

from agents import agent_factory, operator  # noqa: E402, F401 (fixtures)
from vgpu_cloud import vgpus_in_use  # noqa: E402, F401 (a fixture)
