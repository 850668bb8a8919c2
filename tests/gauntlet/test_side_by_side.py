# SPDX-License-Identifier: Apache-2.0
"""Nodes go side by side: nothing is held while placement is waited for."""

import contextlib
import threading

import pytest
from gauntlet import verdict

MANY = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(6)}
WORKERS = 3


def host(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


class _Meeting:
    """Lets creations pass when so many of them are on their way at once.

    :ivar met: whether they ever were
    :ivar most: how many there were at most
    """

    def __init__(self, count, patience):
        self.met = False
        self.most = self._now = 0
        self._door = threading.Barrier(count)
        self._patience = patience
        self._lock = threading.Lock()

    def __call__(self, request):
        if request.method != 'POST' or self._door.broken:
            return
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        with contextlib.suppress(threading.BrokenBarrierError):
            self._door.wait(self._patience)
            self.met = True
        with self._lock:
            self._now -= 1


@pytest.mark.catches('one lock is held over all requests')
def test_as_many_requests_are_on_their_way_as_there_are_workers(bench):
    """A pool of three must have three nodes' writes in flight, and no more."""
    meeting = _Meeting(WORKERS, bench.patience)
    bench.placement.before_request(meeting)
    bench.agent(host, nodes=MANY, workers=WORKERS).done()
    with verdict():
        assert meeting.met
        assert meeting.most == WORKERS
    assert set(bench.operator.holdings()) == set(MANY.values())
