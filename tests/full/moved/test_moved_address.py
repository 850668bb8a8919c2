# SPDX-License-Identifier: Apache-2.0
"""The name of placement leads to another host, and the old one is silent.

Both hosts are networks of their own. When the cable of the old one is pulled,
its connections stand for ever, and what is sent there vanishes: the same as
after a virtual address moved.
"""

import contextlib
import os
import pathlib
import subprocess
import sys

import pytest
from databases import namespace, wait_for

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not namespace.can_be_made(), reason='only root makes a network'
    ),
]
HERE = pathlib.Path(__file__).parent
SUPPORT = HERE.parents[1] / 'support'
PORT = '8778'
TIMEOUT = '5'  # seconds, of [placement]
NAME = 'placement.test'
# The file with the names is the agent's own.
OWN_NAMES = (
    *('unshare', '--mount', '--propagation', 'private', 'sh', '-c'),
    'mount --bind "$0" /etc/hosts && exec "$@"',
)


class Host:
    """A machine in a network of its own, which answers /traits with {}."""

    def __init__(self, net, folder, stack):
        (folder / 'traits').write_text('{}')
        self.net = net
        self.log = folder / 'log'
        words = ('-m', 'http.server', '--protocol', 'HTTP/1.1')
        with self.log.open('w') as log:
            server = subprocess.Popen(
                net.command(
                    *(sys.executable, '-u', *words, PORT),
                    *('--directory', str(folder)),
                ),
                stdout=log,
                stderr=log,
            )
        stack.callback(server.wait)
        stack.callback(server.kill)
        wait_for(lambda: 'Serving' in self.log.read_text(), 'a server serves')

    @property
    def asked(self):
        return self.log.read_text().count('GET /traits')


@pytest.fixture
def stack():
    with contextlib.ExitStack() as made:
        yield made


@pytest.fixture
def hosts(stack, tmp_path):
    """The old and the new host of placement."""
    made = []
    for name in ('old', 'new'):
        folder = tmp_path / name
        folder.mkdir()
        net = stack.enter_context(namespace.made())
        made.append(Host(net, folder, stack))
    return made


@pytest.fixture
def names(tmp_path, hosts):
    """Return the function that leads placement's name to a host."""
    file = tmp_path / 'hosts'

    def lead(host):
        file.write_text(f'127.0.0.1 localhost\n{host.net.inside} {NAME}\n')

    lead(hosts[0])
    lead.file = file
    return lead


@pytest.fixture
def ask(names, stack):
    """Return the function that has the agent send requests at once."""
    url = f'http://{NAME}:{PORT}'
    agent = stack.enter_context(
        subprocess.Popen(
            [
                *OWN_NAMES,
                str(names.file),
                *(sys.executable, str(HERE / 'asking_agent.py')),
                *(url, TIMEOUT),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, 'PYTHONPATH': str(SUPPORT), 'no_proxy': '*'},
        )
    )
    stack.callback(agent.kill)

    def ask(number):
        agent.stdin.write(f'{number}\n')
        agent.stdin.flush()
        return agent.stdout.readline().strip()

    return ask


def test_one_silent_request_leads_all_to_the_new_host(hosts, names, ask):
    old, new = hosts
    assert ask(4) == 'answered'
    assert old.asked == 4
    names(new)
    old.net.cut()
    assert ask(1).startswith('Unreachable: ')
    assert ask(4) == 'answered'
    assert new.asked == 4
    old.net.mend()
