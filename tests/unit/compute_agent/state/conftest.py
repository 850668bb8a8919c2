# SPDX-License-Identifier: Apache-2.0
"""A state for each test, in memory and on disk."""

import pathlib
from collections.abc import Iterator

import pytest

from compute_agent.state import state as state_module


@pytest.fixture(params=['in memory', 'on disk'])
def state(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[state_module.State]:
    """Return an open state."""
    opened = (
        state_module.State.in_memory('here')
        if request.param == 'in memory'
        else state_module.State.open(tmp_path / 'state', 'here')
    )
    yield opened
    opened.close()
