# SPDX-License-Identifier: Apache-2.0
"""The root that nova-compute made is found by its file, or by its name."""

import types

import pytest

from compute_agent import errors
from compute_agent.identity import nova_root

FIRST = 'aaaaaaaa-1111-4111-8111-111111111111'
SECOND = 'bbbbbbbb-1111-4111-8111-111111111111'


class Found:
    """A placement with one provider, and what was asked of it."""

    def __init__(self, uuid=FIRST, parent=None):
        self.uuid, self.parent, self.asked = uuid, parent, 0
        self.there = {FIRST}

    def by_name(self, name):
        self.asked += 1
        return [
            types.SimpleNamespace(
                name=name, uuid=self.uuid, parent_uuid=self.parent
            )
        ]

    def root(self, file=''):
        return nova_root.NovaRoot(
            lambda: file, self.by_name, self.there.__contains__
        )


def test_the_file_of_nova_is_enough():
    found = Found()
    assert found.root(SECOND).uuid('cn1') == SECOND
    assert found.asked == 0


def test_placement_is_asked_once_while_it_has_the_root():
    found = Found()
    root = found.root()
    assert [root.uuid('cn1') for _ in range(3)] == [FIRST] * 3
    assert found.asked == 1


def test_a_root_that_was_deleted_is_looked_for_again():
    found = Found()
    root = found.root()
    root.uuid('cn1')
    found.there.clear()
    found.uuid = SECOND
    assert root.uuid('cn1') == SECOND


def test_a_child_of_that_name_is_no_root():
    with pytest.raises(errors.UnknownState) as caught:
        Found(parent=SECOND).root().uuid('cn1')
    assert 'nova-compute creates it' in str(caught.value)
