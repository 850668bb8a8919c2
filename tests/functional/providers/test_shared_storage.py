# SPDX-License-Identifier: Apache-2.0
"""Seed 000, scenario 2: shared storage, set up by command line.

The commands are the seed's, step by step; ``STORAGE_SSD`` is called
``STORAGE_DISK_SSD`` now, and what is shared says ``MISC_SHARES_VIA_AGGREGATE``.
"""

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARE = '/mnt/nfs/row1racks0610/'


def done(result):
    assert (result.code, result.err) == (0, '')
    return result


def test_shared_storage_by_command_line_is_seen_from_a_compute_node(cli):
    done(cli.run('sync'))
    # 1) an aggregate of the compute nodes in row 1
    done(cli.run('resource', 'provider', 'aggregate', 'add', 'cn1', AGGREGATE))
    # 2) a provider for the share, associated with the aggregate
    words = (
        'resource',
        'provider',
        'create',
        SHARE,
        '--aggregate',
        AGGREGATE,
    )
    share = done(cli.run(*words, '-f', 'json')).data['uuid']
    # 3) its capacity of shared disk
    made = cli.run(
        *('resource', 'provider', 'inventory', 'class', 'set', share),
        *('DISK_GB', '--total=100000'),
        *('--reserved=1000', '--min_unit=50', '--max_unit=10000'),
        *('--step_size=10', '--allocation_ratio=1.0'),
    )
    assert made.code == 0, made.err
    # 4) the trait, whose name the seed has for demonstration
    old = cli.run('resource', 'provider', 'trait', 'add', share, 'STORAGE_SSD')
    assert 'did you mean STORAGE_DISK_SSD?' in old.line
    traits = ('STORAGE_DISK_SSD', 'MISC_SHARES_VIA_AGGREGATE')
    done(cli.run('resource', 'provider', 'trait', 'add', share, *traits))

    seen(cli, share)
    # The agent leaves what operators did alone.
    done(cli.run('sync'))
    done(cli.run('plan'))
    seen(cli, share)


def seen(cli, share):
    """See the share beside the compute node, and in its candidates."""
    tree = done(cli.run('tree', 'show', 'cn1', '-f', 'json')).data[0]
    node, shared = sorted(tree['providers'], key=lambda p: p['name'] == SHARE)
    assert node['aggregates'] == [AGGREGATE]
    assert shared == {
        'uuid': share,
        'name': SHARE,
        'parent': None,
        'generation': shared['generation'],
        'inventories': {
            'DISK_GB': {
                'total': 100000,
                'reserved': 1000,
                'min_unit': 50,
                'max_unit': 10000,
                'step_size': 10,
                'allocation_ratio': 1.0,
            }
        },
        'traits': ['MISC_SHARES_VIA_AGGREGATE', 'STORAGE_DISK_SSD'],
        'aggregates': [AGGREGATE],
        'set_aside': None,
    }
    assert f'{SHARE} ({share})' in done(cli.run('tree', 'show', 'cn1')).out
    asked = 'resources=VCPU:1,DISK_GB:50&required=STORAGE_DISK_SSD'
    found = cli.placement(f'/allocation_candidates?{asked}')
    (request,) = found['allocation_requests']
    assert set(request['allocations']) == {node['uuid'], share}


def test_a_share_that_is_taken_down_is_gone_from_the_tree(cli):
    done(cli.run('sync'))
    done(cli.run('resource', 'provider', 'aggregate', 'add', 'cn1', AGGREGATE))
    done(
        cli.run(
            'resource', 'provider', 'create', SHARE, '--aggregate', AGGREGATE
        )
    )
    trait = 'MISC_SHARES_VIA_AGGREGATE'
    done(cli.run('resource', 'provider', 'trait', 'add', SHARE, trait))
    assert SHARE in done(cli.run('tree', 'show', 'cn1')).out
    done(cli.run('resource', 'provider', 'delete', SHARE))
    done(
        cli.run(
            'resource', 'provider', 'aggregate', 'remove', 'cn1', AGGREGATE
        )
    )
    assert SHARE not in done(cli.run('tree', 'show', 'cn1')).out
