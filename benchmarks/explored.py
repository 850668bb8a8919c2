# SPDX-License-Identifier: Apache-2.0
"""The pages of a large cloud, and the daemon's page with many readers.

``make bench-explore`` runs this. Placement is on PostgreSQL with two worker
processes, as in ``make bench``, and has 50,000 providers. The first page of
``compute-agent explore``, in a new process each time, takes turns with the bare
list of placement, which is only read. Then a daemon of a thousand nodes runs
cycles, with and without 200 readers of its page, in turns. It prints figures
and no verdict.
"""

import argparse
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Sequence

from . import measure
from .sync_cycles import contents, placement_server, postgresql

CROWD, NODES, READERS = 50_000, 1000, 200
REPEATS = 5
_EMPTY, _MADE = 'empty', 'made'
_CYCLES = 5  # of each turn
_PATIENCE = 120.0
_PROGRAM = (sys.executable, '-m', 'compute_agent.cmd.app.start')
# Reads a page again and again, in as many threads as it is told.
_READING = """
import http.client, sys, threading
host, count = sys.argv[1], int(sys.argv[2])
def read():
    while True:
        try:
            opened = http.client.HTTPConnection(host, timeout=60)
            opened.request('GET', '/')
            opened.getresponse().read()
            opened.close()
        except OSError:
            pass
for _ in range(count):
    threading.Thread(target=read, daemon=True).start()
print('reading', flush=True)
sys.stdin.read()
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One first page.

    :ivar again: seconds of the next page of the table
    :ivar memory: the peak of the process in MiB
    """

    run: measure.Run
    again: float
    memory: float


