# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about a guest in the agent's process.

Each does in a cycle what a process of its own could do.
"""

import dataclasses
import datetime as dt
import functools
import logging
import os
import signal
import ssl
import subprocess
import sys
import threading
import time

import rack
from bad import breaks
from rack import NETWORK, Rack
from variants import Constant, Plant

from compute_agent import errors
from compute_agent.testing.contract import process
from compute_agent.testing.contract.rules import guests, many_nodes

CHANGE = process.Guest.change
DAY = 86400
LEAVE = 'close, join and forget in each cycle'
GUEST = "leave the process as it is: it is the agent's"
STILL = (
    'never moves the clock',
    Constant(guests, _MOVES=(('later', 0.0),)),
)
FEW = (Constant(guests, _CYCLES=5, _WARM=2, _ROUNDS=2),)
LATER = 0.5  # seconds


# --- the clock ----------------------------------------------------------------


@breaks(
    'CA040',
    call='update_provider_tree in a cycle a day later: it wrote',
    fix='let the time of day decide nothing',
    weak=STILL,
)
class NamesTheDay(Rack):
    def label(self, tree, node, traits):
        day = dt.datetime.now(dt.UTC).date().toordinal()
        super().label(tree, node, [*traits, f'CUSTOM_DAY_{day}'])


@breaks(
    'CA040',
    call='update_provider_tree in a cycle forty days later: it is not done',
    fix='get a new token when the old one has expired',
    weak=STILL,
)
class LosesItsToken(Rack):
    def __init__(self):
        super().__init__()
        self.expires = time.monotonic() + 30 * DAY

    def ask(self, function, *arguments):
        if time.monotonic() > self.expires:
            raise errors.DriverError('the token of the racks has expired')
        return super().ask(function, *arguments)


@breaks(
    'CA040',
    call="facts('rack-0') a day later: they are others",
    fix='leave times out of the facts',
    weak=STILL,
)
class HasTheDayInItsFacts(Rack):
    def facts(self, nodename):
        return super().facts(nodename), int(time.time() / DAY)


# --- what a cycle leaves behind -----------------------------------------------


@breaks(
    'CA041',
    call='update_provider_tree in 5 cycles of an unchanged world: 5 descriptors',
    fix=LEAVE,
    weak=('counts nothing', Plant(guests._growth, lambda *_: {})),
    always=FEW,
)
class OpensAFileInEachCycle(Rack):
    def __init__(self):
        super().__init__()
        self.open = []

    def get_available_nodes(self):
        self.open.append(os.open(os.devnull, os.O_RDONLY))
        return super().get_available_nodes()

    def close(self):
        while self.open:
            os.close(self.open.pop())
        super().close()


@breaks(
    'CA041',
    call='update_provider_tree in 5 cycles of an unchanged world: 5 threads',
    fix=LEAVE,
    weak=('counts nothing', Plant(guests._growth, lambda *_: {})),
    always=FEW,
)
class StartsAThreadInEachCycle(Rack):
    def __init__(self):
        super().__init__()
        self.end = threading.Event()

    def get_available_nodes(self):
        threading.Thread(target=self.end.wait, daemon=True).start()
        return super().get_available_nodes()

    def close(self):
        self.end.set()
        super().close()


@breaks(
    'CA041',
    call='update_provider_tree in 5 cycles of an unchanged world: 5 child',
    fix=LEAVE,
    weak=('counts nothing', Plant(guests._growth, lambda *_: {})),
    always=FEW,
)
class StartsAProgramInEachCycle(Rack):
    def __init__(self):
        super().__init__()
        self.children = []

    def get_available_nodes(self):
        self.children.append(subprocess.Popen(['/bin/sleep', '60']))
        return super().get_available_nodes()

    def close(self):
        while self.children:
            child = self.children.pop()
            child.kill()
            child.wait()
        super().close()


@breaks(
    'CA041',
    call='update_provider_tree in 5 cycles of an unchanged world: 15 objects '
    'more are kept by RemembersEachReading.history',
    fix=LEAVE,
    weak=('counts no memory', Plant(guests._objects, lambda _: {})),
    always=FEW,
)
class RemembersEachReading(Rack):
    def __init__(self):
        super().__init__()
        self.history = {}

    def get_available_nodes(self):
        self.history[len(self.history) + 1000] = [time.time()]
        return super().get_available_nodes()


# --- the process --------------------------------------------------------------


def blind_to(words):
    """Return a variant that sees no change with these words."""

    def change(guest):
        found = CHANGE(guest)
        return '' if words in found else found

    return f'does not see {words}', Plant(process.Guest.change, change)


ASKED = 'get_available_nodes() and update_provider_tree'


class InAList(Rack):
    """Does something to the process when it lists its nodes."""

    def get_available_nodes(self):
        self.do()
        return super().get_available_nodes()


@breaks(
    'CA042',
    call=f"{ASKED}: the driver printed 'reading the racks'",
    fix=GUEST,
    weak=blind_to('printed'),
)
class Prints(InAList):
    def do(self):
        sys.stdout.write('reading the racks\n')


@breaks(
    'CA042',
    call=f'{ASKED}: the working directory was',
    fix=GUEST,
    weak=blind_to('directory'),
)
class ChangesTheDirectory(InAList):
    def do(self):
        os.chdir('/')


@breaks(
    'CA042',
    call=f'{ASKED}: the handlers of the root logger have',
    fix=GUEST,
    weak=blind_to('logger'),
)
class SetsUpLogging(InAList):
    def do(self):
        logging.getLogger().addHandler(logging.NullHandler())


@breaks(
    'CA042',
    call=f'{ASKED}: the handler of SIGTERM is',
    fix=GUEST,
    weak=blind_to('SIGTERM'),
)
class HandlesASignal(InAList):
    def do(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


@breaks(
    'CA042',
    call=f'{ASKED}: the environment has another RACKS_TOKEN',
    fix=GUEST,
    weak=blind_to('environment'),
)
class SetsTheEnvironment(InAList):
    def do(self):
        os.environ['RACKS_TOKEN'] = 'secret'


@breaks(
    'CA042',
    call=f'{ASKED}: sys.excepthook was',
    fix=GUEST,
    weak=blind_to('excepthook'),
)
class ReplacesTheExcepthook(InAList):
    def do(self):
        sys.excepthook = lambda *_: None


@breaks(
    'CA042',
    call='from_conf(conf): the check of certificates of https was',
    fix=GUEST,
    weak=blind_to('certificates'),
)
class TrustsAnyCertificate(Rack):
    def __init__(self):
        super().__init__()
        ssl._create_default_https_context = ssl._create_unverified_context


@breaks(
    'CA042',
    call='update_provider_tree while every call of network.nodes ends with a '
    "time-out: the driver printed 'no racks'",
    fix=GUEST,
    weak=blind_to('printed'),
)
class PrintsItsErrors(Rack):
    def ask(self, function, *arguments):
        try:
            return super().ask(function, *arguments)
        except errors.DriverError:
            sys.stderr.write('no racks\n')
            raise


# --- the tree -----------------------------------------------------------------


@breaks(
    'CA043',
    call="update_provider_tree(…, 'rack-0'): the thread late called add_traits",
    fix='edit the tree in the call only',
    weak=(
        'takes nobody for the driver',
        Plant(guests._is_edit, lambda: False),
    ),
)
class EditsLater(Rack):
    def label(self, tree, node, traits):
        super().label(tree, node, traits)
        if node != 'rack-0':  # of two timers, either may be the first
            return
        later = functools.partial(tree.add_traits, node, *traits)
        timer = threading.Timer(LATER, later)
        timer.name = 'late'
        timer.start()


# --- amounts, and the number of nodes -----------------------------------------


def stated():
    """Return a world whose author says what it has."""
    expected = {'rack-0': {'inventories': {'CUSTOM_SLOTS': 10}}}
    return dataclasses.replace(rack.world(), expected=expected)


@breaks(
    'CA044',
    call='update_provider_tree: CUSTOM_SLOTS of provider rack-0 is 10240 and '
    'should be 10',
    fix='report an amount in the unit of its resource class',
    weak=('compares nothing',),
    check=lambda of: of.sync(),
    world=stated,
)
class ReportsAnotherUnit(Rack):
    def describe(self, tree, node, entries, allocations):
        larger = [
            {**one, 'total': one['total'] * 1024}
            if one.get('class') == 'CUSTOM_SLOTS'
            else one
            for one in entries
        ]
        super().describe(tree, node, larger, allocations)


@breaks(
    'CA028',
    call='get_available_nodes, facts and update_provider_tree: cycles of 2, 4',
    fix='read what nodes share once',
    weak=(
        'allows a thousand calls more',
        Constant(many_nodes, _SLACK=1000),
    ),
    capabilities=(),
)
class DoesNotSayThatItHasSeveral(Rack):
    """Reads every rack for each, and its author declares nothing."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        for name in NETWORK.rows:
            self.ask(NETWORK.read, name)
        super().update_provider_tree(provider_tree, nodename, allocations)
