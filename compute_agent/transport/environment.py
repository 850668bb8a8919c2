# SPDX-License-Identifier: Apache-2.0
"""A session that reads the environment once for each server.

requests looks for proxies and certificates in the environment of the process
before each request, which takes a quarter of a small request's processor time.
The environment of the agent does not change while it runs.
"""

import urllib.parse
from collections.abc import Hashable
from typing import Any

import requests


class Session(requests.Session):
    """Remembers what the environment says about each server."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Hashable, dict[str, Any]] = {}

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        """Return the settings of a request, with those of the environment."""
        ask = super().merge_environment_settings
        if proxies:
            return ask(url, proxies, stream, verify, cert)
        server = urllib.parse.urlsplit(url)[:2]
        key = server, self.trust_env, stream, verify, cert
        if key not in self._known:
            self._known[key] = dict(ask(url, proxies, stream, verify, cert))
        found = self._known[key]
        return {**found, 'proxies': dict(found['proxies'])}
