# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rule about servers whose answers fail on the way."""

import http.client
import urllib.error
import urllib.request

import lines
from bad import breaks
from variants import Constant, Plant

from compute_agent import errors
from compute_agent.testing.contract import wire
from compute_agent.testing.contract.rules import transports, words
from compute_agent.testing.contract.wire import WireFault

KEEP = 'an answer that is missing or odd is unknown'
FAILURES = transports._failures


def without(*faults):
    """Return a variant that never tries these faults."""
    says = ' and '.join(fault.value for fault in faults)
    return (
        f'never tries {says}',
        Plant(
            transports._failures,
            lambda fault, titles: (
                [] if fault in faults else FAILURES(fault, titles)
            ),
        ),
    )


class Unchecked(lines.Lines):
    """Trusts that what came is all."""

    def check(self, rows, end):
        """Look at no count."""


@breaks(
    'CA039',
    call='update_provider_tree at status 500 in exchange 1 (GET /)',
    fix=KEEP,
    weak=(
        *without(WireFault.ERROR, WireFault.UNAVAILABLE),
        Constant(transports, _OUTAGES=()),
    ),
    world=lines.world,
)
class TakesTheBodyOfAnError(Unchecked):
    """Opens an answer, whatever its status is."""

    def open(self):
        try:
            return super().open()
        except urllib.error.HTTPError as exc:
            return exc

    def body(self):
        found = super().body()
        return b'end' if found == b'{}' else found


@breaks(
    'CA039',
    call='update_provider_tree while every exchange with a server ends with '
    'status 503',
    fix=KEEP,
    weak=('tries no outage', Constant(transports, _OUTAGES=())),
    world=lines.world,
)
class TakesUnavailableForUnchanged(lines.Lines):
    """A server that is busy has nothing new to say."""

    last = b''

    def body(self):
        try:
            self.last = super().body()
        except urllib.error.HTTPError:
            if not self.last:
                raise
        return self.last


@breaks(
    'CA039',
    call='update_provider_tree at no answer in exchange 1 (GET /)',
    fix='give each call on the outside world a time-out',
    weak=without(WireFault.SILENCE),
    world=lines.world,
    always=(Constant(wire, _PATIENCE=0.2), Constant(transports, _OUTAGES=())),
)
class WaitsForEver(lines.Lines):
    """Gives its request no limit."""

    def open(self):
        return urllib.request.urlopen(self.url)


@breaks(
    'CA018',
    call='get_available_nodes() at half of the body in exchange 1 (GET /)',
    fix='raise errors.DriverError with a line for the operator',
    weak=(
        'takes each exception for an error of the agent',
        Plant(words.check_error, lambda *_, **__: None),
    ),
    found_by='CA039',
    world=lines.world,
)
class ExpectsOnlyErrorsOfTheSystem(lines.Lines):
    """http.client.IncompleteRead is no OSError."""

    def read(self):
        try:
            *rows, end = self.body().decode().split('\n')
        except (OSError, ValueError) as exc:
            raise errors.DriverError('the racks did not answer') from exc
        self.check(rows, end)
        return [row.split() for row in rows]


@breaks(
    'CA039',
    call='update_provider_tree at half of the body in exchange 1 (GET /)',
    fix=KEEP,
    weak=without(WireFault.CUT),
    world=lines.world,
)
class TakesThePartThatCame(Unchecked):
    """Makes the best of a body that was cut."""

    def body(self):
        try:
            return super().body()
        except http.client.IncompleteRead as exc:
            whole = exc.partial.rpartition(b'\n')[0]
            return whole + b'\nend'


@breaks(
    'CA039',
    call='update_provider_tree at a reset in exchange 1 (GET /)',
    fix=KEEP,
    weak=without(WireFault.RESET),
    world=lines.world,
)
class TakesAResetForAnEmptyRack(Unchecked):
    """A rack that hangs up has no cards."""

    def body(self):
        try:
            return super().body()
        except (ConnectionResetError, urllib.error.URLError) as exc:
            reset = isinstance(
                getattr(exc, 'reason', exc), ConnectionResetError
            )
            if not reset:
                raise
            return b'end'


@breaks(
    'CA039',
    call='update_provider_tree at an answer in small pieces in exchange 1',
    fix=KEEP,
    weak=without(WireFault.SLOW, WireFault.CUT),
    world=lines.world,
)
class ReadsOnePiece(Unchecked):
    """Takes what the first read of the socket gives for the whole."""

    def body(self):
        with self.open() as answer:
            found = answer.read1()
        rows, _, _ = found.rpartition(b'\n')
        return rows + b'\nend' if rows else b'end'
