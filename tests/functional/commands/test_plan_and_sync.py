# SPDX-License-Identifier: Apache-2.0
"""plan prints what sync sends; exit codes say how it went."""

from compute_agent.cmd.app import main

ROOT = '11111111-1111-4111-8111-111111111111'


def test_a_plan_on_a_new_placement_is_readable_and_exits_2(cli):
    result = cli.run('plan')
    assert result.code == 2
    assert result.out.splitlines() == [
        f'cn1 ({ROOT})',
        '  create trait CUSTOM_GOLD',
        f'  create provider cn1 ({ROOT})',
        f'  set traits of cn1 ({ROOT})',
        '      +COMPUTE_NODE  +CUSTOM_GOLD  +HW_CPU_X86_AVX2  +OWNER_NOVA',
        f'  set inventories of cn1 ({ROOT})',
        '      +MEMORY_MB 4096 reserved=512  +VCPU 8 allocation_ratio=4',
        '  4 operations',
    ]
    assert cli.providers() == {}


def test_a_plan_as_data_is_the_same_plan(cli):
    (node,) = cli.run('plan', '-f', 'json').data
    assert [op['operation'] for op in node['operations']] == [
        'create_trait',
        'create_provider',
        'set_traits',
        'set_inventories',
    ]
    assert node['operations'][2]['added'] == [
        'COMPUTE_NODE',
        'CUSTOM_GOLD',
        'HW_CPU_X86_AVX2',
        'OWNER_NOVA',
    ]


def test_sync_does_what_plan_printed_and_then_there_is_nothing_to_do(cli):
    planned = cli.run('plan', '-f', 'json').data[0]['operations']
    (synced,) = cli.run('sync', '-f', 'json').data
    assert synced['status'] == 'done'
    assert synced['operations'] == planned
    again = cli.run('plan')
    assert (again.code, again.out.splitlines()[-1]) == (0, '  nothing to do')
    assert cli.run('sync').out == f'cn1 ({ROOT}): done, nothing to do\n'


def test_a_driver_s_change_is_planned_and_synced(cli):
    cli.run('sync')
    cli.fake_file.write_text(
        cli.fake_file.read_text().replace('CUSTOM_GOLD', 'CUSTOM_SILVER')
    )
    planned = cli.run('plan')
    assert planned.code == 2
    assert '+CUSTOM_SILVER  -CUSTOM_GOLD' in planned.out
    assert cli.run('sync').code == 0
    answer = cli.placement(f'/resource_providers/{ROOT}/traits')
    assert 'CUSTOM_SILVER' in answer['traits']
    assert 'CUSTOM_GOLD' not in answer['traits']


def test_global_options_are_taken_before_and_after_the_command(cli):
    for words in (
        ['--config-file', str(cli.config), 'plan'],
        ['plan', '--config-file', str(cli.config)],
        ['plan', f'--config-file={cli.config}', '-f', 'json'],
    ):
        assert main.main(words) == 2


def test_the_tree_is_shown_as_placement_holds_it(cli):
    assert 'not in placement yet' in cli.run('tree', 'show').out
    cli.run('sync')
    shown = cli.run('tree', 'show', 'cn1')
    assert shown.code == 0
    assert 'VCPU: 8, ratio 4' in shown.out
    (node,) = cli.run('tree', 'show', ROOT, '-f', 'json').data
    assert node['providers'][0]['inventories']['VCPU']['total'] == 8


def test_a_refused_operation_fails_its_node_and_the_command(cli):
    cli.others.create('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'cn1')
    result = cli.run('sync')
    assert result.code == 1
    assert 'the name cn1 belongs to provider aaaaaaaa' in result.out
