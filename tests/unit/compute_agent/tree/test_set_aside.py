# SPDX-License-Identifier: Apache-2.0
"""Of a provider that is drained and does not work, the trouble is shown."""

import pytest

from compute_agent.tree import provider_tree

UUID = '11111111-1111-4111-8111-111111111111'
SHOWN = 'cn1: unhealthy (no fan), so all of it is reserved'


@pytest.fixture
def tree():
    made = provider_tree.ProviderTree()
    made.new_root('cn1', UUID)
    return made


@pytest.mark.catches('a drain hides that a device does not work')
def test_a_drain_does_not_hide_the_trouble(tree):
    tree.unhealthy('cn1', 'no fan')
    tree.drained('cn1', 'it moves')
    assert str(tree.set_aside[UUID]) == SHOWN


def test_the_trouble_takes_the_place_of_a_drain(tree):
    tree.drained('cn1', 'it moves')
    tree.unhealthy('cn1', 'no fan')
    assert str(tree.set_aside[UUID]) == SHOWN
