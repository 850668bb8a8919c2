# SPDX-License-Identifier: Apache-2.0
"""Allocated inventory moves, from the fake driver's file to placement."""

ROOT = '11111111-1111-4111-8111-111111111111'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-ccccccccccc{}'
BEFORE = f"""\
nodes:
  - name: cn1
    uuid: {ROOT}
    inventories:
      VCPU: 8
      VGPU: 4
"""
AFTER = f"""\
nodes:
  - name: cn1
    uuid: {ROOT}
    moves: [VGPU]
    inventories:
      VCPU: 8
    children:
      - name: cn1_gpu0
        inventories: {{VGPU: 2}}
      - name: cn1_gpu1
        inventories: {{VGPU: 2}}
"""


def allocate(cli, number, **resources):
    cli.others.allocate(ROOT, CONSUMER.format(number), resources)


def in_use(cli):
    cli.fake_file.write_text(BEFORE)
    assert cli.run('sync').code == 0
    allocate(cli, 0, VGPU=1, VCPU=1)
    allocate(cli, 1, VGPU=2)
    cli.fake_file.write_text(AFTER)


def has(cli, number):
    names = {uuid: name for name, uuid in cli.providers().items()}
    path = f'/allocations/{CONSUMER.format(number)}'
    parts = cli.placement(path)['allocations']
    return {names[uuid]: part['resources'] for uuid, part in parts.items()}


def test_plan_shows_the_move_and_sync_makes_it(cli):
    in_use(cli)
    planned = cli.run('plan')
    assert planned.code == 2
    lines = planned.out.splitlines()
    at = lines.index(f'  reshape cn1 ({ROOT})')
    assert '  '.join(line.strip() for line in lines[at + 1 : -1]) == (
        '3 VGPU from cn1 (2 consumers)  1 VGPU to cn1_gpu0 (1 consumer)  '
        '2 VGPU to cn1_gpu1 (1 consumer)  '
        'cn1: -VGPU (the driver no longer reports it)  '
        'cn1_gpu0: +VGPU 2  cn1_gpu1: +VGPU 2'
    )
    assert has(cli, 1) == {'cn1': {'VGPU': 2}}
    assert cli.run('sync').code == 0
    assert has(cli, 0) == {'cn1': {'VCPU': 1}, 'cn1_gpu0': {'VGPU': 1}}
    assert has(cli, 1) == {'cn1_gpu1': {'VGPU': 2}}
    assert cli.run('plan').code == 0


def test_as_data_each_consumer_is_shown(cli):
    in_use(cli)
    (node,) = cli.run('plan', '-f', 'json').data
    (reshape,) = [
        one for one in node['operations'] if one['operation'] == 'reshape'
    ]
    assert [one['consumer'] for one in reshape['consumers']] == [
        CONSUMER.format(0),
        CONSUMER.format(1),
    ]
    assert reshape['consumers'][1]['before'] == {ROOT: {'VGPU': 2}}
    (after,) = reshape['consumers'][1]['after'].values()
    assert after == {'VGPU': 2}


def test_without_room_for_a_guest_nothing_is_done(cli):
    in_use(cli)
    cli.fake_file.write_text(AFTER.replace('VGPU: 2', 'VGPU: 1'))
    result = cli.run('sync')
    assert result.code == 1
    said = f'has room for the 2 VGPU of consumer {CONSUMER.format(1)}'
    assert said in result.out + result.err
    assert list(cli.providers()) == ['cn1']


def test_a_class_that_the_file_does_not_let_move_is_reserved(cli):
    in_use(cli)
    cli.fake_file.write_text(AFTER.replace('moves: [VGPU]', 'moves: []'))
    assert cli.run('sync').code == 1
    path = f'/resource_providers/{ROOT}/inventories'
    record = cli.placement(path)['inventories']['VGPU']
    assert record['reserved'] == record['total'] == 4
    assert has(cli, 1) == {'cn1': {'VGPU': 2}}


def test_what_moves_is_a_list_of_resource_classes(cli):
    cli.fake_file.write_text(AFTER.replace('moves: [VGPU]', 'moves: [vgpu]'))
    result = cli.run('plan')
    assert result.code == 1
    assert "resource class 'vgpu'" in result.err
