# SPDX-License-Identifier: Apache-2.0
"""Unit tests reach no network: a connect says so and fails the test."""

import socket
import typing

import pytest


@pytest.fixture(autouse=True)
def network_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connect but those to sockets of this machine's files."""

    def guarded(name: str) -> typing.Any:
        connect = getattr(socket.socket, name)

        def refuse(self: socket.socket, address: object) -> typing.Any:
            if self.family is socket.AF_UNIX:
                return connect(self, address)
            raise AssertionError(
                f'a unit test connects to {address}: use the placement '
                'fixture, or move the test to tests/functional'
            )

        return refuse

    for name in ('connect', 'connect_ex'):
        monkeypatch.setattr(socket.socket, name, guarded(name))
