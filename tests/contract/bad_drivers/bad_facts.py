# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for what the rules find in a driver's facts.

The first one breaks only the rule about facts. The others break a rule where
the agent asks for the facts, or trusts them.
"""

import contextlib
import zlib

from bad import breaks
from rack import NETWORK, Rack
from variants import Plant

from compute_agent import errors
from compute_agent.testing.contract import recorder, trial
from compute_agent.testing.contract.rules import (
    many_nodes,
    repeatable,
    unknown,
)

ASKS_FOR_NONE = (
    'asks for no facts',
    Plant(recorder.Recorder.facts, lambda *_: None),
)


@breaks(
    'CA023',
    call="facts('rack-0'): they are equal in two cycles, and node rack-0, "
    'inventories, of provider rack-0, CUSTOM_SLOTS, total: 10 and then 11',
    fix='return everything that the description depends on',
    weak=(
        'compares no description',
        Plant(repeatable._same_facts, lambda *_: None),
    ),
)
class LeavesOutOfItsFacts(Rack):
    def facts(self, nodename):
        return zlib.crc32(nodename.encode())


@breaks(
    'CA023',
    call="facts('rack-0') at an exception of call 1 of network.read",
    fix='return None, or other facts',
    weak=(
        'does not compare the facts of a cycle with a fault',
        Plant(unknown._check_facts, lambda *_: None),
    ),
    found_by='CA010',
)
class KeepsWithTheSameFacts(Rack):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        try:
            entries = self.ask(NETWORK.read, nodename)
        except errors.DriverError as exc:
            provider_tree.keep_inventory(nodename)
            provider_tree.note(str(exc))
        else:
            self.describe(provider_tree, nodename, entries, allocations)


@breaks(
    'CA018',
    call="facts('rack-0') at garbage of call 1 of network.read in a later",
    fix='raise errors.DriverError',
    weak=ASKS_FOR_NONE,
    found_by='CA013',
)
class TrustsAnAnswerInItsFacts(Rack):
    def facts(self, nodename):
        return nodename, len(NETWORK.read(nodename)['entries'])


@breaks(
    'CA014',
    call='facts while every call of network.read ends with a time-out',
    fix='an answer that is missing or odd is unknown',
    weak=(
        'never trusts the facts',
        Plant(trial.Trial.trusting_facts, lambda _: contextlib.nullcontext()),
    ),
)
class HidesBehindItsLastFacts(Rack):
    def __init__(self):
        super().__init__()
        self._last = {}

    def facts(self, nodename):
        with contextlib.suppress(errors.DriverError):
            self._last[nodename] = repr(self.ask(NETWORK.read, nodename))
        return self._last.get(nodename)


# --- the cost -----------------------------------------------------------------


@breaks(
    'CA028',
    call='get_available_nodes, facts and update_provider_tree: cycles of 2, 4',
    fix='read what nodes share once',
    weak=ASKS_FOR_NONE,
)
class ReadsEveryRackForItsFacts(Rack):
    def facts(self, nodename):
        for name in NETWORK.rows:
            self.ask(NETWORK.read, name)
        return super().facts(nodename)


@breaks(
    'CA028',
    call='get_available_nodes, facts and update_provider_tree: first cycles',
    fix='read what nodes share once',
    weak=(
        'counts no first cycle',
        Plant(many_nodes._first_calls, lambda _: 0),
    ),
)
class ReadsEveryRackAtFirst(Rack):
    def __init__(self):
        super().__init__()
        self._known = set()

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if nodename not in self._known:
            self._known.add(nodename)
            for name in NETWORK.rows:
                self.ask(NETWORK.read, name)
        super().update_provider_tree(provider_tree, nodename, allocations)
