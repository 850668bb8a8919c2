# SPDX-License-Identifier: Apache-2.0
"""Every fake host has the inventory that its ``expected.yaml`` says.

Keys: ``inventories`` is the whole inventory, without fields that have their
default, DISK_GB only if it is named; ``before`` is placement's, if placement
has the host already; ``faults`` are the lines for the operator, ``refused`` is
the only one; ``shares`` is a class that a sharing provider has.
``tests/support/recorded_hosts.py`` describes the folder of a host.
"""

import pytest
import recorded_hosts

from compute_agent import errors
from compute_agent.tree import inventory, provider

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARE = '99999999-9999-4999-8999-999999999999'

expectations = recorded_hosts.expected


def cases(*keys):
    found = {name for key in keys for name in recorded_hosts.cases(key)}
    return [
        pytest.param(recorded_hosts.HOSTS / name, id=name)
        for name in sorted(found)
    ]


@pytest.fixture
def describe(seen, tree):
    """Return a function that lets the driver describe a fake host."""

    def describe(folder):
        libvirt = recorded_hosts.driver_on(folder)
        expected = expectations(folder)
        placed = tree
        if 'before' in expected:
            placed = seen(expected['before'], [AGGREGATE], shares(expected))
        libvirt.update_provider_tree(placed, 'compute1')
        return placed

    return describe


def shares(expected):
    rc = expected.get('shares')
    if rc is None:
        return []
    return [
        provider.Provider(
            uuid=SHARE,
            name='share',
            generation=1,
            inventories={rc: inventory.Inventory(total=10_000)},
            traits=frozenset(['MISC_SHARES_VIA_AGGREGATE']),
            aggregates=frozenset([AGGREGATE]),
        )
    ]


@pytest.mark.parametrize('folder', cases('inventories'))
def test_the_expected_inventory_is_described(folder, describe):
    expected = expectations(folder)
    tree = describe(folder)
    found = tree.data('compute1').inventory
    if 'DISK_GB' not in expected['inventories'] and 'shares' not in expected:
        del found['DISK_GB']
    assert found.keys() == expected['inventories'].keys()
    for rc, fields in expected['inventories'].items():
        record = found[rc]
        assert record == record | {'reserved': 0} | fields, rc
    assert tree.faults == expected.get('faults', [])


@pytest.mark.parametrize('folder', cases('inventories'))
def test_a_class_that_can_be_read_is_whole(folder, describe):
    """Nova's other fields: any amount up to the whole may be asked for."""
    expected = expectations(folder)
    for rc, record in describe(folder).data('compute1').inventory.items():
        if rc not in expected.get('before', {}):
            assert record['max_unit'] == record['total']
            assert (record['min_unit'], record['step_size']) == (1, 1)


@pytest.mark.parametrize('folder', cases('refused'))
def test_what_nova_refuses_is_refused_in_one_line(folder, describe):
    with pytest.raises(errors.AgentError) as failed:
        describe(folder)
    assert str(failed.value) == expectations(folder)['refused']
