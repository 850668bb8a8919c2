# SPDX-License-Identifier: Apache-2.0
"""The host's clock is set back by hours, and requests go out as before.

White-box: the clock of keystoneauth's rate limit is replaced, because the
machine's cannot be set.
"""

import time
import types

import pytest
from connected import by_token, to_ironic, to_placement
from keystoneauth1 import _fair_semaphore
from scripted_server import answer, scripted

HOURS = 6 * 3600.0


@pytest.fixture
def set_back(monkeypatch):
    """Return a function that sets the clock back."""

    def never(seconds):
        raise AssertionError(f'a request waits for {seconds:.0f} s')

    def set_back():
        clock = types.SimpleNamespace(
            time=lambda: time.time() - HOURS, sleep=never
        )
        monkeypatch.setattr(_fair_semaphore, 'time', clock)

    return set_back


def test_placement_is_asked_at_once(tmp_path, set_back):
    with scripted(lambda _: answer(200, {'traits': []})) as server:
        service = to_placement(tmp_path, by_token(server.url))
        service.get('/traits')
        set_back()
        assert service.get('/traits') == {'traits': []}


def test_ironic_is_asked_at_once(set_back):
    with scripted(lambda _: answer(200, {'nodes': []})) as server:
        driver = to_ironic(server.url, auth_type='none')
        driver.get_available_nodes()
        set_back()
        assert driver.get_available_nodes() == []
