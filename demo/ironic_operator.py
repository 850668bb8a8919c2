# SPDX-License-Identifier: Apache-2.0
"""An operator of an Ironic: creates, provides and powers nodes by its API.

Ironic does most work after it has answered, so each call waits until the work
is done. The demo and the tests use it; the agent has a client of its own.
"""

import json
import time
import typing
from collections.abc import Iterable
from urllib import parse

import requests

from compute_agent import errors

_TIMEOUT = 60.0  # seconds for an answer
_VERSION = {'X-OpenStack-Ironic-API-Version': 'latest'}

Node: typing.TypeAlias = dict[str, typing.Any]


class IronicOperator:
    """An operator who may send every request to one Ironic.

    :cvar patience: seconds in which a node must reach a state
    """

    patience = 30.0

    def __init__(self, url: str, auth: tuple[str, str] | None = None) -> None:
        """Prepare a session; it sends no request yet.

        :param auth: name and password, if the server has an htpasswd file
        """
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.auth = auth
        self._session.headers.update(_VERSION)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def request(
        self, method: str, path: str, body: typing.Any = None
    ) -> typing.Any:
        """Return the decoded answer of Ironic.

        :param path: below ``/v1``
        :raises errors.Refused: Ironic refused; the error has its message
        :raises errors.Unavailable: there was no answer
        """
        try:
            answer = self._session.request(
                method,
                f'{self._url}/v1{path}',
                json=body,
                timeout=_TIMEOUT,
            )
        except requests.RequestException as exc:
            raise errors.Unavailable(
                f'no answer from Ironic at {self._url}: {exc}'
            ) from exc
        if not answer.ok:
            raise errors.Refused(
                f'Ironic refused {method} {path} with {answer.status_code}: '
                f'{_fault(answer)}'
            )
        return answer.json() if answer.content else None

    def nodes(self) -> list[Node]:
        """Return every node, with all of its fields."""
        found: list[Node] = []
        path = '/nodes?detail=true'
        while True:
            page = self.request('GET', path)
            found += page['nodes']
            if not page['nodes'] or 'next' not in page:
                return found
            path = f'/nodes?detail=true&marker={found[-1]["uuid"]}'

    def node(self, ident: str) -> Node:
        """Return a node, by uuid or name."""
        node: Node = self.request('GET', _path(ident))
        return node

    def create(self, **fields: typing.Any) -> Node:
        """Create a node of fake hardware, in the state enroll."""
        body = {'driver': 'fake-hardware', **fields}
        node: Node = self.request('POST', '/nodes', body)
        return node

    def delete(self, ident: str) -> None:
        """Delete a node."""
        self.request('DELETE', _path(ident))

    def patch(self, ident: str, **fields: typing.Any) -> Node:
        """Set fields of a node; None clears a field."""
        body = [
            {'op': 'add', 'path': f'/{name}', 'value': value}
            for name, value in fields.items()
        ]
        node: Node = self.request('PATCH', _path(ident), body)
        return node

    def set_traits(self, ident: str, traits: Iterable[str]) -> None:
        """Replace the traits of a node."""
        body = {'traits': sorted(traits)}
        self.request('PUT', f'{_path(ident)}/traits', body)

    def set_power(self, ident: str, state: str) -> Node:
        """Switch a node's power: ``power on`` or ``power off``."""
        body = {'target': state}
        self.request('PUT', f'{_path(ident)}/states/power', body)
        return self.wait(ident, power_state=state, target_power_state=None)

    def provision(self, ident: str, verb: str, state: str) -> Node:
        """Request a change of state, and wait for the new state."""
        body = {'target': verb}
        self.request('PUT', f'{_path(ident)}/states/provision', body)
        return self.wait(ident, provision_state=state)

    def provide(self, ident: str) -> Node:
        """Make a new node available, with its power off."""
        self.set_power(ident, 'power off')
        self.provision(ident, 'manage', 'manageable')
        return self.provision(ident, 'provide', 'available')

    def wait(self, ident: str, **wanted: typing.Any) -> Node:
        """Return a node when its fields have these values and it is unlocked.

        :raises errors.Refused: the node does not get there in time
        """
        deadline = time.monotonic() + self.patience
        wanted['reservation'] = None
        while True:
            node = self.node(ident)
            if wanted.items() <= node.items():
                return node
            if time.monotonic() > deadline:
                now = {name: node.get(name) for name in wanted}
                raise errors.Refused(
                    f'node {ident} is {now}, not {wanted}; the last error of '
                    f'Ironic: {node["last_error"]}'
                )
            time.sleep(0.02)


def _path(ident: str) -> str:
    return f'/nodes/{parse.quote(ident, safe="")}'


def _fault(answer: requests.Response) -> str:
    """Return Ironic's message; it is JSON text inside JSON."""
    try:
        fault = answer.json()['error_message']
        if isinstance(fault, str):
            fault = json.loads(fault)
        return str(fault['faultstring'])
    except (LookupError, TypeError, ValueError):
        return ' '.join(answer.text.split()) or 'nothing'
