# SPDX-License-Identifier: Apache-2.0
"""The unit tests' own promise."""

import socket

import pytest


@pytest.mark.parametrize('call', ['connect', 'connect_ex'])
def test_a_connect_fails_the_test(call):
    with (
        socket.socket() as client,
        pytest.raises(AssertionError, match='tests/functional'),
    ):
        getattr(client, call)(('127.0.0.1', 9))


def test_sockets_of_this_machines_files_pass(tmp_path):
    path = str(tmp_path / 'socket')
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
