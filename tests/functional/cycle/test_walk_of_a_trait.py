# SPDX-License-Identifier: Apache-2.0
"""The way of one trait, from the driver's call to its PUT, frame by frame.

A reader who asks why a trait is there follows these frames. White-box: they are
taken from the stack, so that a layer that only hands on shows here.
"""

import sys

import pytest

from compute_agent.cycle.node import node_cycle
from compute_agent.ownership import claims
from compute_agent.plan.operations import operations
from compute_agent.tree import provider_tree
from report_client import client
from report_client.http import placement as http
from report_client.observe import name_cache

MOST = 25
AVX = 'HW_CPU_X86_AVX512F'
# The frame that describes, plans and applies: the walk goes up to it and down.
_TOP = node_cycle.NodeCycle._repeat.__code__


def frames():
    """Return the product's frames below the top, outermost first."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        where = frame.f_globals.get('__name__', '')
        is_ours = where.startswith(('compute_agent.', 'report_client.'))
        if is_ours and '<' not in frame.f_code.co_name:
            found.append(f'{where}:{frame.f_code.co_qualname}')
        if frame.f_code is _TOP:
            return found[::-1]
        frame = frame.f_back
    return []


class Walk:
    """The stacks of the last cycle, by the place where they were taken."""

    def __init__(self, monkeypatch):
        self.stacks = {}
        self.entries = []
        self._patch = monkeypatch.setattr
        self._watch(provider_tree.ProviderTree, 'declare_traits', 'declared')
        self._watch(name_cache.NameCache, 'known', 'names read')
        self._watch(claims, 'decide', 'decided')
        self._watch(operations.SetTraits, '__init__', 'planned')
        self._watch(
            http.Placement, 'send', 'PUT', lambda request: request.method
        )
        for name in (
            'allocations',
            'read',
            'watch_sharing',
            'verify',
            'apply',
        ):
            self._count(name)

    def _watch(self, owner, name, label, method=None):
        real = getattr(owner, name)

        def watched(*args, **kwargs):
            if method is None or method(args[1]) == label:
                self.stacks.setdefault(label, frames())
            return real(*args, **kwargs)

        self._patch(owner, name, watched)

    def _count(self, name):
        real = getattr(client.ReportClient, name)

        def counted(*args, **kwargs):
            self.entries.append(name)
            return real(*args, **kwargs)

        self._patch(client.ReportClient, name, counted)

    def distinct(self):
        """Return each frame of the walk once."""
        every = [frame for stack in self.stacks.values() for frame in stack]
        return list(dict.fromkeys(every))


def rooms(stack):
    """Return the folders of some frames."""
    return {frame.partition(':')[0].rpartition('.')[0] for frame in stack}


@pytest.fixture
def walk(agent_factory, monkeypatch):
    """Return the walk of a trait that a driver begins to report."""

    def plain(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})

    def with_trait(tree, node):
        plain(tree, node)
        tree.declare_traits(node, AVX)

    agent = agent_factory(plain)
    agent.done()
    agent.driver.describe = with_trait
    made = Walk(monkeypatch)
    agent.done()
    return made


def test_the_walk_is_short(walk):
    assert [*walk.stacks] == [
        'declared',
        'decided',
        'names read',
        'planned',
        'PUT',
    ]
    assert len(walk.distinct()) <= MOST, '\n'.join(walk.distinct())


def test_the_report_client_is_entered_to_read_and_to_write(walk):
    assert walk.entries == ['read', 'apply']


def test_no_room_is_entered_again_after_the_pure_part(walk):
    decided, planned = walk.stacks['decided'], walk.stacks['planned']
    assert rooms([*decided, *planned]) == {
        'compute_agent.cycle.node',
        'compute_agent.cycle.planning',
        'compute_agent.ownership',
        'compute_agent.plan.diff',
    }
    assert rooms(walk.stacks['PUT']) == {
        'compute_agent.cycle.node',
        'report_client',
        'report_client.apply',
    }
