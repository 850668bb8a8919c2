# SPDX-License-Identifier: Apache-2.0
"""The control socket among slow, wrong and hostile clients."""

import asyncio
import contextlib
import json
import logging
import os
import select
import socket
import threading

import pytest

from compute_agent import errors
from compute_agent.cmd.control import address, client, protocol, server

PATIENCE = 60  # seconds; only a hang takes as long
STATUS = protocol.Request(command=protocol.Command.STATUS)
CYCLE = protocol.Request(command=protocol.Command.CYCLE)


class Daemon:
    """Answers requests; a cycle ends when the test says so.

    :ivar asked: each request, with the process that sent it
    :ivar left: set when a client that waited for a cycle has left
    """

    def __init__(self):
        self.asked = []
        self.left = threading.Event()
        self.size = 1

    async def answers(self, request, peer):
        self.asked.append((request, peer))
        if request.command is protocol.Command.HELD:
            raise errors.ConfigError('no node cn9 is among them')
        if request.command is protocol.Command.APPROVE:
            raise RuntimeError('a mistake in the program')
        if request.command is protocol.Command.CYCLE:
            yield protocol.Answer(kind=protocol.Kind.REQUESTED, data={})
            try:
                await asyncio.Event().wait()
            finally:
                self.left.set()
        yield protocol.Answer(
            kind=protocol.Kind.STATUS, data={'text': 'x' * self.size}
        )


@pytest.fixture
def daemon():
    return Daemon()


@pytest.fixture(params=['', 'x' * 120], ids=['short path', 'long path'])
def tmp_path(tmp_path, request):
    """The directory of the socket; the kernel takes no long path."""
    folder = tmp_path / request.param
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def serve(tmp_path, daemon):
    """Serve the socket of ``tmp_path``; close it after the test."""
    with contextlib.ExitStack() as stack:

        def serve(**kwargs):
            one = server.Server(
                address.listening(tmp_path), daemon.answers, **kwargs
            )
            one.start()
            stack.callback(one.close)
            return one

        yield serve


def status(folder):
    return client.only(folder, STATUS).data['text']


def connect(folder):
    opened = address.connected(folder, PATIENCE)
    opened.settimeout(PATIENCE)
    return opened


def said(connection):
    """Return all that is said until the connection ends, as answers."""
    with connection.makefile('rb') as lines:
        return [protocol.answer(line) for line in lines]


def test_a_request_is_answered_and_the_kernel_tells_who_asks(
    tmp_path, serve, daemon
):
    serve()
    assert status(tmp_path) == 'x'
    ((request, peer),) = daemon.asked
    assert request == STATUS
    assert (peer.pid, peer.uid) == (os.getpid(), os.geteuid())


def test_another_user_is_refused_and_named_once(
    tmp_path, serve, daemon, caplog
):
    serve(trusted={os.geteuid() + 1})
    for _ in range(3):
        with pytest.raises(errors.Refused, match='only root and the user of'):
            status(tmp_path)
    assert daemon.asked == []
    (line,) = [r.getMessage() for r in caplog.records if r.levelno > 20]
    assert line.startswith('the control socket refuses user ')


@pytest.mark.parametrize(
    ('sent', 'why'),
    [
        (b'GET / HTTP/1.1\r\n\r\n', 'this is not a line of JSON'),
        (b'\xff\x00\n', 'this is not a line of JSON'),
        (b'{"version": 7, "command": "status"}\n', 'restart the daemon'),
        (b'x' * (protocol.MOST_ASKED + 9) + b'\n', 'has at most 1048576 byte'),
    ],
)
def test_a_wrong_request_is_answered_with_one_line(
    tmp_path, serve, daemon, sent, why
):
    serve()
    with connect(tmp_path) as wrong:
        with contextlib.suppress(ConnectionError):
            wrong.sendall(sent)
        (answer,) = said(wrong)
    assert answer.kind is protocol.Kind.ERROR
    assert why in answer.data['error']
    assert daemon.asked == []
    assert status(tmp_path) == 'x'


def test_an_error_of_the_agent_or_of_the_program_is_an_answer(
    tmp_path, serve, caplog
):
    serve()
    for command, why in (
        (protocol.Command.HELD, 'no node cn9 is among them'),
        (protocol.Command.APPROVE, 'a mistake in the program'),
    ):
        with pytest.raises(errors.Refused, match=why):
            client.only(tmp_path, protocol.Request(command=command))
    assert status(tmp_path) == 'x'
    assert caplog.text.count('Traceback') == 1  # of the program's only


def test_a_client_that_says_nothing_delays_nobody_and_is_dropped(
    tmp_path, serve, monkeypatch
):
    serve()
    with connect(tmp_path) as silent:
        silent.sendall(b'{"version"')
        assert status(tmp_path) == 'x'
    monkeypatch.setattr(server, 'ASKING', 0.01)
    with connect(tmp_path) as silent:
        silent.sendall(b'{"version"')
        assert said(silent) == []


