# SPDX-License-Identifier: Apache-2.0
"""The commands of the pages print what the pages show.

Each ``console`` block runs in a world of its own (``support/page_worlds.py``),
from its first command to its last. ``support/pages.py`` says what may differ.
A block that cannot run here is named below, with the reason; its commands are
still read by ``unit/test_page_commands.py``.
"""

import itertools

import page_reader
import page_worlds
import pages
import pytest

pytestmark = pytest.mark.long

WRITTEN = ['README.md', *sorted(
    f'docs/{path.name}' for path in (pages.ROOT / 'docs').glob('*.md')
)]  # fmt: skip
ELSEWHERE = {
    'docs/afternoon.md': 'package/ansible/ types it for three Debians',
    'docs/tutorial.md': 'functional/docs/test_tutorial.py runs the whole page',
    'docs/quickstart.md': 'package/deb/ types it on a Debian of its own',
}
NOT_RUN = {
    ('README.md', 'pip install'): 'a host that nova-compute reports',
    ('README.md', 'make run'): 'functional/daemon/test_run_embedded.py',
    ('docs/container.md', ''): 'package/container/ runs the image',
    ('docs/control.md', 'compute-agent approve'): (
        'unit/compute_agent/cmd/plan/test_waiting.py has such lists'
    ),
    ('docs/driver-contract.md', 'pytest'): 'the tutorial runs these',
    ('docs/exec-driver.md', ''): 'it needs jq; full/exec/ runs the program',
    ('docs/from-nova-driver.md', ''): 'the tutorial runs this',
    ('docs/in-place-of-nova.md', ''): (
        'full/companion/test_migration.py takes these steps'
    ),
    ('docs/nova-drivers.md', ''): 'it installs into an environment of nova',
    ('docs/ownership.md', 'compute-agent approve'): (
        'functional/ownership/test_marks_of_two_agents.py has such a list'
    ),
    ('docs/ownership.md', 'compute-agent resource provider adopt'): 'a usage',
    ('docs/ownership.md', 'compute-agent resource provider rename'): 'a usage',
    ('docs/osc-words.md', ''): 'providers/test_osc_words.py runs such lines',
    ('docs/requested-traits.md', ''): 'it needs an Ironic',
    ('docs/rules.md', 'compute-agent rules test'): (
        'unit/drivers/host/rules/test_docs.py compares it'
    ),
    ('docs/troubleshooting.md', 'runuser'): 'package/deb/ runs it',
    ('docs/rules.md', 'alias ca='): 'the facts and rules of this machine',
}
BLOCKS = [
    list(block)
    for page in WRITTEN
    if page not in ELSEWHERE
    for _, block in itertools.groupby(
        pages.commands(page), key=lambda command: command.block
    )
]


def key_of(block, keys):
    """Return the longest key of a block, or None."""
    found = [
        key
        for key in keys
        if key[0] == block[0].page and f'{block[0].text}\n'.startswith(key[1])
    ]
    return max(found, key=lambda key: len(key[1]), default=None)


RUN = [one for one in BLOCKS if key_of(one, page_worlds.WORLDS)]


def test_each_block_runs_or_says_why_not():
    every = {**page_worlds.WORLDS, **NOT_RUN}
    used = [key_of(block, every) for block in BLOCKS]
    assert [
        str(block[0])
        for block, key in zip(BLOCKS, used, strict=True)
        if key is None
    ] == []
    assert set(every) - set(used) == set()
    assert set(page_worlds.WORLDS) & set(NOT_RUN) == set()


@pytest.fixture
def reader(cli, monkeypatch):
    """A reader in a folder of its own."""
    return page_reader.Reader(cli, cli.folder / 'reader', monkeypatch)


@pytest.mark.parametrize('block', RUN, ids=lambda block: str(block[0]))
def test_a_block_prints_what_the_page_shows(
    block, reader, cli, request, monkeypatch
):
    page = block[0].page
    prepare = page_worlds.WORLDS[key_of(block, page_worlds.WORLDS)]
    world = page_worlds.World(cli, request, monkeypatch, page)
    prepare(world)
    for command in block:
        here = page_reader.placed(command, world.replaced)
        if differs := page_reader.difference(here, *reader.run(here.text)):
            pytest.fail(differs, pytrace=False)
