# SPDX-License-Identifier: Apache-2.0
"""A libvirt host begins to offer PCPU while guests with pinned processors run.

They had VCPU. From then on they have PCPU, or nothing changes: placement never
gives their processors away a second time.
"""

import pytest
from agents import NODE
from vgpu_cloud import allocate, allocated

from compute_agent.cycle import resource_tracker

PINNED, FLOATING, MIXED = (
    f'cccccccc-cccc-4ccc-8ccc-ccccccccccc{n}' for n in range(3)
)
SHARED_AND_DEDICATED = """[compute]
cpu_shared_set = 0-3
cpu_dedicated_set = 4-15
"""
DEDICATED_ONLY = """[compute]
cpu_dedicated_set = 4-15
"""
GUEST = """<domain type='kvm'>
  <uuid>{uuid}</uuid>
  <vcpu>4</vcpu>
  <cputune>{pins}</cputune>
</domain>
"""


@pytest.fixture
def host(tmp_path):
    """A host with 16 processors."""
    for path, text in {
        'proc/meminfo': 'MemTotal: 16777216 kB\n',
        'sys/devices/system/cpu/online': '0-15\n',
        'libvirt/host.yaml': 'hostname: node-1\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / 'libvirt/domains').mkdir()
    return tmp_path


def guest(host, uuid, *cpusets):
    pins = ''.join(
        f"<vcpupin vcpu='{n}' cpuset='{on}'/>" for n, on in enumerate(cpusets)
    )
    file = host / 'libvirt/domains' / f'{uuid}.xml'
    file.write_text(GUEST.format(uuid=uuid, pins=pins))


@pytest.fixture
def configured(restarted_on, host):
    """Return a function: the agent of the host, with these options."""
    return lambda text='': restarted_on(host, text)


@pytest.fixture
def in_use(placement, host, configured):
    """Two guests with VCPU, one of them pinned."""
    configured().done()
    allocate(placement, PINNED, {NODE: {'VCPU': 4, 'MEMORY_MB': 512}})
    allocate(placement, FLOATING, {NODE: {'VCPU': 3}})
    guest(host, PINNED, 4, 5, 6, 7)
    guest(host, FLOATING, *3 * ['0-15'])


def test_pinned_guests_have_pcpu_from_then_on(
    placement, operator, configured, in_use
):
    agent = configured(SHARED_AND_DEDICATED)
    agent.done()
    assert allocated(placement, PINNED, FLOATING) == {
        PINNED: {NODE: {'PCPU': 4, 'MEMORY_MB': 512}},
        FLOATING: {NODE: {'VCPU': 3}},
    }
    totals = {rc: r['total'] for rc, r in operator.inventories().items()}
    assert (totals['VCPU'], totals['PCPU']) == (4, 12)
    placement.clear()
    agent.done()
    agent.done()
    assert placement.writes == []


def test_the_plan_shows_what_becomes_of_a_guest(configured, in_use):
    agent = configured(SHARED_AND_DEDICATED)
    (result,) = agent.plan()
    text = '\n'.join(map(str, result.plan.operations))
    assert PINNED in repr(result.plan.operations)
    assert 'Reshape' in text or 'reshape' in text


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (
            lambda host: (host / f'libvirt/domains/{PINNED}.xml').unlink(),
            f'consumer {PINNED} has VCPU, and libvirt knows no such guest',
        ),
        (
            lambda host: guest(host, PINNED, 2, 3, 4, 5),
            (
                f'guest {PINNED} is pinned to processors 2-3, which are not in '
                '[compute] cpu_dedicated_set'
            ),
        ),
        (
            lambda host: (host / f'libvirt/domains/{PINNED}.xml').write_text(
                '<domain'
            ),
            f'the XML of {PINNED} cannot be parsed',
        ),
    ],
)
def test_what_is_not_known_for_certain_waits(
    placement, operator, host, configured, in_use, change, line
):
    change(host)
    before = operator.inventories(), allocated(placement, PINNED, FLOATING)
    (result,) = configured(SHARED_AND_DEDICATED).sync()
    assert result.status is not resource_tracker.Status.DONE
    assert line in result.reason
    after = operator.inventories(), allocated(placement, PINNED, FLOATING)
    assert after == before


def test_a_guest_that_would_have_no_processors_left_waits(
    placement, operator, configured, in_use
):
    agent = configured(DEDICATED_ONLY)
    (result,) = agent.sync()
    assert f'guest {FLOATING} without pinned processors' in result.reason
    assert 'PCPU' not in operator.inventories()
    placement.delete(f'/allocations/{FLOATING}')
    agent.done()
    assert set(operator.inventories()) >= {'PCPU', 'MEMORY_MB'}
    assert 'VCPU' not in operator.inventories()
    assert allocated(placement, PINNED)[PINNED][NODE]['PCPU'] == 4


def test_a_host_without_guests_changes_at_once(operator, host, configured):
    configured().done()
    (host / 'libvirt/domains').rmdir()
    configured(SHARED_AND_DEDICATED).done()
    assert operator.inventories()['PCPU']['total'] == 12


def test_events_of_guests_matter_while_a_move_waits(host, configured, in_use):
    guest(host, PINNED, 2, 3, 4, 5)
    agent = configured(SHARED_AND_DEDICATED)
    libvirt = agent.driver
    assert not libvirt._reshapes.waits
    agent.sync()
    assert libvirt._reshapes.waits
    guest(host, PINNED, 4, 5, 6, 7)
    agent.sync()
    assert not libvirt._reshapes.waits
