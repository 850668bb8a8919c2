# SPDX-License-Identifier: Apache-2.0
"""Placement's answers to the doctor, with the headers that the agent ignores."""

import dataclasses
import json
import re
import time
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from report_client import errors
from report_client.http import no_answer, placement
from report_client.http.messages import codec

from ... import error_text
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
        text = body.decode(errors='replace')
        other = _other_service(text)
        if other:
            raise errors.Unreachable(
                f'{self.api.where} is {other}, not placement: correct '
                f'{self._access.account.option("endpoint_override")}, '
                "or placement's endpoint in keystone's catalog"
            )
        if status >= 300:
            raise errors.Unreachable(
                f'{self.api.where} is no placement (HTTP {status}): '
                f'{self._access.hint}'
            )
        return Root(
            newest=_newest(text),
            date=date,
            received=received,
        )

    def roles(self) -> Sequence[str]:
        """Return the roles of the token; empty if they are unknown."""
        return self._access.roles()

    def address(self) -> str:
        """Return placement's address; it is known once ``root`` answered."""
        return str(self._adapter.get_endpoint() or '')

    def regions(self) -> Sequence[str]:
        """Return the regions of the catalog, if the options choose none."""
        is_chosen = self._access.region or self._adapter.endpoint_override
        return () if is_chosen else self._access.regions()


def _newest(body: str) -> codec.Version | None:
    """Return the newest version in the list; None if the list is empty."""
    found = re.search(rf'"max_version": *"{_VERSION.pattern}"', body)
    return (int(found[1]), int(found[2])) if found else None


# The ids of the versions that each service lists at its root.
_BY_ID = {'v2.1': 'nova', 'v2.0': 'neutron or glance', 'v3.0': 'cinder'}


def _other_service(body: str) -> str:
    """Return the service whose list of versions this is; '' for placement.

    An answer that is no such list tells nothing.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ''
    if not isinstance(said, Mapping) or '"max_version"' in body:
        return ''
    name, listed = said.get('name'), said.get('versions')
    if isinstance(name, str):
        return error_text.excerpt(name)
    if isinstance(listed, Mapping):
        return 'keystone'
    ids = listed if isinstance(listed, list) else []
    for one in ids:
        if isinstance(one, Mapping) and str(one.get('id')) in _BY_ID:
            return _BY_ID[str(one['id'])]
    return ''
