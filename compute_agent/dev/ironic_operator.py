# SPDX-License-Identifier: Apache-2.0
"""An operator of an Ironic: nodes made, provided and powered by its plain API.

Ironic does most things after it has answered, so each call here waits until
it is done. The demo enrolls its nodes with it, and the tests work with it; the
agent has a client of its own.
"""

import json
import time
import typing
from collections.abc import Iterable
from urllib import parse

import requests

from .. import errors

PATIENCE = 30.0  # seconds until a node that does not get there has failed
_VERSION = {'X-OpenStack-Ironic-API-Version': 'latest'}

Node: typing.TypeAlias = dict[str, typing.Any]


class IronicOperator:
    """Somebody who may do everything at one Ironic."""

    def __init__(self, url: str, auth: tuple[str, str] | None = None) -> None:
        """Remember; nothing is asked yet.

        :param auth: name and password, where it has an htpasswd file
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
        """Return what Ironic answers, decoded.

        :param path: below ``/v1``
        :raises errors.Refused: with what it says against it
        :raises errors.Unavailable: there was no answer
        """
        try:
            answer = self._session.request(
                method, f'{self._url}/v1{path}', json=body, timeout=PATIENCE
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
        """Create a node of fake hardware; it begins in the state enroll."""
        body = {'driver': 'fake-hardware', **fields}
        node: Node = self.request('POST', '/nodes', body)
        return node

    def delete(self, ident: str) -> None:
        """Delete a node."""
        self.request('DELETE', _path(ident))

    def patch(self, ident: str, **fields: typing.Any) -> Node:
        """Set fields of a node; None takes a value off."""
        body = [
            {'op': 'add', 'path': f'/{name}', 'value': value}
            for name, value in fields.items()
        ]
        node: Node = self.request('PATCH', _path(ident), body)
        return node

    def set_traits(self, ident: str, traits: Iterable[str]) -> None:
        """Give a node these traits and no others."""
        body = {'traits': sorted(traits)}
        self.request('PUT', f'{_path(ident)}/traits', body)

    def set_power(self, ident: str, state: str) -> Node:
        """Switch a node: ``power on``, ``power off``."""
        body = {'target': state}
        self.request('PUT', f'{_path(ident)}/states/power', body)
        return self.wait(ident, power_state=state, target_power_state=None)

    def provision(self, ident: str, verb: str, state: str) -> Node:
        """Ask for a change of state, and wait for the state it leads to."""
        body = {'target': verb}
        self.request('PUT', f'{_path(ident)}/states/provision', body)
        return self.wait(ident, provision_state=state)

    def provide(self, ident: str) -> Node:
        """Take a new node to where it can be deployed: available, off."""
        self.set_power(ident, 'power off')
        self.provision(ident, 'manage', 'manageable')
        return self.provision(ident, 'provide', 'available')

    def wait(self, ident: str, **wanted: typing.Any) -> Node:
        """Return a node once it is as wanted and nothing is at work on it.

        :raises errors.Refused: it does not get there
        """
        deadline = time.monotonic() + PATIENCE
        wanted['reservation'] = None
        while True:
            node = self.node(ident)
            if wanted.items() <= node.items():
                return node
            if time.monotonic() > deadline:
                now = {name: node.get(name) for name in wanted}
                raise errors.Refused(
                    f'node {ident} was to be {wanted} and is {now}; Ironic '
                    f'says: {node["last_error"]}'
                )
            time.sleep(0.02)


def _path(ident: str) -> str:
    return f'/nodes/{parse.quote(ident, safe="")}'


def _fault(answer: requests.Response) -> str:
    """Return what Ironic says: text in JSON, which is in JSON."""
    try:
        fault = answer.json()['error_message']
        if isinstance(fault, str):
            fault = json.loads(fault)
        return str(fault['faultstring'])
    except (LookupError, TypeError, ValueError):
        return ' '.join(answer.text.split()) or 'nothing'
