# SPDX-License-Identifier: Apache-2.0
"""Others write to the same providers: look again, and lose nothing."""

import itertools

import agents
import pytest
from gauntlet import CONSUMER, NAME, OWN, host, more, verdict

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.node import setbacks

Status = resource_tracker.Status


def larger(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 9}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def always(bench, act, match=lambda r: r.method == 'PUT'):
    """Let somebody act before each matching request."""
    count = itertools.count()

    def hook(request):
        if match(request):
            act(next(count))

    bench.placement.before_request(hook)


def refused(bench):
    return [r for r in bench.placement.writes if r.status == 409]


@pytest.mark.catches('a remembered generation is written under')
def test_a_busy_host_costs_no_conflict(bench):
    """Each instance moves the generation; a change must not stumble on it."""
    agent = bench.agent(host)
    agent.done()
    agent.done()
    bench.operator.allocate(CONSUMER, 'VCPU')
    bench.placement.clear()
    agent.driver.describe = larger
    agent.done()
    with verdict():
        assert refused(bench) == []
        assert sorted(agents.sent(bench.placement)) == [
            f'GET /resource_providers?in_tree={NAME}',
            f'GET {NAME}/aggregates',
            f'GET {NAME}/allocations',
            f'GET {NAME}/inventories',
            f'GET {NAME}/traits',
            f'PUT {NAME}/inventories',
        ]


@pytest.mark.catches('a refused write is repeated under the new generation')
def test_a_conflict_is_met_with_a_new_look(bench):
    """What another wrote in between must be there in the end, and ours."""
    agent = bench.agent(host)
    agent.done()
    agent.driver.describe = more
    left = ['CUSTOM_OTHERS']
    always(
        bench,
        lambda _: left and bench.operator.add_traits(left.pop()),
        lambda r: r.method == 'PUT' and r.path.endswith('/traits'),
    )
    agent.done()
    with verdict():
        assert bench.operator.traits() == {
            *OWN,
            'CUSTOM_OTHERS',
            'HW_CPU_X86_AVX',
            'HW_CPU_X86_AVX2',
        }


class _NoTime:
    """Instead of waiting, note for how long."""

    def __init__(self):
        self.waits = []

    def sleep(self, seconds):
        self.waits.append(seconds)


@pytest.mark.catches('replanning after conflicts has no limit')
@pytest.mark.catches('a conflict is met with a new look at once')
def test_a_provider_that_never_holds_still_is_left_after_a_few_looks(
    bench, monkeypatch
):
    """Five looks with waits between, spread at random; then the next cycle."""
    time = _NoTime()
    monkeypatch.setattr(setbacks, 'time', time)
    agent = bench.agent(host)
    agent.done()
    agent.driver.describe = more
    always(bench, lambda n: bench.operator.add_traits(f'CUSTOM_N_{n}'))
    bench.placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    with verdict():
        assert len(refused(bench)) == 5
        assert len(set(time.waits)) == 4
        assert min(time.waits) > 0


RACE = {
    'errors': [
        {
            'status': 500,
            'title': 'Internal Server Error',
            'detail': 'Another thread concurrently updated the resource '
            'provider data. Please retry your update',
        }
    ]
}


@pytest.mark.catches('the 500 of a race is a broken server')
def test_the_500_of_a_traits_race_is_a_conflict(bench):
    """Placement answers so when two writers meet; both must get through."""
    agent = bench.agent(host)
    agent.done()
    agent.driver.describe = more
    bench.placement.fault('PUT */traits', (500, RACE))
    result = agent.cycle()
    with verdict():
        assert result.status is Status.DONE
        assert 'HW_CPU_X86_AVX2' in bench.operator.traits()
