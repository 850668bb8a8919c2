# SPDX-License-Identifier: Apache-2.0
"""The providers that come to count as created by this agent."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.ownership import adoption
from compute_agent.tree import provider
from compute_agent.tree.node import Node


@dataclasses.dataclass(frozen=True)
class Row:
    """A provider as placement lists it; its name is its uuid."""

    uuid: str
    parent_uuid: str | None = None
    generation: int = 1

    @property
    def name(self):
        return self.uuid


ROOT, NUMA, NIC = Row('root'), Row('numa', 'root'), Row('nic', 'numa')
TREE = [NIC, ROOT, NUMA]
ALONE = Row('nfs')
HERE = Node(uuid='root', name='cn1')
OTHER = Node(uuid='other', name='cn2')


def reading(uuid, generation):
    seen = provider.Provider(uuid=uuid, name=uuid, generation=generation)
    return provider.Reading(provider=seen, root_uuid=uuid, read_at=0.0)


def adopted(
    row,
    tree,
    nodes=(HERE,),
    *,
    wanted=None,
    subtree=False,
    recorded=(),
    **known,
):
    facts = {'created': (), 'readings': {}, **known}
    return adoption.adoption(
        row,
        tree,
        nodes,
        adoption.Known(nodes=recorded, **facts),
        wanted_node=wanted,
        subtree=subtree,
    )


def test_only_the_provider_is_adopted_and_its_descendants_are_listed():
    found = adopted(NUMA, TREE)
    assert (found.node, found.new) == (HERE, [NUMA])
    assert found.descendants == [NIC]


def test_with_its_subtree_parents_come_first():
    assert adopted(ROOT, TREE, subtree=True).new == [ROOT, NUMA, NIC]


def test_a_provider_that_the_agent_created_is_not_new():
    found = adopted(ROOT, TREE, subtree=True, created={'numa'})
    assert found.new == [ROOT, NIC]


def test_a_recreated_provider_is_new_although_its_uuid_was_created_here():
    found = adopted(
        NUMA, TREE, created={'numa'}, readings={'numa': reading('numa', 5)}
    )
    assert (found.new, found.recreated) == ([NUMA], {'numa'})


def test_a_provider_that_only_moved_on_was_not_recreated():
    found = adopted(
        NUMA, TREE, created={'numa'}, readings={'numa': reading('numa', 1)}
    )
    assert (found.new, found.recreated) == ([], frozenset())


def test_a_node_that_left_the_driver_s_list_is_known_from_the_record():
    found = adopted(NUMA, TREE, [OTHER], recorded=[HERE])
    assert found.node == HERE


def test_a_provider_alone_belongs_to_the_only_node():
    assert adopted(ALONE, [ALONE]).node == HERE


def test_a_provider_alone_belongs_to_the_node_that_is_named():
    nodes = [HERE, OTHER]
    assert adopted(ALONE, [ALONE], nodes, wanted='cn2').node == OTHER


def test_a_provider_alone_needs_a_node_if_there_are_several():
    with pytest.raises(errors.ConfigError, match='2 nodes .*--node'):
        adopted(ALONE, [ALONE], [HERE, OTHER])


def test_a_provider_in_the_tree_of_another_agent_is_refused():
    with pytest.raises(errors.Refused, match='in the tree of root'):
        adopted(NUMA, TREE, [OTHER])
