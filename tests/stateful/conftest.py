# SPDX-License-Identifier: Apache-2.0
"""The stateful test's own modules, and a placement made quick for it."""

import pathlib
import sys

import placement_fixture
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite('quiet', 'station', 'machine')


@pytest.fixture
def quick_placement(
    placement: placement_fixture.InProcessPlacement,
    monkeypatch: pytest.MonkeyPatch,
) -> placement_fixture.InProcessPlacement:
    """This test's placement; nobody waits for anything."""
    monkeypatch.setattr('time.sleep', lambda _: None)
    return placement
