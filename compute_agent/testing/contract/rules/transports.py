# SPDX-License-Identifier: Apache-2.0
"""The rule about servers: their answers fail on the way, or are errors.

Here nothing of the driver is replaced, nor of its client: the failures come
from the socket. A seam gives the driver an exception or an answer of the
suite; here, the driver's own client makes them from a broken connection.
"""

import contextlib
import gc
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ...values.verdict import Broken, DoesNotApply, NotTried
from .. import wire
from ..trial import Trial
from ..wire import WireFailure, WireFault
from . import unknown

_MOST = 4  # exchanges of a cycle in which a fault is tried
_OUTAGES = (WireFault.UNAVAILABLE, WireFault.SILENCE)
#: The packages whose functions ask a server.
_CLIENTS = frozenset(
    {'aiohttp', 'http', 'httpx', 'requests', 'urllib', 'urllib3', 'socket'}
)


def servers_fail(trial: Trial) -> None:
    """Check each fault at the exchanges with servers."""
    with _unclosed_responses_are_fine(trial), trial.wire.installed():
        trial.sync()
        tried = _later(trial) + _after_restart(trial)
    if not tried:
        _check_clients(trial)
        raise DoesNotApply('the driver opens no TCP connection in this world')
    trial.notes.append(f'{tried} faults of servers tried')


@contextlib.contextmanager
def _unclosed_responses_are_fine(trial: Trial) -> Iterator[None]:
    """Have Python close the responses in exceptions without a word.

    An ``HTTPError`` of urllib holds a socket, and few programs close it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ResourceWarning)
        try:
            yield
        finally:
            trial.recorder.clear()
            gc.collect()


def _later(trial: Trial) -> int:
    """Try the faults in later cycles of one driver; return their number."""
    normal, _ = unknown.normal_cycles(trial)
    titles = _titles(trial)
    tried = 0
    for fault in WireFault:
        for failure in _failures(fault, titles):
            tried += _try(trial, normal, failure, 'in a later cycle')
    for fault in _OUTAGES if titles else ():
        failure = WireFailure(fault=fault)
        unknown.check_told(trial, normal, failure)
        unknown.heal(trial, normal, f'{failure}')
    return tried


def _after_restart(trial: Trial) -> int:
    """Try the faults in the first cycle of a driver; return their number."""
    trial.restart()
    normal, _ = unknown.normal_cycles(trial)
    trial.restart()
    titles = _titles(trial)
    tried = 0
    for fault in WireFault:
        for failure in _failures(fault, titles):
            trial.restart()
            tried += _try(trial, normal, failure, 'after a restart')
    return tried


def _titles(trial: Trial) -> Sequence[str]:
    """Return the first line of each question of a cycle."""
    trial.wire.clear()
    trial.quiet_cycle('a cycle without a fault')
    return list(trial.wire.titles)


def _failures(fault: WireFault, titles: Sequence[str]) -> list[WireFailure]:
    numbers = unknown.spread(range(1, len(titles) + 1), _MOST)
    return [
        WireFailure(fault=fault, number=number, title=titles[number - 1])
        for number in numbers
    ]


def _try(
    trial: Trial, normal: unknown.Normal, failure: WireFailure, moment: str
) -> bool:
    is_tried = unknown.try_one(trial, normal, failure, moment)
    if failure.is_endless:
        raise Broken(
            f'update_provider_tree at {failure} {moment}',
            'the driver waited without a limit: its socket has no time-out',
            'give each call on the outside world a time-out',
        )
    return is_tried


def _check_clients(trial: Trial) -> None:
    """Check that no seam asks a server that this world does not have.

    :raises NotTried: a seam asks such a server
    """
    for seam in trial.world.seams:
        owner: Any = seam.owner
        home = str(
            owner.__name__
            if isinstance(owner, types.ModuleType)
            else owner.__module__
        )
        if home.partition('.')[0] in _CLIENTS:
            raise NotTried(
                f'{seam} asks a server, and the driver opens no TCP '
                'connection in this world: let the world have a server on '
                f'{wire.LOOPBACK}'
            )
