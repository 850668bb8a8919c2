# SPDX-License-Identifier: Apache-2.0
"""Many nodes on the command line: those with news, and a sum."""

import pytest
import yaml

pytestmark = pytest.mark.long

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


def test_equal_plans_are_printed_once_unless_all_are_asked_for(many):
    shown = many.run('plan')
    titles = [line for line in shown.out.splitlines() if line[0:2] == 'cn']
    assert titles == ['cn0 (00000000-1111-4111-8111-111111111111)']
    assert (
        '  the same for 29 other nodes: '
        'cn1 (00000001-1111-4111-8111-111111111111), '
        'cn2 (00000002-1111-4111-8111-111111111111), '
        'cn3 (00000003-1111-4111-8111-111111111111) and 26 more '
        '(--all prints each plan)'
    ) in shown.out
    every = many.run('plan', '--all')
    assert every.code == shown.code == 2
    titles = [line for line in every.out.splitlines() if line[0:2] == 'cn']
    assert len(titles) == COUNT
    assert shown.out.splitlines()[-1] == every.out.splitlines()[-1]
    assert len(many.run('plan', '-f', 'json').data) == COUNT


def test_of_many_different_plans_the_first_are_printed(many):
    many.run('sync')
    nodes = yaml.safe_load(many.fake_file.read_text())['nodes']
    for number, node in enumerate(nodes[:12]):
        node['inventories'] = {'VCPU': 100 + max(number, 2)}
    many.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))
    shown = many.run('plan').out
    titles = [line for line in shown.splitlines() if line[0:2] == 'cn']
    assert [title.partition(' ')[0] for title in titles] == [
        *('cn0', 'cn3', 'cn4', 'cn5', 'cn6')
    ]
    assert '  the same for 2 other nodes: cn1 (00000001-' in shown
    assert (
        '5 more, for 5 nodes, are not printed; --all prints each plan'
    ) in shown


def test_a_node_can_be_planned_and_synchronized_alone(many):
    """Nodes that are not asked for, or left the list, stay as they are."""
    many.run('sync')
    write(many, changed=range(COUNT - 1), count=COUNT - 1)
    uuid = '00000004-1111-4111-8111-111111111111'
    shown = many.run('plan', 'cn3', uuid.upper()).out
    assert shown.splitlines()[-1] == '2 of 2 nodes change; set inventories 2'
    synced = many.run('sync', 'cn3', uuid, '-f', 'json')
    assert [each['node'] for each in synced.data] == ['cn3', 'cn4']
    assert synced.code == 0
    last = '/resource_providers?name=cn29'
    assert many.placement(last)['resource_providers']
    rest = many.run('plan')
    assert rest.out.splitlines()[-1] == (
        '28 of 30 nodes change; delete provider 1, set inventories 27'
    )


@pytest.mark.parametrize('command', ['plan', 'sync', 'probe'])
def test_a_node_that_is_not_there_is_one_line_with_near_names(many, command):
    result = many.run(command, 'cn1', 'cm12')
    assert result.code == 1
    assert result.line == (
        'compute-agent: no node cm12 is among those of the driver; did you '
        'mean cn12?'
    )
    assert many.providers() == {}


def test_probe_shows_only_the_nodes_that_are_asked_for(many):
    uuid = '00000004-1111-4111-8111-111111111111'
    data = many.run('probe', 'cn3', uuid, '-f', 'json').data
    assert [each['node'] for each in data] == ['cn3', 'cn4']


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
    planned = many.run('plan', '--all')
    assert planned.code == 1
    assert planned.err == ''
    assert planned.out.count(': waits for approval, because') == 12
    assert '12 of 30 nodes change; set inventories 12; 12 not done\n' in (
        planned.out
    )
    assert '\n12 changes of 12 nodes wait for approval: delete cn18 ' in (
        planned.out
    )
    synced = many.run('sync')
    assert synced.code == 1
    assert '30 nodes: 18 done, 12 waiting; 12 operations' in synced.out
    agreed = many.run('sync', '--yes')
    assert (agreed.code, agreed.err) == (0, '')
    assert agreed.out.endswith(
        '30 nodes: 30 done; 12 operations (delete provider 12); -f json has '
        'each node\n'
    )
    assert len(many.providers()) == COUNT - 12
