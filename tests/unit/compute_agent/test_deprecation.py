# SPDX-License-Identifier: Apache-2.0
"""Deprecated names work, and warn the line that uses them."""

import json
import warnings

import pytest

from compute_agent import deprecation


class Tree:
    """A class with a method that will go."""

    @deprecation.deprecated(since='1.2', instead='declare_traits')
    def set_traits(self, *traits):
        """Set the traits."""
        return traits


def test_a_deprecated_method_works_and_warns_where_it_is_called():
    with pytest.warns(DeprecationWarning, match='set_traits') as caught:
        assert Tree().set_traits('CUSTOM_A') == ('CUSTOM_A',)
    (warning,) = caught
    assert str(warning.message) == (
        'Tree.set_traits is deprecated since version 1.2 of the driver '
        'contract and may be gone in 2.0: use declare_traits'
    )
    assert warning.filename == __file__
    assert Tree.set_traits.__doc__ == 'Set the traits.'


def test_a_name_that_moved_is_found_and_warns_where_it_is_used():
    find = deprecation.moved('old.place', {'load': 'json:loads'}, since='1.3')
    with pytest.warns(DeprecationWarning, match='use json.loads') as caught:
        assert find('load') is json.loads
    assert caught[0].filename == __file__


def test_a_name_that_never_was_is_no_attribute():
    find = deprecation.moved('old.place', {}, since='1.3')
    with (
        warnings.catch_warnings(action='error'),
        pytest.raises(AttributeError, match="'old.place' has no attribute"),
    ):
        find('load')
