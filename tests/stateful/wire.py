# SPDX-License-Identifier: Apache-2.0
"""One agent's way to placement: what it sends, and what goes wrong there.

Each agent has its own, so that who wrote what is known. At most one fault is
armed per cycle; ``judge`` hears of every request that placement carried out.
"""

import collections.abc
import dataclasses
import json

import reading
import requests
import shortcut
from crashing import Killed
from placement_double import service

from compute_agent.testing.fixtures import faults, in_process

CONFLICT = (
    409,
    {
        'errors': [
            {
                'status': 409,
                'code': 'placement.concurrent_update',
                'detail': 'resource provider generation conflict',
            }
        ]
    },
)

VAST = 10**20
HALF = '\ud800'  # of a character
GENERATIONS = {'generation', 'resource_provider_generation'}


def vast(body):
    """Return a body with generations that no placement gives."""
    return _changed(
        body, lambda key, value, _: VAST if key in GENERATIONS else value
    )


def half(body):
    """Return a list of providers with names that no placement gives.

    Of the answer to a creation the agent uses only the generation.
    """
    if not isinstance(body, dict) or 'resource_providers' not in body:
        return body
    return _changed(
        body,
        lambda key, value, row: (
            f'{value}{HALF}' if key == 'name' and 'uuid' in row else value
        ),
    )


def _changed(body, change):
    if isinstance(body, list):
        return [_changed(each, change) for each in body]
    if not isinstance(body, dict):
        return body
    return {
        key: change(key, _changed(value, change), body)
        for key, value in body.items()
    }


SENSELESS = (vast, half)
# What the client gets, and whether placement did it all the same.
FAULTS = {
    '409': (CONFLICT, False),
    '500': (500, False),
    '500 after': (500, True),
    '503': (503, False),
    'refused': (requests.ConnectionError, False),
    'reset after': (requests.ConnectionError, True),
    'timeout after': (requests.ReadTimeout, True),
    'truncated': ((200, '{"resource_provid'), True),
    'garbage': ((200, '<html>It works!</html>'), False),
    'vast': (vast, True),
    'half': (half, True),
    'killed before': (Killed, False),
    'killed after': (Killed, True),
}
READ_FAULTS = FAULTS.keys() - {'409', '500 after', 'killed after'}


@dataclasses.dataclass(slots=True)
class Fault:
    """What becomes of the ``at``-th read or write, from its first cycle on.

    :ivar meanwhile: done by others just before that request
    :ivar about: the node that the request must be about, or None for any
    :ivar again: whether all such requests after it meet the same
    """

    kind: str
    writes: bool
    at: int
    meanwhile: collections.abc.Callable[[], object] | None = None
    about: str | None = None
    again: bool = False
    hit: bool = False

    def takes(self, request: in_process.Request) -> bool:
        """Whether this request is the one; it is counted."""
        write = request.method != 'GET'
        if write is not self.writes or (self.hit and not self.again):
            return False
        if self.about not in {None, *reading.nodes(request)}:
            return False
        self.at -= 1
        self.hit = self.at < 0
        return self.hit


class Wire:
    """The ``placement`` that an agent factory is given.

    :ivar session: of the agent's requests
    :ivar fault: what goes wrong in this cycle
    :ivar at_death: called just before the agent is killed
    """

    url = in_process.URL

    def __init__(self, replay, judge) -> None:
        self._replay = replay
        self._judge = judge
        self.session = in_process.session(self._answer)
        self.fault: Fault | None = None
        self.at_death: collections.abc.Callable[[], object] = lambda: None
        self.writes: list[str] = []
        self._is_due = False  # a fault hits the request that is under way

    def begin(self, fault: Fault | None) -> None:
        """Start the account of another cycle."""
        self.fault, self.writes = fault, []

    def via(self, adapter):
        """Return what an agent sends its requests through."""
        if isinstance(self._replay, service.Double):
            return shortcut.Shortcut(self, adapter)
        return adapter

    def meets(self, request) -> bool:
        """Whether a fault hits a request; somebody may act just before it."""
        if request.method != 'GET':
            self.writes.append(f'{request} {request.body}')
        fault = self.fault
        hit = fault is not None and fault.takes(request)
        if hit and fault.meanwhile is not None:
            fault.meanwhile()
            hit = False
        self._is_due = hit
        return hit

    def quick(self, request):
        """Return status and body of an answer that no fault hits."""
        self._judge.before(request)
        got = self._replay.answer(
            request.method, request.path, request.body, request.microversion
        )
        self._judge.after(request, got.status, got.body, lost=False)
        return got.status, got.body

    def _answer(self, sent: requests.PreparedRequest) -> requests.Response:
        request = in_process.read(sent)
        hit = self._is_due or self.meets(request)
        self._is_due = False
        self._judge.before(request)
        outcome, commit = FAULTS[self.fault.kind] if hit else (None, True)
        body = status = None
        if commit:
            response = self._replay.ask(sent)
            status = response.status_code
            body = _json(response)
        if outcome in SENSELESS:
            said = outcome(body)
            hit, outcome = said != body, (status, said)
        self._judge.after(request, status, body, lost=hit)
        if not hit:
            return response
        if outcome is Killed:
            self.at_death()
        return _lost(sent, outcome)


def _json(response):
    return json.loads(response.content) if response.content else None


def _lost(sent, outcome):
    return faults.Fault(
        match='*', outcome=outcome, times=1, skip=0, after_commit=False
    ).answer(sent)
