# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about ``changes``.

The last ones break a rule that looks at ``changes`` among other calls.
"""

import threading

from bad import breaks
from rack import NETWORK, Rack
from variants import Constant, Plant

from compute_agent import errors
from compute_agent.testing.contract import trial
from compute_agent.testing.contract.rules import (
    changes,
    lifetime,
    unknown,
    words,
)
from compute_agent.virt.values.changes import Changes

CYCLE_OF = trial.Trial.cycle_of


def without_facts(of, names):
    """Run a cycle of these nodes in which the agent trusts no facts."""
    of.recorder.gives_facts = False
    return CYCLE_OF(of, names)


# --- an unchanged world -------------------------------------------------------


@breaks(
    'CA032',
    call='changes(since): in an unchanged world, its second answer after a '
    'list is the nodes rack-0, rack-1, rack-2',
    fix='compare with the last reading',
    weak=(
        'does not look at the names',
        Plant(changes._check_none_is_named, lambda _: None),
    ),
)
class NamesEveryRack(Rack):
    def changes(self, since):
        end, _ = self.heard(since)
        return Changes(names=self._listed.keys(), since=end)


@breaks(
    'CA032',
    call='changes(since): in an unchanged world, its second answer after a '
    'list is None, that is any node',
    fix='compare with the last reading',
    weak=(
        'does not look at the names',
        Plant(changes._check_none_is_named, lambda _: None),
    ),
)
class NeverKnows(Rack):
    def changes(self, since):
        self.heard(since)


@breaks(
    'CA032',
    call='changes(since): it costs as much as a cycle; calls through the '
    'seams: 9 of changes, 9 of a cycle of all nodes',
    fix='ask the source only for what changed',
    weak=(
        'counts no calls',
        Plant(changes._check_cost, lambda *_: None),
    ),
)
class ReadsEveryRackForChanges(Rack):
    """It has no versions, so it compares what it reads of each rack."""

    def __init__(self):
        super().__init__()
        self._read = {}

    def facts(self, nodename):
        return repr(self.ask(NETWORK.read, nodename))

    def changes(self, since):
        self.get_available_nodes()
        read = {name: self.facts(name) for name in self._listed}
        names = [n for n, text in read.items() if self._read.get(n) != text]
        self._read = read
        return Changes(names=names, since=len(read))


# --- named nodes --------------------------------------------------------------


@breaks(
    'CA033',
    call='facts and update_provider_tree in the cycle of the nodes that '
    'changes named after World.change: only with a list of all nodes, '
    'CUSTOM_SLOTS of provider rack-0 was 10 and is 11',
    fix='work with what it has read',
    weak=(
        'has the agent ask for each description',
        Plant(trial.Trial.cycle_of, without_facts),
    ),
)
class KeepsTheFactsOfItsList(Rack):
    def changes(self, since):
        end, racks = self.heard(since)
        self._listed = {**{one['name']: one for one in racks}, **self._listed}
        return Changes(names=[one['name'] for one in racks], since=end)


def only_world_change(of, sizes):
    """Yield no other number of nodes."""
    return iter([('World.change', of.world.change)])


@breaks(
    'CA033',
    call='get_nodenames_by_uuid() in the cycle of the nodes that changes named '
    'after World.nodes(3): node rack-0 has no uuid',
    fix='all else is as before',
    weak=(
        'adds no node',
        Plant(changes._alterations, only_world_change),
    ),
)
class ForgetsTheOtherRacks(Rack):
    """It knows the uuids of the racks that it named, and of no other one."""

    def changes(self, since):
        end, racks = self.heard(since)
        if racks:
            self._listed = {one['name']: one for one in racks}
        return Changes(names=[one['name'] for one in racks], since=end)


# --- the next list ------------------------------------------------------------


@breaks(
    'CA034',
    call='get_available_nodes() after changes told World.nodes(2): only with '
    'a new driver, provider rack-2 is gone',
    fix='read all nodes in get_available_nodes',
    weak=(
        'looks at no later list',
        Plant(changes._check_list, lambda *_: None),
    ),
)
class ListsWhatItTold(Rack):
    def get_available_nodes(self):
        if not self._listed:
            super().get_available_nodes()
        return sorted(self._listed)


# --- departed nodes -----------------------------------------------------------


@breaks(
    'CA035',
    call='changes(since): it names rack-2, which the source has no more',
    fix='leave out nodes that left',
    weak=(
        'lets it name any node',
        Plant(changes._check_stays_unnamed, lambda *_: None),
    ),
)
class NamesWhatLeft(Rack):
    def changes(self, since):
        told = super().changes(since)
        left = self._listed.keys() - NETWORK.rows.keys()
        return Changes(names=[*told.names, *left], since=told.since)


# --- failures -----------------------------------------------------------------


@breaks(
    'CA036',
    call='changes(since) while network.log ends with a time-out: it returned, '
    'and its answer is no node',
    fix='raise DriverError',
    weak=(
        'has no source fail',
        Plant(changes._check_raises, lambda *_: None),
    ),
)
class HidesAFailure(Rack):
    def changes(self, since):
        try:
            return super().changes(since)
        except errors.DriverError:
            return Changes(names=(), since=since)


@breaks(
    'CA036',
    call='changes(since) after it failed: its answer is no node; without the '
    'failure it is the nodes rack-0, rack-1',
    fix='forget a change only when the answer has it',
    weak=(
        'asks for no answer that was lost',
        Plant(changes._check_is_told, lambda *_: None),
    ),
)
class CountsAFailureAsTold(Rack):
    """It keeps its place in the log by itself, and moves on before it reads."""

    _place = None

    def changes(self, since):
        place, self._place = self._place, len(NETWORK.logged)
        return super().changes(place)


@breaks(
    'CA036',
    call='get_available_nodes() after changes failed: only with a new driver',
    fix='read all nodes in get_available_nodes',
    weak=(
        'looks at no later list',
        Plant(changes._check_list, lambda *_: None),
    ),
)
class StopsListingAfterAFailure(Rack):
    """It waits for an answer of the log before it lists again."""

    _failed = False

    def changes(self, since):
        self._failed = True
        told = super().changes(since)
        self._failed = since is not None
        return told

    def get_available_nodes(self):
        if self._failed:
            return sorted(self._listed)
        return super().get_available_nodes()


# --- rules that look at other calls, too --------------------------------------


@breaks(
    'CA018',
    call='changes(since) at garbage of call 1 of network.log',
    fix='raise errors.DriverError',
    weak=(
        'has no fault in changes',
        Plant(unknown._in_changes, lambda *_: 0),
    ),
    found_by='CA013',
)
class TrustsTheLog(Rack):
    def heard(self, since):
        answer = super().heard(None) if since is None else NETWORK.log(since)
        if since is None:
            return answer
        return answer['end'], [dict(one) for one in answer['entries']]


@breaks(
    'CA012',
    call='update_provider_tree after changes(since) at an empty answer of '
    'call 1 of network.log: ',
    fix='an answer that is missing or odd is unknown',
    weak=(
        'has no fault in changes',
        Plant(unknown._in_changes, lambda *_: 0),
    ),
)
class TakesAnEmptyLogForBareRacks(Rack):
    bare = False

    def changes(self, since):
        answer = NETWORK.log(since)
        if since is not None and answer.get('entries') == []:
            self.bare = answer['end'] != since
            return Changes(names=self._listed, since=since)
        return super().changes(since)

    def label(self, tree, node, traits):
        super().label(tree, node, () if self.bare else traits)


@breaks(
    'CA018',
    call='changes(since) while network.log ends with a time-out: it raised',
    fix='raise errors.DriverError with a line',
    weak=(
        'looks at no error of changes',
        Plant(words._check_changes, lambda _: None),
    ),
)
class LetsTheLogFail(Rack):
    def changes(self, since):
        NETWORK.log(since)
        return super().changes(since)


def closes_after_a_list(of):
    """Check the threads of a driver that was asked for no changes."""
    driver = of.make_driver()
    driver.get_available_nodes()
    driver.close()
    assert 'log' not in {thread.name for thread in threading.enumerate()}


@breaks(
    'CA021',
    call='close(): the thread log still runs',
    fix='end and join every thread',
    weak=('asks for no changes',),
    check=closes_after_a_list,
    always=(Constant(lifetime, _SECONDS=0.2),),
)
class FollowsTheLog(Rack):
    """Its thread would run for ever; it ends when the driver is forgotten."""

    def __init__(self):
        super().__init__()
        self._end = threading.Event()

    def changes(self, since):
        threading.Thread(
            target=self._end.wait, name='log', daemon=True
        ).start()
        return super().changes(since)

    def __del__(self):
        self._end.set()
