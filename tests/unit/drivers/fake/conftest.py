# SPDX-License-Identifier: Apache-2.0
"""A driver on a file written for the test, and the trees it edits."""

import collections.abc
import pathlib
import typing

import pytest

from compute_agent.tree import inventory, provider, provider_tree
from drivers.fake import driver

Tree: typing.TypeAlias = provider_tree.ProviderTree

CN1 = '11111111-1111-4111-8111-111111111111'


@pytest.fixture
def write(tmp_path: pathlib.Path) -> collections.abc.Callable[[str], str]:
    """Write the file; return its path."""

    def write_text(text: str) -> str:
        path = tmp_path / 'f.yaml'
        path.write_text(text, encoding='utf-8')
        return str(path)

    return write_text


@pytest.fixture
def told(
    write: collections.abc.Callable[[str], str],
) -> collections.abc.Callable[[object], str]:
    """What the operator is told, with the folder taken off."""

    def shorten(error: object) -> str:
        folder = write('nodes: []\n').removesuffix('f.yaml')
        return str(error).replace(folder, '')

    return shorten


@pytest.fixture
def fake(
    write: collections.abc.Callable[[str], str],
) -> collections.abc.Callable[[str], driver.FakeDriver]:
    """Return a driver on a file of this text."""
    return lambda text: driver.FakeDriver(write(text))


@pytest.fixture
def rooted() -> collections.abc.Callable[..., Tree]:
    """Return a tree with nothing but the root of CN1."""

    def tree_of_root(name: str = 'CN1', uuid: str = CN1) -> Tree:
        tree = provider_tree.ProviderTree()
        tree.new_root(name, uuid)
        return tree

    return tree_of_root


@pytest.fixture
def observed() -> collections.abc.Callable[[Tree], Tree]:
    """Return the tree a next cycle would start with, after this one."""
    return lambda tree: provider_tree.ProviderTree.from_providers(
        [_provider(tree.data(uuid)) for uuid in tree.get_provider_uuids()]
    )


def _provider(data: typing.Any) -> provider.Provider:
    return provider.Provider(
        uuid=data.uuid,
        name=data.name,
        parent_uuid=data.parent_uuid,
        generation=1,
        inventories={
            rc: inventory.Inventory.from_record(record)
            for rc, record in data.inventory.items()
        },
        traits=frozenset(data.traits),
        aggregates=frozenset(data.aggregates),
    )
