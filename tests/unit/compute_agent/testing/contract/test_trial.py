# SPDX-License-Identifier: Apache-2.0
"""A driver that hangs is named, wherever the agent calls it."""

import threading
import types

import pytest

from compute_agent import testing
from compute_agent.testing.contract import runner, trial
from compute_agent.testing.contract.rules import catalogue
from compute_agent.testing.values.verdict import Broken
from compute_agent.virt import driver as virt


class Hangs(virt.ComputeDriver):
    asked = threading.Event()
    released = threading.Event()

    @classmethod
    def from_conf(cls, _conf):
        return cls()

    def get_available_nodes(self):
        self.ask()

    def ask(self):
        self.asked.set()
        self.released.wait()

    def update_provider_tree(self, tree, nodename, allocations=None):
        """Never called."""


class Impatient(threading.Thread):
    """Its limit is over as soon as the driver is asked."""

    def join(self, timeout=None):
        assert timeout <= 120
        Hangs.asked.wait()


@pytest.fixture(autouse=True)
def released():
    Hangs.asked.clear()
    Hangs.released.clear()
    yield
    Hangs.released.set()


def test_a_rule_names_the_call_that_has_not_ended(monkeypatch):
    fast = types.SimpleNamespace(Thread=Impatient)
    monkeypatch.setattr(trial, 'threading', fast)
    rule = catalogue.BY_NUMBER['CA004']
    outcome = runner.check(rule, Hangs, testing.World())
    assert outcome.status is runner.Status.FAILED
    assert outcome.reason.startswith(
        f'{rule}: get_available_nodes: it has not ended after 120 seconds ('
    )


def test_a_call_in_another_thread_is_found():
    other = threading.Thread(target=Hangs().get_available_nodes)
    other.start()
    Hangs.asked.wait()
    with pytest.raises(Broken, match='^get_available_nodes: '):
        trial.within(0.1, Hangs.released.wait, Hangs)
    Hangs.released.set()
    other.join()


def test_an_error_of_the_work_is_raised():
    with pytest.raises(TimeoutError, match='of the driver'):
        trial.within(60, lambda: raises(TimeoutError('of the driver')), Hangs)


def raises(exc):
    raise exc


def test_a_slow_check_says_what_runs(monkeypatch):
    monkeypatch.setattr(trial, '_SLOW', 0.01)
    told, may_end = [], threading.Event()

    class Slow:
        def ask(self):
            may_end.wait()

    def slow(text):
        told.append(text)
        if text.startswith('ask ('):  # at first it may not have come so far
            may_end.set()

    trial.within(60, Slow().ask, Slow, slow)
    assert ', line ' in told[-1]
