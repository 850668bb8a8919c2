# SPDX-License-Identifier: Apache-2.0
"""The NUMA nodes of a host have its processors and memory between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from drivers.libvirt.inventory import amounts, memory, numa
from drivers.libvirt.options import inventory
from drivers.libvirtd import hypervisor

CELL = """<cell id='{id}'>
<memory unit='KiB'>{kib}</memory>
<pages unit='KiB' size='4'>1000</pages>
<pages unit='KiB' size='2048'>256</pages>
<cpus>{cpus}</cpus>
</cell>"""


def host(*processors, kib=4194304):
    cells = ''.join(
        CELL.format(
            id=n, kib=kib, cpus=''.join(f"<cpu id='{i}'/>" for i in numbers)
        )
        for n, numbers in enumerate(processors)
    )
    return f'<capabilities><host><topology><cells>{cells}</cells></topology></host></capabilities>'


def record(total, reserved=0):
    return {
        'total': total,
        'reserved': reserved,
        'min_unit': 1,
        'max_unit': total,
        'step_size': 1,
    }


FOUND = amounts.Amounts(
    known={
        'VCPU': record(3),
        'PCPU': {**record(2), 'allocation_ratio': 1.0},
        'MEMORY_MB': record(8192, 512),
        'DISK_GB': record(100),
    }
)
USABLE = {'VCPU': frozenset({0, 1, 4}), 'PCPU': frozenset({2, 3})}


def divided(text, found=FOUND, usable=USABLE, *, subtracts=False):
    children = numa.divided(
        'cn1', found, numa.cells(text), usable, subtracts_huge_pages=subtracts
    )
    return {child.name: child for child in children.known}


def test_each_node_has_its_own_amounts():
    found = divided(host([0, 1, 2, 3], [4, 5]))
    assert found['cn1_NUMA0'].inventory == {
        'VCPU': record(2),
        'PCPU': {**record(2), 'allocation_ratio': 1.0},
        'MEMORY_MB': record(4096, 256),
    }
    assert found['cn1_NUMA1'].inventory == {
        'VCPU': record(1),
        'MEMORY_MB': record(4096, 256),
    }
    traits = {one.trait for one in found['cn1_NUMA1'].findings}
    assert traits == {'HW_NUMA_ROOT', 'OWNER_NOVA'}


def test_huge_pages_are_subtracted_from_their_node():
    less = amounts.Amounts(known={'MEMORY_MB': record(7168)})
    found = divided(host([0], [1]), less, {}, subtracts=True)
    totals = [c.inventory['MEMORY_MB']['total'] for c in found.values()]
    assert totals == [3584, 3584]


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (host([0, 1], [2, 3]), r'all processors of VCPU \(0-1,4\) once'),
        (host([0, 1, 2, 3, 4], [4]), 'all processors of VCPU'),
        (host([0, 1, 2, 3], [4], kib=1048576), 'when it is first touched'),
    ],
)
def test_nodes_that_are_not_the_whole_host_are_an_error(text, message):
    with pytest.raises(errors.DriverError, match=message):
        divided(text)


@pytest.mark.parametrize(
    'text',
    [
        '<capabilities/>',
        host(),
        host([0]).replace('4194304', 'much'),
        host([0]).replace("<cell id='0'>", '<cell>'),
        host([0]).replace('256</pages>', '</pages>'),
        host([0], [1]).replace("<cell id='1'>", "<cell id='0'>"),
        host([0]).replace("<cell id='0'>", "<cell id='-1'>"),
        '<capabilities>',
    ],
)
def test_nodes_that_libvirt_does_not_tell_are_unknown(text):
    with pytest.raises(hypervisor.Unanswered):
        numa.cells(text)


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=8),
    st.integers(0, 1000),
)
def test_what_is_reserved_is_spread_whole_and_fits(totals, percent):
    amount = sum(totals) * percent // 1000
    parts = numa.spread(amount, totals)
    assert sum(parts) == amount
    assert all(
        0 <= part <= total for part, total in zip(parts, totals, strict=True)
    )


def test_memory_in_files_belongs_to_no_node():
    with pytest.raises(errors.ConfigError, match='numa = nested cannot'):
        inventory.Settings(nested=True, ram=memory.Options(file_backed_mib=9))
