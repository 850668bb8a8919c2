# SPDX-License-Identifier: Apache-2.0
"""An observation that another thread overtook is recognised."""

import pytest

from compute_agent.state import journal
from compute_agent.tree import provider


def at(generation):
    return provider.Provider(uuid='u', name='n', generation=generation)


@pytest.fixture
def known():
    """The fifth generation of a provider is known."""
    made = journal.Recency()
    made.learn('u', 5)
    return made


def test_an_unknown_provider_is_neither_newer_nor_outdated(known):
    assert not known.is_newer('another', 0)
    assert not known.is_outdated(at(1), known.now())


def test_an_update_before_the_observation_does_not_count(known):
    now = known.now()
    assert not known.is_newer('u', now)
    assert not known.is_outdated(at(4), now)


@pytest.mark.parametrize(
    ('generation', 'passed'),
    [(None, True), (4, True), (5, False), (6, False)],
)
def test_an_update_since_then_outdates_a_lower_generation(
    known, generation, passed
):
    before = known.now() - 1
    assert known.is_newer('u', before)
    assert known.is_outdated(at(generation), before) is passed


def test_each_update_is_a_moment_of_its_own(known):
    before = known.now()
    known.learn('another', None)
    assert known.is_newer('another', before)
    assert not known.is_newer('u', before)
    assert known.now() == before + 1
