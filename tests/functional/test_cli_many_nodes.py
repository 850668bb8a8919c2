# SPDX-License-Identifier: Apache-2.0
"""Many nodes on the command line: those with news, and a sum."""

import pytest
import yaml

COUNT = 30


def write(cli, changed=(), count=COUNT):
    nodes = [
        {
            'name': f'cn{number}',
            'uuid': f'{number:08}-1111-4111-8111-111111111111',
            'inventories': {'VCPU': 9 if number in changed else 8},
            'traits': ['CUSTOM_GOLD'],
        }
        for number in range(count)
    ]
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))


@pytest.fixture
def many(cli):
    write(cli)
    cli.configure(host=None)
    return cli


def test_a_plan_groups_by_node_and_sums_up(many):
    assert many.run('plan').out.splitlines()[-1] == (
        '30 of 30 nodes change; create provider 30, create trait 1, set '
        'inventories 30, set traits 30'
    )
    many.run('sync')
    write(many, changed={3, 4})
    result = many.run('plan')
    assert result.code == 2
    lines = result.out.splitlines()
    assert [line for line in lines if line.startswith('cn')] == [
        f'cn{n} ({n:08}-1111-4111-8111-111111111111)' for n in (3, 4)
    ]
    assert lines[-1] == '2 of 30 nodes change; set inventories 2'
    assert len(many.run('plan', '-f', 'json').data) == COUNT


def test_nothing_to_do_is_one_line(many):
    many.run('sync')
    result = many.run('plan')
    assert (result.code, result.out) == (0, '30 nodes: nothing to do\n')
    assert many.run('sync').out == '30 nodes: 30 done; 0 operations\n'


def test_a_sync_shows_the_nodes_with_news_and_sums_up(many):
    many.run('sync')
    write(many, changed={7})
    assert many.run('sync').out.splitlines() == [
        'cn7 (00000007-1111-4111-8111-111111111111): done',
        (
            '  set inventories of cn7 (00000007-1111-4111-8111-111111111111):'
            ' ~VCPU total=8→9'
        ),
        '30 nodes: 30 done; 1 operation',
    ]


def test_many_that_are_gone_need_consent(many):
    many.run('sync')
    write(many, count=COUNT - 12)
    planned = many.run('plan')
    assert planned.code == 1
    assert planned.err == ''
    assert planned.out.count('not done: waits for confirmation') == 12
    assert planned.out.endswith(
        '12 of 30 nodes change; delete provider 12; 12 not done\n'
    )
    synced = many.run('sync')
    assert synced.code == 1
    assert '30 nodes: 18 done, 12 failed; 0 operations' in synced.out
    agreed = many.run('sync', '--yes')
    assert (agreed.code, agreed.err) == (0, '')
    assert agreed.out.endswith('30 nodes: 30 done; 12 operations\n')
    left = many.placement('/resource_providers')['resource_providers']
    assert len(left) == COUNT - 12