@contextlib.contextmanager
def running(
    folder: pathlib.Path, config: str, *words: str, until: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the program until the context ends; yield it, and what it said.

    :param until: what it says once it is ready
    """
    path = folder / 'agent.conf'
    path.write_text(config)
    command = [*_PROGRAM, '--config-file', str(path), *words]
    with subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    ) as process:
        said = ''
        try:
            for line in process.stdout or ():
                said += line
                if until in line:
                    break
            yield process, said
        finally:
            process.send_signal(signal.SIGTERM)


def configuration(folder: pathlib.Path, url: str, more: str = '') -> str:
    """Return the configuration of an agent whose driver is ``fake``."""
    return (
        '[DEFAULT]\ncompute_driver = fake\nhost = here\n'
        f'state_path = {folder}/state\nperiodic_fuzzy_delay = 0\n'
        'update_resources_interval = 3600\n'
        f'[fake]\nfile = {folder}/nodes.json\n'
        '[placement]\nauth_type = admin_token\ntoken = admin\n'
        f'endpoint = {url}\n[compute_agent]\n{more}\n'
    )


def asked(host: str, path: str, **headers: str) -> tuple[str, bytes]:
    """Return the cookie and the body of an answer."""
    opened = http.client.HTTPConnection(host, timeout=_PATIENCE)
    with contextlib.closing(opened):
        opened.request('GET', path, headers=headers)
        answer = opened.getresponse()
        body = answer.read()
        cookie = answer.getheader('Set-Cookie') or ''
        if answer.status not in {200, 303}:
            raise placement_server.Failed(f'{path}: HTTP {answer.status}')
        return cookie.partition(';')[0], body


def first_page(folder: pathlib.Path, url: str) -> Page:
    """Open the table of providers in a new process."""
    config = configuration(folder, url)
    with running(folder, config, 'explore', until='Ctrl-C') as (one, said):
        place = urllib.parse.urlsplit(re.findall(r'http://\S+', said)[0])
        cookie, _ = asked(place.netloc, f'/?{place.query}')
        began, cpu = time.perf_counter(), processor_time(one.pid)
        _, body = asked(place.netloc, '/providers', Cookie=cookie)
        wall = time.perf_counter() - began
        cpu = processor_time(one.pid) - cpu
        if f'{CROWD // 1000}&#8239;000' not in body.decode():
            raise placement_server.Failed('the page has not all providers')
        began = time.perf_counter()
        asked(place.netloc, '/providers?page=400', Cookie=cookie)
        again = time.perf_counter() - began
        return Page(
            run=measure.Run(wall=wall, cpu=cpu, requests=1),
            again=again,
            memory=peak(one.pid),
        )


def bare_list(server: placement_server.PlacementServer) -> measure.Run:
    """Read the list of all providers, and do nothing with it."""
    began = time.perf_counter()
    server.request('GET', '/resource_providers')
    wall = time.perf_counter() - began
    return measure.Run(wall=wall, cpu=0.0, requests=1)


def peak(pid: int) -> float:
    """Return the peak of a process's memory in MiB."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    (kib,) = re.findall(r'VmHWM:\s*(\d+) kB', status)
    return int(kib) / 1024


def processor_time(pid: int) -> float:
    """Return the seconds of processor time of a process."""
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


def pages(
    folder: pathlib.Path, server: placement_server.PlacementServer
) -> None:
    """Measure first pages beside bare lists, and print a table."""
    for _ in range(2):  # each worker answers once before
        bare_list(server)
    lists, found = [], []
    for _ in range(REPEATS):
        lists.append(bare_list(server))
        found.append(first_page(folder, server.url))
    table = measure.table(
        {
            f'first page of {CROWD} providers': measure.summary(
                [one.run for one in found]
            ),
            'the bare list of placement': measure.summary(lists),
        }
    )
    again = sorted(one.again for one in found)[REPEATS // 2]
    memory = max(one.memory for one in found)
    sys.stdout.write(
        f'{table}\nthe next page: {again:.3f} s; memory of the process: '
        f'{memory:.0f} MiB\n\n'
    )
    sys.stdout.flush()


# --- readers of the daemon's page ----------------------------------------------


def cycles(folder: pathlib.Path) -> list[measure.Run]:
    """Have the daemon run cycles; return how long each took."""
    program = [*_PROGRAM, '--config-file', str(folder / 'agent.conf')]
    found = []
    for _ in range(_CYCLES):
        for words in (['sync'], ['status', '-f', 'json']):
            done = subprocess.run(  # noqa: S603
                [*program, *words], capture_output=True, check=True
            )
        seconds = json.loads(done.stdout)['cycle']['seconds']
        found.append(measure.Run(wall=seconds, cpu=0.0, requests=0))
    return found


@contextlib.contextmanager
def readers(place: str) -> Iterator[None]:
    """Read the daemon's page in another process until the context ends."""
    words = [sys.executable, '-c', _READING, place, str(READERS)]
    with subprocess.Popen(  # noqa: S603
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if process.stdout is not None:
            process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def readers_of_a_daemon(folder: pathlib.Path, url: str) -> None:
    """Measure cycles with and without readers, and print a table."""
    nodes = [
        {'name': f'node{n:04}', 'inventories': {'VCPU': 8}, 'traits': []}
        for n in range(NODES)
    ]
    (folder / 'nodes.json').write_text(json.dumps({'nodes': nodes}))
    config = configuration(folder, url, 'metrics_bind = 127.0.0.1:0')
    with running(
        folder, config, 'run', '--show-tree', until='see it in a browser'
    ) as (_, said):
        place = re.findall(r'browser: http://([^/\s]+)', said)[0]
        alone: list[measure.Run] = []
        read: list[measure.Run] = []
        for _ in range(3):
            alone += cycles(folder)
            with readers(place):
                read += cycles(folder)
    table = measure.table(
        {
            f'a cycle of {NODES} nodes, {READERS} readers': measure.summary(
                read
            ),
            f'a cycle of {NODES} nodes, no reader': measure.summary(alone),
        }
    )
    sys.stdout.write(f'{table}\n')


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--only', choices=('pages', 'readers'))
    chosen = parser.parse_args(words)
    with (
        tempfile.TemporaryDirectory(prefix='compute-agent-bench-') as name,
        contextlib.ExitStack() as undo,
    ):
        folder = pathlib.Path(name)
        folder.chmod(0o711)  # PostgreSQL's user must pass through it
        port = placement_server.free_port()
        known = undo.enter_context(postgresql.started(folder, port))
        placement_server.prepare(known, _EMPTY, folder)
        (folder / 'nodes.json').write_text('{"nodes": []}')
        known.copy(_EMPTY, _MADE)
        if chosen.only != 'readers':
            contents.add_strangers(known, _MADE, CROWD)
            known.run(_MADE, 'analyze')
        port = placement_server.free_port()
        with placement_server.started(known, _MADE, folder, port) as server:
            if chosen.only != 'readers':
                pages(folder, server)
        if chosen.only != 'pages':
            known.copy(_EMPTY, _MADE)
            port = placement_server.free_port()
            with placement_server.started(known, _MADE, folder, port) as one:
                readers_of_a_daemon(folder, one.url)


if __name__ == '__main__':
    main()
