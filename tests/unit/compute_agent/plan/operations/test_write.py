# SPDX-License-Identifier: Apache-2.0
"""Every kind of operation answers for itself; a kind that does not is none."""

import dataclasses
import typing

import pytest

from compute_agent.plan.operations import operations as ops
from compute_agent.plan.operations import write
from compute_agent.tree.assertion import Kind

ALL = typing.get_args(ops.Operation)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RemoveEverything(write.Write):
    """A destructive kind that forgets to say what it removes."""

    uuid: str

    subject = 'everything'
    providers = frozenset()
    parts = frozenset()
    gives = frozenset()

    def needs(self, providers):
        return frozenset()

    def advances(self):
        return iter(())

    def apply_to(self, providers):
        return {}


def test_a_kind_that_does_not_say_what_it_changes_cannot_be_made():
    with pytest.raises(TypeError, match="abstract method '?changes"):
        RemoveEverything(uuid='u')


@pytest.mark.parametrize(
    'question',
    [
        'advances',
        'apply_to',
        'changes',
        'gives',
        'needs',
        'parts',
        'providers',
        'subject',
    ],
)
def test_each_question_must_be_answered(question):
    assert question in write.Write.__abstractmethods__


@pytest.mark.parametrize('kind', ALL, ids=lambda kind: kind.__name__)
def test_every_kind_answers_all_of_them(kind):
    assert issubclass(kind, write.Write)
    assert kind.__abstractmethods__ == frozenset()


def deletion():
    return ops.DeleteProvider(uuid='u', name='n')


def traits(names, before):
    return ops.SetTraits(
        uuid='u', name='n', names=frozenset(names), before=frozenset(before)
    )


@pytest.mark.parametrize(
    ('operation', 'removed'),
    [
        (ops.CreateTrait(name='CUSTOM_A'), []),
        (ops.CreateResourceClass(name='CUSTOM_A'), []),
        (ops.CreateProvider(uuid='u', name='n', parent_uuid=None), []),
        (deletion(), [('u', None, '')]),
        (
            traits('AB', 'BCD'),
            [('u', Kind.TRAIT, 'C'), ('u', Kind.TRAIT, 'D')],
        ),
    ],
)
def test_an_operation_says_what_it_removes(operation, removed):
    assert [
        (c.uuid, c.kind, c.name) for c in operation.changes() if c.is_removal
    ] == removed


def test_only_the_creation_of_names_is_shared_and_writes_to_no_provider():
    shared = {kind for kind in ALL if kind.is_shared}
    assert shared == {ops.CreateTrait, ops.CreateResourceClass}
    assert all(kind(name='A').providers == frozenset() for kind in shared)


def test_only_a_reshape_tells_no_generation():
    silent = [kind for kind in ALL if not kind.tells_generations]
    assert silent == [ops.Reshape]


def test_only_a_deletion_is_done_if_the_provider_is_not_there():
    assert [k for k in ALL if k.is_done_if_absent] == [ops.DeleteProvider]