def test_a_client_that_takes_no_answer_delays_nobody_and_is_dropped(
    tmp_path, serve, daemon, monkeypatch
):
    serve()
    daemon.size = 1 << 23  # more than the kernel keeps
    with connect(tmp_path) as slow:
        slow.sendall(protocol.request_line(STATUS))
        slow.recv(1)
        daemon.size = 1
        assert status(tmp_path) == 'x'
    monkeypatch.setattr(server, 'TAKING', 0.01)
    daemon.size = 1 << 23
    with connect(tmp_path) as slow:
        slow.sendall(protocol.request_line(STATUS))
        part = slow.recv(1)
        while len(daemon.asked) < 3:
            threading.Event().wait(0.01)
        wait_until_dropped(slow)
    assert part == b'{'


def wait_until_dropped(connection):
    """Return when the other end is closed, without taking what is there."""
    poll = select.poll()
    poll.register(connection, select.POLLHUP)
    assert poll.poll(PATIENCE * 1000)


def test_a_client_that_leaves_is_not_waited_for(tmp_path, serve, daemon):
    serve()
    with connect(tmp_path) as leaving:
        leaving.sendall(protocol.request_line(CYCLE))
        assert protocol.answer(leaving.recv(1000)).kind.value == 'requested'
    assert daemon.left.wait(PATIENCE)


def test_a_client_that_goes_on_talking_is_dropped(tmp_path, serve, daemon):
    serve()
    with connect(tmp_path) as talking:
        talking.sendall(protocol.request_line(CYCLE))
        talking.sendall(b'x' * 100_000)
        assert daemon.left.wait(PATIENCE)
        wait_until_dropped(talking)


def test_too_many_clients_are_told_so_and_the_others_are_served(
    tmp_path, serve, monkeypatch
):
    monkeypatch.setattr(server, 'MOST', 2)
    serve()
    with connect(tmp_path) as first, connect(tmp_path) as second:
        for each in (first, second):
            each.sendall(protocol.request_line(CYCLE))
            assert b'requested' in each.recv(1000)
        with pytest.raises(errors.Refused, match='2 commands ask this daemon'):
            status(tmp_path)
        first.close()
        # The place is free once the server has seen it.
        for _ in range(1000):
            with contextlib.suppress(errors.Refused):
                assert status(tmp_path) == 'x'
                break
            threading.Event().wait(0.01)
        else:
            pytest.fail('the place was not freed')


def test_the_stop_waits_for_nobody_and_is_told_to_those_who_wait(
    tmp_path, serve, daemon, monkeypatch
):
    monkeypatch.setattr(server, 'STOPPING', PATIENCE)
    serving = serve()
    with connect(tmp_path) as silent, connect(tmp_path) as waiting:
        waiting.sendall(protocol.request_line(CYCLE))
        assert b'requested' in waiting.recv(1000)
        serving.close()
        (answer,) = said(waiting)
        assert 'the daemon stops' in answer.data['error']
        assert [a.kind for a in said(silent)] == [protocol.Kind.ERROR]
    assert not serving.is_alive()
    with pytest.raises(client.NoDaemon):
        status(tmp_path)


def test_a_server_may_be_closed_before_and_after_it_ran(tmp_path, serve):
    serving = serve()
    serving.close()
    serving.close()


def test_a_server_that_breaks_is_one_line(tmp_path, serve, caplog):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)  # no stream
    broken = server.Server(listener, None)
    broken.run()
    (line,) = [r.getMessage() for r in caplog.records]
    assert 'the control socket is closed, because of an unexpected' in line
    assert listener.fileno() == -1


@pytest.mark.parametrize(
    ('answer', 'why'),
    [
        (b'', 'the daemon ended, or was killed, before it answered'),
        (b'{"version": 2, "kind": "requ', 'the daemon ended, or was killed'),
        (b'nonsense\n', 'this is not a line of JSON'),
        (
            json.dumps({'version': 1, 'kind': 'status', 'data': {}}).encode()
            + b'\n',
            'restart the daemon after an upgrade',
        ),
    ],
)
def test_a_command_says_what_a_wrong_daemon_did(tmp_path, answer, why):
    with address.listening(tmp_path) as listener:

        def give():
            with listener.accept()[0] as asked:
                asked.recv(1000)
                asked.sendall(answer)

        wrong = threading.Thread(target=give)
        wrong.start()
        with pytest.raises(errors.AgentError, match=why):
            client.only(tmp_path, STATUS)
        wrong.join()


def test_a_command_gives_up_a_daemon_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(client, 'PATIENCE', 0.01)
    with (
        address.listening(tmp_path),
        pytest.raises(errors.Unavailable, match='the daemon has not answered'),
    ):
        client.only(tmp_path, STATUS)


def test_the_log_of_the_server_is_quiet(tmp_path, serve, caplog):
    caplog.set_level(logging.INFO)
    serve()
    with connect(tmp_path) as rude:
        rude.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0'
        )
    assert status(tmp_path) == 'x'
    assert caplog.records == []
