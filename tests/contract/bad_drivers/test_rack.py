# SPDX-License-Identifier: Apache-2.0
"""The driver that all bad drivers are made of keeps every rule."""

import pytest
import rack

from compute_agent import testing


class TestRack(testing.DriverContract):
    driver = rack.Rack
    capabilities = rack.CAPABILITIES

    @pytest.fixture
    def world(self):
        return rack.world()
