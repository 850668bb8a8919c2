# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal of 80 columns: none is wider, and no uuid is broken."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import tty

import command_line
import pytest

pytestmark = pytest.mark.long

NODE = '11111111-1111-4111-8111-111111111111'
USER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
PROJECT = 'dddddddddddddddddddddddddddddddd'
WIDTH = 80
LISTS = (
    ('resource', 'provider', 'list'),
    ('resource', 'provider', 'inventory', 'list', 'cn1'),
    ('resource', 'provider', 'allocation', 'show', USER),
    ('allocation', 'candidate', 'list', '--resource', 'VCPU=1'),
    ('allocation', 'candidate', 'list', '--resource', 'VCPU=1', '--long'),
    ('allocation', 'candidate', 'why-not', 'cn1', '--resource', 'VCPU=999'),
    ('history',),
    ('state', 'show'),
)
UUID = re.compile(
    r'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}'
)
# Any run of hexadecimal digits and dashes that is a part of a uuid only.
PIECE = re.compile(r'\b[0-9a-f]{8}-[0-9a-f-]*')


@pytest.fixture
def known(cli):
    """A node with a guest, and a provider with a long name."""
    assert cli.run('sync').code == 0
    cli.others.create(PROJECT_UUID, 'a-provider-with-a-long-name.example.com')
    cli.others.allocate(NODE, USER, {'VCPU': 1, 'MEMORY_MB': 64})
    return cli


PROJECT_UUID = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd'


def on_a_terminal(cli, words):
    """Return what a command prints on a terminal of 80 columns."""
    reading, writing = command_line.pseudo_terminal()
    tty.setraw(writing)
    size = struct.pack('HHHH', 24, WIDTH, 0, 0)
    fcntl.ioctl(writing, termios.TIOCSWINSZ, size)
    program = (
        *(sys.executable, '-m', 'compute_agent.cmd.app.main'),
        *('--config-file', str(cli.config)),
    )
    with subprocess.Popen(
        [*program, *words], stdout=writing, stderr=subprocess.PIPE
    ) as running:
        os.close(writing)
        shown = b''
        with os.fdopen(reading, 'rb', buffering=0) as terminal:
            while part := _read(terminal):
                shown += part
        told = running.stderr.read().decode()
    assert running.returncode == 0, told
    return shown.decode()


def _read(terminal):
    try:
        return terminal.read(65536)
    except OSError:  # the other end is closed
        return b''


@pytest.mark.parametrize('words', LISTS, ids=' '.join)
def test_a_table_fits_the_terminal_and_breaks_no_uuid(known, words):
    shown = on_a_terminal(known, words)
    assert '|' in shown
    assert max(map(len, shown.splitlines())) <= WIDTH
    for piece in PIECE.findall(shown):
        assert UUID.fullmatch(piece), shown


@pytest.mark.parametrize(
    ('words', 'column'),
    [(('history',), '| Changes '), (('state', 'show'), '| Name ')],
)
def test_the_columns_that_a_person_reads_stay(known, words, column):
    assert column in on_a_terminal(known, words)


def test_the_columns_that_were_left_out_are_named(known):
    shown = on_a_terminal(known, ('resource', 'provider', 'list'))
    assert 'generation' in shown
    assert 'parent_provider_uuid' not in shown
    words = ('resource', 'provider', 'list', '-c', 'parent_provider_uuid')
    assert 'parent_provider_uuid' in on_a_terminal(known, words)
