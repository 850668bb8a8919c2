# SPDX-License-Identifier: Apache-2.0
"""The size of a volume group or a pool is read strictly."""

import json

import pytest

from compute_agent import errors
from compute_agent.tree import provider
from compute_agent.tree.inventory import Inventory
from drivers.libvirt.inventory import disk

GIB = disk.BYTES_PER_GIB


def df(**stats):
    return json.dumps({'pools': [{'name': 'vms', 'stats': stats}]})


def test_a_pool_is_what_is_stored_and_what_fits_beside_it():
    answer = df(stored=30 * GIB, max_avail=70 * GIB + 5, bytes_used=90 * GIB)
    assert disk.pool_gib(answer, 'vms') == 100


@pytest.mark.parametrize(
    ('answer', 'message'),
    [
        ('', 'cannot be read'),
        ('[]', 'cannot be read'),
        ('{"pools": [1]}', 'cannot be read'),
        ('[' * 100_000, 'cannot be read'),
        (df(stored=1), '"stored" and "max_avail" of pool vms'),
        (df(stored=1, max_avail='1'), '"stored" and "max_avail"'),
        (df(stored=1, max_avail=-1), '"stored" and "max_avail"'),
        (df(stored=1.5, max_avail=1), '"stored" and "max_avail"'),
        (df(stored=True, max_avail=1), '"stored" and "max_avail"'),
        ('{"pools": []}', 'lists no pool vms'),
        ('{"pools": [{"name": "vms", "stats": null}]}', 'lists no pool vms'),
    ],
)
def test_another_answer_of_ceph_is_an_error(answer, message):
    with pytest.raises(errors.DriverError) as failed:
        disk.pool_gib(answer, 'vms')
    assert message in str(failed.value)


def test_a_volume_group_is_whole_gib():
    assert disk.group_gib(f'  {9 * GIB - 1}\n', 'vg') == 8


@pytest.mark.parametrize('answer', ['', '\n', '9g', '1 2', '-1', '1.5'])
def test_another_answer_of_vgs_is_an_error(answer):
    with pytest.raises(errors.DriverError, match='volume group vg'):
        disk.group_gib(answer, 'vg')


def test_the_commands_name_the_group_and_the_cluster():
    options = disk.Options(
        volume_group='vg', ceph_user='nova', ceph_conf='/etc/ceph/a.conf'
    )
    assert disk.vgs_command(options)[-1] == 'vg'
    assert disk.ceph_command(options)[-4:] == (
        '--id',
        'nova',
        '--conf',
        '/etc/ceph/a.conf',
    )
    assert '--id' not in disk.ceph_command(disk.Options())


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'images_type': 'lvm'}, 'needs .libvirt. images_volume_group'),
        ({'volume_group': '--all'}, 'begins with a dash'),
        ({'pool': '-p'}, 'begins with a dash'),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(options, message):
    with pytest.raises(errors.ConfigError, match=message):
        disk.Options(**options)


@pytest.mark.parametrize(
    ('now', 'before', 'reported'),
    [
        (1000, None, 1000),
        (1000, 1009, 1009),
        (1000, 991, 991),
        (1000, 1011, 1000),
        (1000, 900, 1000),
        (0, 5, 0),
        (50, 51, 50),
    ],
)
def test_a_pool_s_total_stays_while_it_is_nearly_right(now, before, reported):
    current = None if before is None else {'total': before}
    assert disk.steady(now, current) == reported


SHARED = '99999999-9999-4999-8999-999999999999'
OURS = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'


def share(rc='DISK_GB', trait='MISC_SHARES_VIA_AGGREGATE', aggregate=OURS):
    return provider.Provider(
        uuid=SHARED,
        name='nfs',
        generation=1,
        inventories={rc: Inventory(total=5000)},
        traits=frozenset([trait]),
        aggregates=frozenset([aggregate]),
    )


def test_a_sharing_provider_in_an_aggregate_of_the_host_is_seen(seen):
    assert disk.is_shared(seen({}, [OURS], [share()]), 'compute1')


@pytest.mark.parametrize(
    'other',
    [
        share(rc='IPV4_ADDRESS'),
        share(trait='CUSTOM_GOLD'),
        share(aggregate=OTHER),
    ],
)
def test_another_provider_shares_no_disk(seen, other):
    assert not disk.is_shared(seen({}, [OURS], [other]), 'compute1')
