# SPDX-License-Identifier: Apache-2.0
"""What drivers tell of changes between two lists of their nodes."""

from planted.catalogue import plant

from compute_agent.cmd.control import cycle_requests
from compute_agent.cmd.run import changes
from compute_agent.cycle.node import node_result
from compute_agent.limits import judgement
from compute_agent.testing.contract import recorder
from compute_agent.virt import drivers


@plant(judgement.lost, 'removals of single nodes, one after another, are few')
def _(_lost, _removals, _limits, _but):
    return ()


@plant(
    cycle_requests.CycleRequests.part_ended,
    'a cycle of some nodes answers a person who waits for one of all',
)
def _(_part_ended, self, results):
    self._begun += 1
    self.end(results)


@plant(
    node_result.among_others,
    'a node without a cycle is as good as one that was just done',
)
def _(_among_others, results, before):
    had = {result.node.uuid: result for result in results}
    return [had.get(was.node.uuid, was) for was in before]


@plant(
    changes.ChangeWatch._ask,
    'what a driver could not tell counts as told',
)
def _(ask, self, one):
    names = ask(self, one)
    if one.source in self._failing:
        self._since.pop(one.source, None)
    return names


@plant(
    recorder.Recorder.around,
    'the suite has the agent ask every driver for changes',
)
def _(_of, cls, driver):
    return cls(driver)


@plant(drivers.Drivers.subscribe, 'an event is for the drivers of all nodes')
def _(subscribe, self, wake):
    subscribe(self, lambda _one: [wake(one) for one in self])


@plant(
    changes.ChangeWatch.wait, 'the wait for changes begins after each cycle'
)
def _(wait, self, seconds):
    self._asked_at = self._clock()
    return wait(self, seconds)
