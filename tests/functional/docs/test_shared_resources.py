# SPDX-License-Identifier: Apache-2.0
"""The driver of "Shared resources" in docs/drivers.md keeps the contract."""

import dataclasses
import json
import pathlib
import re
import sys
import types

import pytest

from compute_agent import errors, testing
from compute_agent.testing.contract import runner
from compute_agent.testing.contract.rules import catalogue
from compute_agent.virt import driver

PAGE = pathlib.Path(__file__).parents[3] / 'docs' / 'drivers.md'
SECTION = PAGE.read_text('utf-8').partition('\n## Shared resources\n')[2]
(CODE,) = re.findall(
    r'^```python\n(.*?)^```$',
    SECTION.partition('\n## ')[0],
    re.DOTALL | re.MULTILINE,
)
METHODS: dict[str, types.FunctionType] = {}
exec(compile(CODE, PAGE.name, 'exec'), METHODS)
A, B = 'shelves_a', 'shelves_b'


@dataclasses.dataclass(frozen=True)
class Pool:
    name: str
    uuid: str
    aggregate: str
    gigabytes: int


@dataclasses.dataclass(frozen=True)
class Shelf:
    name: str
    uuid: str
    watts: int
    pool: Pool


def read_text(path):
    return path.read_text('utf-8')


class ShelfDriver(driver.ComputeDriver):
    """Reads a file of shelves; the page describes them."""

    update_provider_tree = METHODS['update_provider_tree']
    share = METHODS['share']
    leave = METHODS['leave']

    def __init__(self, path):
        self.path = path
        self.shelves = {}

    @classmethod
    def from_conf(cls, conf):
        raise errors.ConfigError('a test makes this driver itself')

    def get_available_nodes(self):
        try:
            file = json.loads(read_text(self.path))
            pools = {pool['name']: Pool(**pool) for pool in file['pools']}
            shelves = [
                Shelf(**{**shelf, 'pool': pools[shelf['pool']]})
                for shelf in file['shelves']
            ]
        except (OSError, ValueError, LookupError, TypeError) as exc:
            raise errors.DriverError(
                f'the shelves are unknown: {exc}'
            ) from exc
        self.shelves = {shelf.name: shelf for shelf in shelves}
        return list(self.shelves)

    def get_nodenames_by_uuid(self):
        return {shelf.uuid: shelf.name for shelf in self.shelves.values()}

    def node_exists(self, nodename):
        if nodename in self.get_available_nodes():
            return driver.Existence.YES
        return driver.Existence.NO


def pool(name):
    letter = name[-1]
    return {
        'name': name,
        'uuid': f'{letter * 8}-0000-4000-8000-000000000001',
        'aggregate': f'{letter * 8}-0000-4000-8000-000000000002',
        'gigabytes': 50_000,
    }


def write(path, *pools):
    """Write a file with a shelf for each pool named."""
    shelves = [
        {
            'name': f'shelf-{number}',
            'uuid': f'00000000-0000-4000-8000-{number:012}',
            'watts': 12_000,
            'pool': name,
        }
        for number, name in enumerate(pools)
    ]
    listed = [pool(name) for name in dict.fromkeys(pools)]
    path.write_text(json.dumps({'pools': listed, 'shelves': shelves}))


class GreedyDriver(ShelfDriver):
    """Removes a pool that other shelves still reach."""

    def leave(self, provider_tree, root):
        provider_tree.remove(root.uuid)


def world_of(path, driver_class):
    """Return a world of two shelves at one pool."""
    write(path, A, A)
    return testing.World(
        make=lambda: driver_class(path),
        seams=[testing.Seam('the file', sys.modules[__name__], 'read_text')],
        change=lambda: write(path, A, B),
        nodes=lambda count: write(path, *[A] * count),
    )


@pytest.mark.long
class TestShelves(testing.DriverContract):
    driver = ShelfDriver
    capabilities = frozenset({testing.Capability.SEVERAL_NODES})

    @pytest.fixture
    def world(self, tmp_path):
        return world_of(tmp_path / 'shelves.json', ShelfDriver)


def test_the_suite_says_what_is_wrong_with_a_greedy_driver(tmp_path):
    world = world_of(tmp_path / 'shelves.json', GreedyDriver)
    seen = catalogue.BY_NUMBER['CA017']
    outcome = runner.check(seen, GreedyDriver, world, ())
    assert outcome.status is runner.Status.FAILED
    assert outcome.reason.startswith('CA004 (The second cycle writes nothing)')
    assert 'sharing provider that another node of the driver' in outcome.reason


@pytest.fixture
def shelves(tmp_path):
    """Return what writes the file, syncs it and shows who has which pool."""
    path = tmp_path / 'shelves.json'
    with testing.Placement() as placement:

        def synced(*pools):
            write(path, *pools)
            testing.assert_synced(ShelfDriver(path), placement)
            return {
                name: [a[0] for a in one.get('aggregates', ())]
                for name, one in placement.held().items()
            }

        synced.placement = placement
        yield synced


def test_both_shelves_reach_the_one_pool(shelves):
    assert shelves(A, A) == {'shelf-0': ['a'], 'shelf-1': ['a'], A: ['a']}
    held = shelves.placement.held()[A]
    assert held['inventories'] == {'DISK_GB': 50_000}
    assert held['traits'] == ['MISC_SHARES_VIA_AGGREGATE']


def test_a_pool_stays_as_it_is_while_a_shelf_reaches_it(shelves):
    shelves(A, A)
    before = shelves.placement.held()[A]
    assert shelves(A, B) == {
        'shelf-0': ['a'], 'shelf-1': ['b'], A: ['a'], B: ['b'],
    }  # fmt: skip
    assert shelves.placement.held()[A] == before


@pytest.mark.parametrize('steps', [[(A, B), (B, B)], [(B, B)]])
def test_a_pool_that_the_last_shelf_left_goes(shelves, steps):
    shelves(A, A)
    for step in steps:
        last = shelves(*step)
    assert last == {'shelf-0': ['b'], 'shelf-1': ['b'], B: ['b']}


def test_a_pool_of_another_writer_stays(shelves):
    shelves(A, A)
    (aggregate,) = shelves.placement.held()[A]['aggregates']
    other = {
        'inventories': {'DISK_GB': 10},
        'traits': ['MISC_SHARES_VIA_AGGREGATE'],
        'aggregates': [aggregate],
    }
    shelves.placement.plant({'nfs': other})
    before = shelves.placement.held()['nfs']
    shelves(B, B)
    assert shelves.placement.held()['nfs'] == before
