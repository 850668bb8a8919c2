# SPDX-License-Identifier: Apache-2.0
"""The whole driver on each recorded host gives the tree of its expected.yaml.

``tests/support/recorded_hosts.py`` describes a case. A new folder in
``tests/hosts`` is a new test.
"""

import pytest
import recorded_hosts

from drivers.libvirt.capabilities import nova_traits

# What nova does with every libvirt host; no case lists these.
EVERYWHERE = {*nova_traits.ALWAYS, *nova_traits.IMAGE_TYPES.values()}


@pytest.fixture(params=recorded_hosts.cases('tree'))
def case(request):
    folder = recorded_hosts.HOSTS / request.param
    libvirt = recorded_hosts.driver_on(folder)
    tree = recorded_hosts.empty_tree(libvirt)
    recorded_hosts.describe(libvirt, tree)
    wanted = recorded_hosts.expected(folder)['tree']
    return wanted, recorded_hosts.plain(tree), libvirt, tree


def fields(wanted, found):
    """Return what was found, of each class the fields that are wanted."""
    return {
        rc: {key: record.get(key) for key in wanted.get(rc, record)}
        for rc, record in found.items()
    }


def test_the_providers_are_those_that_are_expected(case):
    wanted, found, _, _ = case
    assert set(found) == set(wanted)


def test_the_inventories_are_as_expected(case):
    wanted, found, _, _ = case
    for name, provider in wanted.items():
        inventory = provider['inventory']
        assert fields(inventory, found[name]['inventory']) == inventory, name


def test_the_traits_are_as_expected(case):
    wanted, found, _, _ = case
    for name, provider in wanted.items():
        traits = set(found[name]['traits']) - EVERYWHERE
        assert sorted(traits) == sorted(provider['traits']), name


def test_a_second_description_changes_nothing(case):
    _, found, libvirt, tree = case
    recorded_hosts.describe(libvirt, tree)
    assert recorded_hosts.plain(tree) == found
