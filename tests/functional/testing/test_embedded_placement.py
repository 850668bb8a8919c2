# SPDX-License-Identifier: Apache-2.0
"""The embedded placement is the real one, behind a real port."""

import concurrent.futures
import contextlib
import logging
import pathlib
import socket
import sqlite3
import subprocess
import sys
import threading

import os_traits
import pytest
import requests
import waitress.task

from compute_agent import errors
from compute_agent.dev import embedded_placement, wsgi_thread
from compute_agent.testing.fixtures import application

ROOT = pathlib.Path(embedded_placement.__file__).parents[2]
PATIENCE = 60  # seconds; only a hang takes as long
HEADERS = {
    'X-Auth-Token': 'admin',
    'OpenStack-API-Version': 'placement 1.39',
}


@pytest.fixture
def client():
    with requests.Session() as session:
        session.headers.update(HEADERS)
        session.trust_env = False
        yield session


@pytest.fixture
def make(placement_slot, patient_stops, tmp_path):
    """Make an embedded placement on a free port; stopped at the end."""
    with contextlib.ExitStack() as undo:

        def make(**how):
            how = {'database': tmp_path / 'placement.sqlite', 'port': 0} | how
            server = embedded_placement.EmbeddedPlacement(**how)
            undo.callback(server.stop)
            return server

        yield make


@pytest.fixture(scope='module')
def empty(tmp_path_factory):
    """The file of a placement without providers, with all its tables."""
    application.free()
    path = tmp_path_factory.mktemp('empty') / 'placement.sqlite'
    with embedded_placement.EmbeddedPlacement(path, port=0):
        pass
    return path.read_bytes()


@pytest.fixture
def started(empty, make, tmp_path):
    """An embedded placement that runs."""
    (tmp_path / 'placement.sqlite').write_bytes(empty)
    server = make()
    server.start()
    return server


def _names(client, server):
    answer = client.get(f'{server.url}/resource_providers').json()
    return [p['name'] for p in answer['resource_providers']]


def test_it_serves_placements_version_document(started, client):
    (version,) = client.get(started.url).json()['versions']
    assert version['id'] == 'v1.0'
    assert version['min_version'] == '1.0'
    assert tuple(map(int, version['max_version'].split('.'))) >= (1, 39)


def test_it_knows_the_standard_traits(started, client):
    answer = client.get(f'{started.url}/traits').json()
    assert sorted(answer['traits']) == sorted(os_traits.get_traits())
    assert len(answer['traits']) >= 377


def test_a_caller_without_a_token_is_refused(started):
    answer = requests.get(f'{started.url}/traits', timeout=PATIENCE)
    assert answer.status_code == 401


def test_the_admin_token_may_reshape(started, client):
    empty = {'inventories': {}, 'allocations': {}}
    answer = client.post(f'{started.url}/reshaper', json=empty)
    # The body is refused; without the role it would be 403.
    assert answer.status_code == 400


def test_what_was_written_is_there_after_a_restart(make, client):
    server = make()
    with server:
        client.post(
            f'{server.url}/resource_providers', json={'name': 'one'}
        ).raise_for_status()
    with server:
        assert _names(client, server) == ['one']
        assert len(client.get(f'{server.url}/traits').json()['traits']) >= 377


