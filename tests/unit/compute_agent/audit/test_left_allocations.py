# SPDX-License-Identifier: Apache-2.0
"""Allocations that an evacuation left go only if nova proves it."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

from compute_agent.audit import cloud

VM = uuid_of('vm')
USED = {VM: {'VCPU': 1}}


@pytest.fixture
def evacuated():
    """A server that nova evacuated from cn1 to cn2, and that uses both."""
    made = Cloud()
    for name in ('cn1', 'cn2'):
        made.hypervisor(name)
        made.root(name, inventories={'VCPU': {'total': 8}}, allocations=USED)
    made.child(
        'cn1_gpu',
        uuid_of('cn1'),
        traits=['CUSTOM_SOME'],
        inventories={'VGPU': {'total': 1}},
        allocations={VM: {'VGPU': 1}},
    )
    made.root(
        'pool', marked=False, traits=['MISC_SHARES_VIA_AGGREGATE'],
        inventories={'DISK_GB': {'total': 9}},
        allocations={VM: {'DISK_GB': 1}},
    )  # fmt: skip
    made.sharing.add(uuid_of('pool'))
    settle(made)
    return made


def settle(made, **more):
    home = {'host': 'cn2', 'is_settled': True, 'evacuated': frozenset({'cn1'})}
    made.nova = {
        'known_consumers': frozenset({VM}),
        'homes': {VM: cloud.Home(**(home | more))},
    }


def test_what_is_left_is_found_and_taken_off_the_old_host_alone(evacuated):
    one = evacuated.one(Kind.LEFT_ALLOCATIONS)
    assert one.level is Level.FINDING
    assert one.why == 'nova evacuated this server to cn2'
    assert one.repair.host.name == 'cn1'
    assert set(one.repair.providers) == {uuid_of('cn1'), uuid_of('cn1_gpu')}


@pytest.mark.catches('allocations leave a host without the proof of nova')
@pytest.mark.parametrize(
    'more',
    [
        {'is_settled': False},
        {'evacuated': frozenset()},
        {'evacuated': frozenset({'cn9'})},
    ],
)
def test_without_a_proof_it_is_unknown(evacuated, more):
    settle(evacuated, **more)
    one = evacuated.one(Kind.LEFT_ALLOCATIONS)
    assert (one.level, one.repair) == (Level.UNKNOWN, None)


def test_the_domain_of_a_host_does_not_matter(evacuated):
    settle(evacuated, host='cn2.a', evacuated=frozenset({'cn1.a'}))
    assert evacuated.one(Kind.LEFT_ALLOCATIONS).repair


def test_a_server_that_is_on_a_third_host_is_left_to_a_person(evacuated):
    settle(evacuated, host='cn3')
    assert evacuated.found(Kind.LEFT_ALLOCATIONS) == []


def test_a_server_of_which_nova_tells_no_host_has_no_result(evacuated):
    evacuated.nova['homes'] = {}
    assert evacuated.found() == []
