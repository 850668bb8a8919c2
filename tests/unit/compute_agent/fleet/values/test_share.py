# SPDX-License-Identifier: Apache-2.0
"""The name of a share: given, or made from the drivers and their filters."""

import pytest

from compute_agent import errors
from compute_agent.fleet.values import share


@pytest.mark.parametrize(
    ('drivers', 'name'),
    [
        ([('libvirt', None)], 'libvirt'),
        ([('libvirt', None), ('host', None)], 'libvirt+host'),
        ([('ironic', {})], 'ironic'),
        ([('ironic', {'shard': 'rack1'})], 'ironic:shard=rack1'),
        ([('ironic', {'conductor_group': ''})], 'ironic:conductor_group='),
        (
            [('ironic', {'shard': 'r1', 'conductor_group': 'east'})],
            'ironic:conductor_group=east,shard=r1',
        ),
        ([('nova:ironic.IronicDriver', {})], 'nova:ironic.IronicDriver'),
    ],
)
def test_it_follows_from_the_drivers_and_their_filters(drivers, name):
    assert share.named(None, drivers) == name


def test_the_operators_name_precedes():
    assert share.named('rack1', [('ironic', {'shard': 'x'})]) == 'rack1'


def test_values_with_other_characters_are_quoted_and_stay_different():
    spaced = share.named('', [('ironic', {'shard': 'rack 1'})])
    plain = share.named('', [('ironic', {'shard': 'rack_1'})])

    assert spaced == 'ironic:shard=rack%201'
    assert plain == 'ironic:shard=rack_1'


@pytest.mark.parametrize('name', ['rack 1', 'rack/1', 'räck', '-rack', '#'])
def test_other_characters_are_refused(name):
    with pytest.raises(ValueError, match='cannot be the name of a share'):
        share.check(name)


def test_a_name_that_becomes_too_long_asks_for_the_option():
    with pytest.raises(errors.ConfigError, match=r'set \[compute_agent\] sh'):
        share.named(None, [('ironic', {'shard': 'r' * 201})])
