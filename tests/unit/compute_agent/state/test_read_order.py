# SPDX-License-Identifier: Apache-2.0
"""What was learnt of a provider since a moment."""

import pytest

from compute_agent.state import read_order
from compute_agent.tree import provider


def at(generation):
    return provider.Provider(uuid='u', name='n', generation=generation)


@pytest.fixture
def known():
    """It is known that a provider was at its fifth generation."""
    made = read_order.Recency()
    made.learn('u', 5)
    return made


def test_of_what_was_never_learnt_nothing_is_newer(known):
    assert not known.is_newer('another', 0)
    assert not known.is_passed(at(1), known.now())


def test_what_was_learnt_before_a_look_does_not_pass_what_it_saw(known):
    now = known.now()
    assert not known.is_newer('u', now)
    assert not known.is_passed(at(4), now)


@pytest.mark.parametrize(
    ('generation', 'passed'),
    [(None, True), (4, True), (5, False), (6, False)],
)
def test_what_was_learnt_since_passes_what_is_of_a_lower_generation(
    known, generation, passed
):
    before = known.now() - 1
    assert known.is_newer('u', before)
    assert known.is_passed(at(generation), before) is passed


def test_each_lesson_is_a_moment_of_its_own(known):
    before = known.now()
    known.learn('another', None)
    assert known.is_newer('another', before)
    assert not known.is_newer('u', before)
    assert known.now() == before + 1
