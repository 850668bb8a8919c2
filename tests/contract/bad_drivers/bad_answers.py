# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about failures: they take unknown for empty."""

from bad import breaks
from rack import NETWORK, Rack
from variants import Plant

from compute_agent import errors
from compute_agent.testing.contract import trial
from compute_agent.testing.contract.rules import unknown, words
from compute_agent.testing.values import seam
from compute_agent.virt import driver

GARBAGE = seam._garbage
PLACES = seam._places
UNKNOWN = 'an answer that is missing or odd is unknown'


@breaks(
    'CA009',
    call='update_provider_tree at a time-out of call ',
    fix=UNKNOWN,
    weak=(
        'has a call that takes too long end as any other error',
        Plant(seam.Seam.exception, lambda one, _: one.error()),
    ),
)
class TakesATimeOutForNothing(Rack):
    def ask(self, function, *arguments):
        try:
            return self.entries(function(*arguments))
        except TimeoutError:
            return []
        except OSError as exc:
            raise errors.DriverError(f'no answer: {exc}') from exc


@breaks(
    'CA010',
    call='update_provider_tree at an exception of call ',
    fix=UNKNOWN,
    weak=(
        'has each call that fails take too long',
        Plant(seam.Seam.exception, lambda one, _: one.timeout()),
    ),
)
class TakesAnErrorForNothing(Rack):
    def ask(self, function, *arguments):
        try:
            return self.entries(function(*arguments))
        except ConnectionError:
            return []
        except OSError as exc:
            raise errors.DriverError(f'no answer: {exc}') from exc


def outer_half(true):
    """Return the half of the outermost mapping only."""
    return [dict(list(true.items())[:1])] if isinstance(true, dict) else []


@breaks(
    'CA011',
    call='update_provider_tree at half of the answer of call ',
    fix=UNKNOWN,
    weak=(
        'halves no list inside of an answer',
        Plant(seam._halves, outer_half),
    ),
)
class TakesHalfForAll(Rack):
    def entries(self, answer):
        found = answer.get('entries') if isinstance(answer, dict) else None
        if isinstance(found, list) and all(map(is_entry, found)):
            return found or super().entries(answer)
        return super().entries(answer)


def is_entry(one):
    return isinstance(one, dict)


@breaks(
    'CA012',
    call='update_provider_tree at an empty answer of call ',
    fix=UNKNOWN,
    weak=(
        'empties no list inside of an answer',
        Plant(seam._empty, lambda true: [type(true)()]),
    ),
)
class TakesEmptyForNothing(Rack):
    def entries(self, answer):
        if isinstance(answer, dict) and answer.get('entries') == []:
            return []
        return super().entries(answer)


@breaks(
    'CA013',
    call='update_provider_tree at garbage of call ',
    fix=UNKNOWN,
    weak=(
        'never gives None',
        Plant(
            seam._garbage,
            lambda true: [bad for bad in GARBAGE(true) if bad is not None],
        ),
    ),
)
class TakesNoneForNothing(Rack):
    def entries(self, answer):
        return [] if answer is None else super().entries(answer)


def garbage_outside(true):
    """Return garbage without the answers that have lists of garbage."""
    return [
        bad
        for bad in GARBAGE(true)
        if not isinstance(bad, dict) or 'entries' not in bad
    ]


@breaks(
    'CA013',
    call='update_provider_tree at garbage of call ',
    fix=UNKNOWN,
    weak=(
        'puts no garbage into the lists of an answer',
        Plant(seam._garbage, garbage_outside),
    ),
)
class CountsItsEntriesOnly(Rack):
    def entries(self, answer):
        found = answer.get('entries') if isinstance(answer, dict) else None
        if isinstance(found, list) and len(found) == answer['count']:
            return [one for one in found if isinstance(one, dict)]
        return super().entries(answer)


@breaks(
    'CA013',
    call='update_provider_tree at garbage of call ',
    fix=UNKNOWN,
    weak=(
        'has garbage in two levels of an answer only',
        Plant(
            seam._places,
            lambda true: [one for one in PLACES(true) if len(one[0]) < 2],
        ),
    ),
)
class TakesNoFunctionsForNone(Rack):
    """It has the words by which unknown most often becomes empty."""

    def entries(self, answer):
        found = answer.get('entries') if isinstance(answer, dict) else None
        for one in found if isinstance(found, list) else ():
            if isinstance(one, dict) and 'card' in one:
                one['functions'] = one['functions'] or []
                one['total'] = len(one['functions'])
        return super().entries(answer)


@breaks(
    'CA014',
    call='update_provider_tree while every call of network.read ends',
    fix=UNKNOWN,
    weak=(
        'takes any evidence for a word',
        Plant(unknown._finds_unknown, lambda _: True),
    ),
)
class SaysNothing(Rack):
    """It describes what it read last, for ever."""

    def __init__(self):
        super().__init__()
        self._read = {}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        try:
            self._read[nodename] = self.ask(NETWORK.read, nodename)
        except errors.DriverError:
            if nodename not in self._read:
                raise
        entries = self._read[nodename]
        self.describe(provider_tree, nodename, entries, allocations)

    def evidence(self, nodename):
        return self.findings(self._read[nodename])


@breaks(
    'CA014',
    call='update_provider_tree in a cycle without a fault',
    fix='write the same notes about the same state',
    weak=(
        'looks for no note that changes by itself',
        Plant(
            trial.Trial.steady_cycle, lambda of, title: of.quiet_cycle(title)
        ),
    ),
)
class CountsItsCycles(SaysNothing):
    """It says nothing of the source, but something else in each cycle."""

    cycle = 0

    def get_available_nodes(self):
        self.cycle += 1
        return super().get_available_nodes()

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        super().update_provider_tree(provider_tree, nodename, allocations)
        provider_tree.note(f'cycle {self.cycle}')


def garbage_of_any_kind(call, exc, *, number=''):
    """Take each exception for an error of the agent's."""


@breaks(
    'CA018',
    call='update_provider_tree(…, ',
    fix='raise errors.DriverError with a line for the operator',
    weak=(
        'takes each exception for an error of the agent',
        Plant(words.check_error, garbage_of_any_kind),
    ),
    found_by='CA013',
)
class RaisesWhatPythonDoes(Rack):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        answer = NETWORK.read(nodename)
        entries = [dict(one) for one in answer['entries']]
        self.entries(answer)
        self.describe(provider_tree, nodename, entries, allocations)


@breaks(
    'CA015',
    call="node_exists('rack-0') at a time-out of call 1",
    fix='return Existence.NO only if the source says so itself',
    weak=(
        'asks only while all is well',
        Plant(unknown._failures, lambda *_: iter(())),
    ),
)
class DeniesWhatItCannotSee(Rack):
    def node_exists(self, nodename):
        try:
            return super().node_exists(nodename)
        except errors.DriverError:
            return driver.Existence.NO
