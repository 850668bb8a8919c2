# SPDX-License-Identifier: Apache-2.0
"""Placement's answers to the doctor, with the headers that the agent ignores."""

import dataclasses
import re
import time
from collections.abc import Sequence

from oslo_config import cfg

from report_client import errors
from report_client.http import no_answer, placement
from report_client.http.messages import codec

from ... import errors as agent_errors
from ..wiring import placement as wiring

_VERSION = re.compile(r'([0-9]{1,4})\.([0-9]{1,4})')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """The answer to a request for placement's versions.

    :ivar newest: the newest microversion; None if it is not said
    :ivar date: the ``Date`` header
    :ivar received: this host's time then, in seconds since the epoch
    """

    newest: codec.Version | None
    date: str
    received: float


class Reached:
    """The connection to placement as the agent makes it.

    :ivar api: placement's API
    :raises errors.ConfigError: an option of ``[placement]`` is wrong
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._adapter = wiring.connection(conf)
        self._access = wiring.access(conf, self._adapter)
        self.api = placement.Placement(self._adapter, self._access)

    def root(self) -> Root:
        """Ask for the versions of the API; it takes a token to find it.

        :raises agent_errors.Unavailable: there is no answer, or no token
        """
        try:
            answer = self._adapter.get('/', raise_exc=False)
            status, date = answer.status_code, answer.headers.get('Date', '')
            received, body = time.time(), answer.content
        except agent_errors.AgentError:
            raise
        except Exception as exc:
            raise no_answer.error_for(exc, self._access) from exc
        if status >= 300:
            raise errors.Unreachable(
                f'there is no placement at {self.api.where} (HTTP {status}): '
                f'{self._access.hint}'
            )
        return Root(
            newest=_newest(body.decode(errors='replace')),
            date=date,
            received=received,
        )

    def roles(self) -> Sequence[str]:
        """Return the roles of the token; empty if they are unknown."""
        return self._access.roles()


def _newest(body: str) -> codec.Version | None:
    """Return the newest version in the list, None if there is none."""
    found = re.search(rf'"max_version": *"{_VERSION.pattern}"', body)
    return (int(found[1]), int(found[2])) if found else None
