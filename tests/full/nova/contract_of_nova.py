# SPDX-License-Identifier: Apache-2.0
"""Nova's drivers keep the contract of the agent's drivers.

It runs in nova's environment, where the agent has its extra for tests;
``test_contract.py`` starts it.
"""

import pytest

from compute_agent import testing
from drivers.nova import process

process.prepare((), ())  # before anything else of nova

import rack_drivers  # noqa: E402


class _Nova(testing.DriverContract):
    # Nova's drivers give complete lists of names.
    capabilities = frozenset({testing.Capability.COMPLETE_LISTS})

    @pytest.fixture
    def world(self, tmp_path):
        return testing.World(
            conf={'DEFAULT': {'host': 'cn1', 'state_path': tmp_path}}
        )


class TestFake(_Nova):
    driver = 'nova:fake.FakeDriverWithoutFakeNodes'


class TestSeveralNodes(_Nova):
    driver = 'nova:rack_drivers.SeveralNodes'

    @pytest.fixture
    def world(self, tmp_path, monkeypatch):
        racks = rack_drivers.Racks()
        monkeypatch.setattr(rack_drivers, 'CONTROLLER', racks)
        return testing.World(
            conf={'DEFAULT': {'host': 'cn1', 'state_path': tmp_path}},
            seams=[testing.Seam('controller', racks, 'read')],
            change=lambda: setattr(racks, 'watts', 900),
        )
