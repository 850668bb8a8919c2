# SPDX-License-Identifier: Apache-2.0
"""The real placement and its double, each asked the same.

It can take the place of either. A difference is an AssertionError: in the
answers, as far as an agent reads them, or in what is held afterwards.
"""

import dataclasses
import json
import typing

import placement_replay
import requests

from compute_agent import testing
from compute_agent.testing.fixtures import in_process
from report_client.http.messages import codec, error_mapping

from . import contents, service

_NOWHERE = error_mapping.Access(where='')


@dataclasses.dataclass(frozen=True, slots=True)
class Copies:
    """A copy of each."""

    real: bytes
    double: contents.Contents


class Both:
    """Two placements that must agree.

    :ivar asked: how many requests each got
    """

    url = in_process.URL

    def __init__(self, placement: testing.Placement) -> None:
        self._real = placement_replay.Replay(placement)
        self._double = service.Double()
        self.session = in_process.session(self.ask)

    @property
    def asked(self) -> int:
        """How many requests the double got."""
        return self._double.asked

    def start(self, database: Copies | None) -> None:
        """Begin with these copies, or empty."""
        self._real.start(None if database is None else database.real)
        self._double.start(None if database is None else database.double)

    def database(self) -> Copies:
        """Return a copy of each."""
        return Copies(self._real.database(), self._double.database())

    def contents(self) -> dict[str, contents.Claims]:
        """Return all providers by uuid."""
        return self._double.contents()

    def ask(self, sent: requests.PreparedRequest) -> requests.Response:
        """Return the real answer; the double's must be like it."""
        request = in_process.read(sent)
        got = self._real.ask(sent)
        body = got.json() if got.content else None
        self._compare(request, placement_replay.Answer(got.status_code, body))
        return got

    def call(
        self,
        method: str,
        path: str,
        body: typing.Any = None,
        microversion: str = service.NEWEST,
    ) -> placement_replay.Answer:
        """Return the real answer to an operator; the double's is like it."""
        answer = self._real.call(method, path, body, microversion)
        request = in_process.Request(
            method=method, path=path, body=body, microversion=microversion
        )
        self._compare(request, answer)
        return answer

    def _compare(
        self,
        request: in_process.Request,
        real: placement_replay.Answer,
    ) -> None:
        answer = self._double.answer(
            request.method, request.path, request.body, request.microversion
        )
        ours, theirs = _plain(request, answer), _plain(request, real)
        assert ours == theirs, (
            f'{request} {json.dumps(request.body)}: placement answers '
            f'{theirs}, its double {ours}'
        )
        if request.method != 'GET':
            held, kept = self._real.contents(), self._double.contents()
            assert held == kept, f'{request}: {held} is not {kept}'


def _plain(
    request: in_process.Request, answer: placement_replay.Answer
) -> object:
    """Return what an agent reads of an answer; the order of names is none."""
    if answer.status >= 400:
        error = answer.body['errors'][0]
        asked = codec.Request(method=request.method, path=request.path)
        kind = error_mapping.error_for(asked, answer.status, error, _NOWHERE)
        return answer.status, error['status'], error['code'], type(kind)
    body = answer.body
    if answer.status == 204 or not isinstance(body, dict):
        return answer.status, None
    return answer.status, {
        key: _part(part) for key, part in body.items() if key != 'links'
    }


def _part(part: typing.Any) -> typing.Any:
    if not isinstance(part, list):
        return part
    if part and isinstance(part[0], dict):
        rows = [{k: v for k, v in row.items() if k != 'links'} for row in part]
        return rows if 'uuid' in rows[0] else sorted(r['name'] for r in rows)
    return sorted(part)
