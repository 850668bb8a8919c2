# SPDX-License-Identifier: Apache-2.0
"""Every request can be the last one; the next start ends where this one would.

The agent is killed after one of its writes, every other one in turn. What it
leaves is its state directory as it was at that moment.
"""

import contextlib
import shutil

import agents
import pytest
from gauntlet import verdict

NODE = agents.NODE
CHILD = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}


class Killed(BaseException):
    """The process is no more; nothing of it handles that."""


def full(tree, node):
    tree.update_inventory(node, {'MEMORY_MB': {'total': 1024}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX', 'CUSTOM_A')
    tree.declare_aggregates(node, AGGREGATE)
    if not tree.exists(CHILD):
        tree.new_child('numa0', node, CHILD)
    tree.update_inventory(CHILD, {'VCPU': {'total': 4}})


def bare(tree, node):
    tree.update_inventory(node, {})
    tree.declare_traits(node)
    tree.declare_aggregates(node)
    if tree.exists(CHILD):
        tree.remove(CHILD)


def killed_after(bench, number, folder):
    """Kill an agent after its write of this number; return what it leaves."""
    bench.placement.reset()
    agent = bench.agent(full, state=folder)
    left = folder.with_name(f'{folder.name}-left')
    writes = []

    def keep(request):
        if request.method != 'GET':
            writes.append(request)
            if len(writes) == number + 1:
                shutil.copytree(folder, left)

    bench.placement.before_request(keep)
    bench.placement.fault(
        lambda r: r.method != 'GET', Killed, skip=number, after_commit=True
    )
    with contextlib.suppress(Killed):
        agent.sync()
    agent.state.close()
    bench.placement.mend()
    return left


@pytest.mark.catches('intents are not recorded before a write')
def test_a_half_done_cycle_is_finished_and_its_work_is_still_ours(
    bench, tmp_path
):
    """No cut may leave anything undone, written twice, or owned by nobody."""
    bench.agent(full).done()
    goal, count = bench.operator.holdings(), len(bench.placement.writes)
    assert count == 8
    ends = []
    for number in range(1, count, 2):
        left = killed_after(bench, number, tmp_path / str(number))
        agent = bench.agent(full, state=left)
        agent.sync()
        agent.sync()
        reached = bench.operator.holdings()
        bench.placement.clear()
        agent.sync()
        again = bench.placement.writes
        agent.driver.describe = bare
        agent.sync()
        ends.append((reached, again, bench.operator.holdings()))
    nothing = {
        'uuid': NODE,
        'parent': None,
        'inventories': {},
        'traits': OWN,
        'aggregates': set(),
    }
    with verdict():
        for reached, again, taken_back in ends:
            assert reached == goal
            assert again == []
            assert taken_back == {agents.NAME: nothing}
