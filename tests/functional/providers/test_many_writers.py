# SPDX-License-Identifier: Apache-2.0
"""Twenty processes change one provider's traits at once: nothing is lost.

Each is the program itself: it adds traits of its own, and removes one that was
there and one that it added. All of them read the provider before the first of
them writes, so all but one meet a conflict.
"""

import contextlib
import dataclasses
import pathlib
import subprocess
import sys

import pytest

NODE = '11111111-1111-4111-8111-111111111111'
PATH = f'/resource_providers/{NODE}/traits'
WRITERS = 20
PATIENCE = 240  # seconds; two cores share all of them

# Runs one command after another. Before its first write to the provider it says
# that it has read, and waits for a word.
WRITER = """
import os
import sys
import requests
from compute_agent.cmd.app import main
from compute_agent.cmd.wiring import opening

config, number = sys.argv[1:]
# While a command runs, what others print goes to stderr.
told = os.fdopen(os.dup(1), 'w')
send = requests.adapters.HTTPAdapter.send
waits = True

def after_all_have_read(self, request, *args, **options):
    global waits
    if waits and request.method == 'PUT' and '/resource_p' in request.url:
        waits = False
        print('has read', file=told, flush=True)
        sys.stdin.readline()
    return send(self, request, *args, **options)

requests.adapters.HTTPAdapter.send = after_all_have_read
for words in (
    ('add', f'CUSTOM_NEW_{number}', f'CUSTOM_BRIEF_{number}', '--create'),
    ('remove', f'CUSTOM_OLD_{number}'),
    ('add', f'CUSTOM_LATER_{number}', '--create'),
    ('remove', f'CUSTOM_BRIEF_{number}'),
):
    verb, *rest = words
    code = main.main(
        ['--debug', '--config-file', config]
        + ['resource', 'provider', 'trait', verb, 'cn1', *rest]
    )
    if code:
        sys.exit(code)
"""


@pytest.fixture
def provider(cli):
    """A provider with a trait for each writer to remove, and one to keep."""
    cli.others.create(NODE, 'cn1')
    traits = [f'CUSTOM_OLD_{number}' for number in range(WRITERS)]
    cli.others.add_traits(NODE, *traits, 'CUSTOM_KEPT')
    return cli


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One process, and the file that it writes its log to."""

    process: subprocess.Popen
    log: pathlib.Path


def start(number, config, log):
    with log.open('wb') as out:
        process = subprocess.Popen(
            [sys.executable, '-c', WRITER, str(config), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
        )
    return Writer(process=process, log=log)


@pytest.fixture
def writers(provider, tmp_path):
    """Twenty writers that have read; the end kills those that still run."""
    with contextlib.ExitStack() as stack:
        started = []
        for number in range(WRITERS):
            log = tmp_path / f'writer{number}.log'
            one = start(number, provider.config, log)
            stack.enter_context(one.process)
            stack.callback(one.process.kill)
            started.append(one)
        for one in started:
            assert one.process.stdout.readline() == 'has read\n'
        yield started


@pytest.mark.long
def test_no_trait_is_lost_and_none_comes_back(provider, writers):
    before = provider.placement(PATH)['resource_provider_generation']
    for one in writers:
        one.process.stdin.write('go\n')
        one.process.stdin.flush()
    for one in writers:
        one.process.communicate(timeout=PATIENCE)
        assert one.process.returncode == 0, one.log.read_text()[-2000:]
    answer = provider.placement(PATH)
    assert set(answer['traits']) == {
        'CUSTOM_KEPT',
        *(f'CUSTOM_NEW_{number}' for number in range(WRITERS)),
        *(f'CUSTOM_LATER_{number}' for number in range(WRITERS)),
    }
    # Each of the changes was one write, whoever came first.
    writes = answer['resource_provider_generation'] - before
    assert writes == 4 * WRITERS
    # And they did come between each other.
    met = ['RESP: [409]' in one.log.read_text() for one in writers]
    assert met.count(True) >= WRITERS - 1
