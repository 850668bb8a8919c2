# SPDX-License-Identifier: Apache-2.0
"""The double's API: a request comes in, an answer goes out.

It can take the place of ``placement_replay.Replay``: ``start``, ``database``,
``contents``, ``ask``, ``session`` and ``call`` are the same.
"""

import typing

import placement_replay
import requests

from compute_agent.testing.fixtures import in_process

from . import routes
from .contents import Claims, Contents, Refused, Unlike

Body = typing.Any
Answer = placement_replay.Answer
NEWEST = in_process.MICROVERSION
# The agent's reshape, which sends no consumer types.
RESHAPE = '1.37'


class Double:
    """A placement in plain Python.

    :ivar asked: how many requests it got
    """

    url = in_process.URL

    def __init__(self) -> None:
        self._now = Contents()
        self._read: dict[str, Answer] = {}  # of the present contents
        self.asked = 0
        self.session = in_process.session(self.ask)

    def start(self, database: Contents | None) -> None:
        """Begin with this copy, or empty."""
        self._now = Contents() if database is None else database.copy()
        self._read.clear()

    def database(self) -> Contents:
        """Return a copy of what it holds."""
        return self._now.copy()

    def contents(self) -> dict[str, Claims]:
        """Return all providers by uuid; nobody may change them."""
        return dict(self._now.providers)

    def ask(self, sent: requests.PreparedRequest) -> requests.Response:
        """Return the answer to a request of the HTTP library."""
        request = in_process.read(sent)
        answer = self.answer(
            request.method, request.path, request.body, request.microversion
        )
        content = b'' if answer.body is None else routes.encoded(answer.body)
        return in_process.response(sent, answer.status, content)

    def call(
        self,
        method: str,
        path: str,
        body: Body = None,
        microversion: str = NEWEST,
    ) -> Answer:
        """Return the answer to a request of an operator."""
        return self.answer(method, path, body, microversion)

    def answer(
        self, method: str, path: str, body: Body, microversion: str | None
    ) -> Answer:
        """Return the answer; its body may not be changed."""
        self.asked += 1
        if microversion != (RESHAPE if path == '/reshaper' else NEWEST):
            raise Unlike(f'{method} {path} at {microversion}')
        if method == 'GET':
            if path not in self._read:
                self._read[path] = self._answer(method, path, body)
            return self._read[path]
        return self._answer(method, path, body)

    def _answer(self, method: str, path: str, body: Body) -> Answer:
        draft = self._now.copy()
        try:
            answer = routes.route(draft, method, path, body)
        except Refused as exc:
            if exc.keeps:
                self._adopt(draft)
            return routes.refusal(exc)
        if method != 'GET':
            self._adopt(draft)
        return answer

    def _adopt(self, draft: Contents) -> None:
        self._now = draft
        self._read.clear()
