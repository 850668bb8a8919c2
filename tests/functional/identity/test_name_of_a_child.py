# SPDX-License-Identifier: Apache-2.0
"""A child or a pool whose name another provider has in another tree."""

import pytest
import yaml

NODE = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'
TAKEN = '33333333-3333-4333-8333-333333333333'
POOL = '44444444-4444-4444-8444-444444444444'


def describe(cli, name, *, is_pool):
    node = {'name': 'cn1', 'uuid': NODE, 'inventories': {'VCPU': 8}}
    one = {'name': name, 'inventories': {'VGPU': 2}}
    given = {'nodes': [node]}
    if is_pool:
        given['sharing_providers'] = [{**one, 'uuid': POOL}]
    else:
        node['children'] = [one]
    cli.fake_file.write_text(yaml.safe_dump(given))


@pytest.mark.parametrize('is_pool', [False, True])
@pytest.mark.parametrize('below', [None, OTHER])
@pytest.mark.parametrize('way', ['rename', 'delete', 'another'])
def test_the_advice_leads_out(cli, is_pool, below, way):
    cli.others.create(OTHER, 'cn2')
    cli.others.create(TAKEN, 'gpu0', parent_uuid=below)
    describe(cli, 'gpu0', is_pool=is_pool)
    said = cli.run('sync').out
    place = f'is in the tree of {below}' if below else 'is a root'
    which = ': if both are the same pool' if is_pool else f', which {place}: '
    assert f'gpu0 belongs to provider {TAKEN} in placement{which}' in said
    assert 'resource provider adopt' not in said
    match way:
        case 'rename':
            assert f'resource provider rename {TAKEN} NEW_NAME' in said
            done = cli.run(
                'resource', 'provider', 'rename', TAKEN, 'theirs', '--yes'
            )
        case 'delete':
            assert f'resource provider delete {TAKEN}' in said
            done = cli.run('resource', 'provider', 'delete', TAKEN)
        case 'another':
            describe(cli, 'cn1_gpu0', is_pool=is_pool)
            done = cli.run('plan')
            done = cli.run('sync')
    assert done.code == 0, done.err
    assert cli.run('sync').code == 0
    name = 'cn1_gpu0' if way == 'another' else 'gpu0'
    found = cli.others.inventories(cli.providers()[name])
    assert found['VGPU']['total'] == 2
