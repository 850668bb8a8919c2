# SPDX-License-Identifier: Apache-2.0
"""The operator's clients of placement and Ironic, with keystone's tokens.

A server that has just come back may answer with an error first, so placement
is asked again until it has answered.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import requests
import secure_cloud

from demo import ironic_operator

PATIENCE = 300.0  # seconds in which a server must answer
AGE = 30.0  # seconds after which a token is replaced
_VERSION = {'OpenStack-API-Version': 'placement 1.39'}


class Tokens:
    """The tokens of one user, each replaced long before it expires."""

    def __init__(self, cloud: secure_cloud.SecureCloud, user: str) -> None:
        self._cloud = cloud
        self._user = user
        self._token, self._taken = '', 0.0

    def token(self) -> str:
        """Return a token that is valid."""
        if not self._token or time.monotonic() - self._taken > AGE:
            self._taken = time.monotonic()
            self._token = self._cloud.token(
                self._user, secure_cloud.PASSWORD, 'service'
            )
        return self._token

    def forget(self) -> None:
        """Take a new token for the next request."""
        self._token = ''


class IronicOperator(ironic_operator.IronicOperator):
    """An operator of an Ironic that asks keystone."""

    patience = PATIENCE

    def __init__(self, url: str, tokens: Tokens) -> None:
        super().__init__(url)
        self._tokens = tokens

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request with a token that is valid."""
        self._session.headers['X-Auth-Token'] = self._tokens.token()
        return super().request(method, path, body)


class PlacementOperator:
    """An operator of a placement that asks keystone."""

    def __init__(self, url: str, tokens: Tokens) -> None:
        self._url = url
        self._tokens = tokens

    def request(
        self, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Return the first answer that is no error of the server."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(requests.RequestException):
                answer = requests.request(
                    method,
                    f'{self._url}{path}',
                    json=body,
                    headers={
                        **_VERSION,
                        'X-Auth-Token': self._tokens.token(),
                    },
                    timeout=PATIENCE,
                )
                if answer.status_code < 500 and answer.status_code != 401:
                    return answer
            self._tokens.forget()
            assert time.monotonic() < deadline, f'no answer to {path}'
            time.sleep(0.1)

    def providers(self) -> Mapping[str, Mapping[str, Any]]:
        """Return all providers, with name, traits and inventories."""
        rows = self.request('GET', '/resource_providers').json()
        found = {}
        for row in rows['resource_providers']:
            where = f'/resource_providers/{row["uuid"]}'
            traits = self.request('GET', f'{where}/traits')
            inventories = self.request('GET', f'{where}/inventories')
            if traits.status_code != 200 or inventories.status_code != 200:
                continue  # deleted meanwhile
            found[row['uuid']] = {
                'name': row['name'],
                'traits': traits.json()['traits'],
                'inventories': inventories.json()['inventories'],
            }
        return found

    def set_traits(
        self, uuid: str, change: Callable[[set[str]], set[str]]
    ) -> None:
        """Change a provider's traits, however often another writer is first.

        A provider that the agent does not have there yet is left alone.
        """
        where = f'/resource_providers/{uuid}/traits'
        while (answer := self.request('GET', where)).status_code == 200:
            held = answer.json()
            body = {
                'resource_provider_generation': held[
                    'resource_provider_generation'
                ],
                'traits': sorted(change(set(held['traits']))),
            }
            if self.request('PUT', where, body).status_code == 200:
                return