def test_what_was_answered_survives_a_kill(make, client, tmp_path):
    program = f"""
import pathlib, signal
from compute_agent.dev import embedded_placement
path = pathlib.Path({str(tmp_path / 'placement.sqlite')!r})
with embedded_placement.EmbeddedPlacement(path, port=0) as server:
    print(server.url, flush=True)
    signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, '-c', program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        url = process.stdout.readline().strip()
        client.post(
            f'{url}/resource_providers', json={'name': 'one'}
        ).raise_for_status()
        process.kill()
    with make() as server:
        assert _names(client, server) == ['one']


def test_ten_clients_write_at_once_and_none_gets_a_500(started, caplog):
    def write(number):
        statuses = []
        with requests.Session() as session:
            session.headers.update(HEADERS)
            session.trust_env = False
            for turn in range(8):
                answer = session.post(
                    f'{started.url}/resource_providers',
                    json={'name': f'{number}-{turn}'},
                )
                statuses.append(answer.status_code)
                uuid = answer.json()['uuid']
                answer = session.put(
                    f'{started.url}/resource_providers/{uuid}/traits',
                    json={
                        'traits': ['COMPUTE_NODE'],
                        'resource_provider_generation': 0,
                    },
                )
                statuses.append(answer.status_code)
        return statuses

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        answers = [s for each in pool.map(write, range(10)) for s in each]
    assert answers == [200] * 160
    noise = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert noise == []


@pytest.mark.parametrize('name', ['a b', 'why?', '50%', '#1', '$HOME', 'ü'])
def test_the_file_may_have_any_name(make, tmp_path, name):
    with make(database=tmp_path / name):
        pass
    assert {p.name for p in tmp_path.iterdir()} == {
        f'{name}{end}' for end in ('', '.lock', '.secret')
    }
    assert (tmp_path / name).stat().st_size


def test_stop_ends_the_connections_of_its_clients(make, client):
    server = make()
    server.start()
    client.get(server.url)
    server.stop()
    with pytest.raises(requests.ConnectionError):
        client.get(server.url)


def test_stop_waits_less_than_a_second_for_a_request_at_work(monkeypatch):
    """The application hangs; each wait of the stop is counted as it is."""
    at_work, released, waits = threading.Event(), threading.Event(), []

    def application(_environ, start_response):
        at_work.set()
        released.wait(PATIENCE)
        start_response('204 No Content', [])
        return []

    def counted(owner, name):
        wait = getattr(owner, name)

        def count(self, timeout):
            waits.append(timeout)
            return wait(self, timeout=timeout)

        monkeypatch.setattr(owner, name, count)

    listener = socket.create_server(('127.0.0.1', 0))
    server = wsgi_thread.WsgiThread(application, listener)
    with socket.create_connection(
        listener.getsockname(), PATIENCE
    ) as connection:
        connection.sendall(b'GET / HTTP/1.1\r\nHost: test\r\n\r\n')
        assert at_work.wait(PATIENCE)
        counted(threading.Thread, 'join')
        counted(waitress.task.ThreadedTaskDispatcher, 'shutdown')
        server.stop()
        assert not released.is_set()
        assert len(waits) == 2
        assert sum(waits) < 1
        assert connection.recv(1) == b''
        released.set()


def test_the_same_port_can_be_taken_again_at_once(make, client):
    first = make()
    with first:
        client.get(first.url)
        port = int(first.url.rpartition(':')[2])
    second = make(port=port)
    with second:
        assert client.get(second.url).status_code == 200


def test_a_port_in_use_is_named_and_nothing_is_made(make, tmp_path):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(errors.ConfigError) as caught:
            make(port=port).start()
    assert str(caught.value) == (
        f'placement cannot listen at 127.0.0.1 port {port}: the port is in '
        'use; stop the process that uses it, or set another port in '
        '[placement] embedded_port'
    )
    assert not list(tmp_path.iterdir())


def test_a_process_runs_one_only(started, make, tmp_path):
    with pytest.raises(errors.ConfigError, match='already runs'):
        make(database=tmp_path / 'second.sqlite').start()


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (b'GIF89a' * 200, 'is damaged'),
        (b'SQLite format 3\0' + b'\0' * 500, 'is damaged'),
    ],
)
def test_a_corrupt_file_is_named_and_a_later_start_works(
    make, tmp_path, content, message
):
    path = tmp_path / 'placement.sqlite'
    path.write_bytes(content)
    server = make()
    with pytest.raises(errors.ConfigError, match=message):
        server.start()
    path.unlink()
    server.start()


def test_a_database_of_a_newer_placement_is_refused_in_one_line(
    make, tmp_path
):
    with make():
        pass
    path = tmp_path / 'placement.sqlite'
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'newer'")
    with pytest.raises(errors.ConfigError, match='move the file') as caught:
        make().start()
    assert '\n' not in str(caught.value)


def test_a_database_with_a_missing_table_is_refused_in_one_line(
    make, tmp_path
):
    with make():
        pass
    path = tmp_path / 'placement.sqlite'
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute('DROP TABLE traits')
    with pytest.raises(errors.ConfigError, match='move the file') as caught:
        make().start()
    assert '\n' not in str(caught.value)


def test_the_database_and_its_side_files_are_private(make, tmp_path):
    with make():
        modes = {p.stat().st_mode & 0o777 for p in tmp_path.iterdir()}
    assert modes == {0o600}
