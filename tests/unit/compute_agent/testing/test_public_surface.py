# SPDX-License-Identifier: Apache-2.0
"""The names, signatures and fields for drivers do not change unnoticed.

``public_surface.txt`` has them as they were accepted last.
"""

import public_surface
import pytest

from compute_agent import testing

HOW = """
The names that drivers may use have changed (- before, + now):
{}
If this is not on purpose, undo it: other people's drivers use these names. If
it is, follow "Versions and deprecations" in docs/drivers.md, then accept it
with "make surface" and commit public_surface.txt."""
A, B, C = 'm.A class()', 'm.A.f(self) -> None', 'm.A.g(self) -> None'
RULE = 'rule.CA090 for all drivers since 1.1'
OPTIONAL = 'rule.CA091 for EVENTS since 1.1'
OLD = f"{B} @deprecated(since='1.0', instead='g')"


def test_the_surface_is_the_one_that_was_accepted():
    _, lines = public_surface.recorded()
    found = public_surface.changes(lines, public_surface.surface())
    if found:
        pytest.fail(HOW.format('\n'.join(found)), pytrace=False)


def test_the_version_is_the_recorded_one():
    first, _ = public_surface.recorded()
    assert first in {
        public_surface.head(public_surface.OPEN),
        public_surface.head(public_surface.RELEASED),
    }


def test_it_has_the_signatures_of_all_methods_of_the_tree():
    lines = public_surface.surface()
    tree = 'compute_agent.tree.provider_tree.ProviderTree'
    declare = 'declare_traits(self, name_or_uuid: str, *traits: str) -> None'
    assert f'{tree}.{declare}' in lines
    assert f'{tree}.exists(self, name_or_uuid: str) -> bool' in lines
    assert f'{tree}.notes: list[str]' in lines
    assert "compute_agent.virt.driver.Existence.NO = 'no'" in lines
    assert 'compute_agent.virt.values.finding.Finding.fact: str' in lines
    assert not any('._' in line for line in lines if '__init__' not in line)


def test_every_stable_name_of_the_testing_module_is_listed():
    assert sorted(public_surface.STABLE['compute_agent.testing']) == sorted(
        dir(testing)
    )


@pytest.mark.parametrize('new', [[A], [A, B, C], [A, 'm.A.f(self, x) -> int']])
def test_a_version_that_is_not_released_may_change(new):
    public_surface.check('contract 1.0, not released', [A, B], new, '1.0')


@pytest.mark.parametrize(
    ('old', 'new', 'version', 'problem'),
    [
        ([A, B], [A], '2.0', r'^m.A.f: release a version in which this is'),
        ([A, OLD], [A], '1.1', r'^set CONTRACT_VERSION .* to 2.0: 1.0 was'),
        ([A, B], [A, B, C], '1.0', r'^set CONTRACT_VERSION .* to 1.1: 1.0 w'),
        ([A], [A, OPTIONAL], '1.0', r'to 1.1: 1.0 was released, and it adds'),
        ([OPTIONAL], [], '1.0', r'to 1.1: 1.0 was released'),
        ([A], [A, RULE], '1.9', r'to 2.0: .* a rule more for all drivers'),
        ([A, B], [A, 'm.A.f(self, x) -> None'], '1.0', r'to 1.1: .* changes'),
    ],
)
def test_a_released_version_changes_with_its_number_only(
    old, new, version, problem
):
    first = 'contract 1.0, released'
    with pytest.raises(public_surface.Refused, match=problem):
        public_surface.check(first, old, new, version)
    if 'CONTRACT_VERSION' in problem:
        public_surface.check(first, old, new, '2.0')


def test_a_name_whose_deprecation_was_released_goes_with_a_major_version():
    public_surface.check('contract 1.3, released', [A, OLD], [A], '2.0')


def test_a_change_is_told_line_by_line():
    assert public_surface.changes([A, B], [A, C]) == [f'- {B}', f'+ {C}']
