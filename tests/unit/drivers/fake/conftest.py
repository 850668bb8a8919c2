# SPDX-License-Identifier: Apache-2.0
"""A driver on a file written for the test, and the trees it edits."""

import pytest

from compute_agent.tree import inventory, provider, provider_tree
from drivers.fake import driver

CN1 = '11111111-1111-4111-8111-111111111111'


@pytest.fixture
def write(tmp_path):
    """Write the file; return its path."""

    def write_text(text):
        path = tmp_path / 'f.yaml'
        path.write_text(text, encoding='utf-8')
        return str(path)

    return write_text


@pytest.fixture
def told(write):
    """What the operator is told, with the folder taken off."""

    def shorten(error):
        folder = write('nodes: []\n').removesuffix('f.yaml')
        return str(error).replace(folder, '')

    return shorten


@pytest.fixture
def fake(write):
    """Return a driver on a file of this text."""
    return lambda text: driver.FakeDriver(write(text))


@pytest.fixture
def rooted():
    """Return a tree with nothing but the root of CN1."""

    def tree_of_root(name='CN1', uuid=CN1):
        tree = provider_tree.ProviderTree()
        tree.new_root(name, uuid)
        return tree

    return tree_of_root


@pytest.fixture
def observed():
    """Return the tree a next cycle would start with, after this one."""
    return lambda tree: provider_tree.ProviderTree.from_providers(
        [_provider(tree.data(uuid)) for uuid in tree.get_provider_uuids()]
    )


def _provider(data):
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
