# SPDX-License-Identifier: Apache-2.0
"""``resource provider rename``: a host that is called otherwise goes on as it was."""

import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
OTHER = '33333333-3333-4333-8333-333333333333'
ONE = f'/resource_providers/{ROOT}'


@pytest.fixture
def renamed(cli):
    """A node that the driver calls cn2 since its last cycle."""
    assert cli.run('sync').code == 0
    text = cli.fake_file.read_text()
    cli.fake_file.write_text(text.replace('cn1', 'cn2'))
    return cli


def name(cli, uuid=ROOT):
    return cli.placement(f'/resource_providers/{uuid}')['name']


def test_a_node_is_called_what_its_driver_calls_it_and_goes_on(renamed):
    refused = renamed.run('sync')
    assert f'"compute-agent resource provider rename {ROOT}"' in refused.out
    assert name(renamed) == 'cn1'
    result = renamed.run('resource', 'provider', 'rename', 'cn1', '--yes')
    assert (result.code, result.err) == (0, '')
    assert result.out == f'renamed cn1 ({ROOT}) to cn2\n'
    after = renamed.run('sync')
    assert after.code == 0
    assert 'nothing to do' in after.out


def test_the_plan_says_what_others_will_see(renamed):
    renamed.others.create(CHILD, 'cn1-nic', ROOT)
    result = renamed.run('resource', 'provider', 'rename', ROOT)
    assert result.code == 1
    assert '--yes' in result.line
    assert f'rename provider cn1 ({ROOT}) to cn2' in result.out
    assert 'children keep their names: cn1-nic' in result.out
    assert name(renamed) == 'cn1'


def test_a_name_that_is_taken_is_refused_and_its_holder_named(renamed):
    renamed.others.create(OTHER, 'cn2')
    result = renamed.run('resource', 'provider', 'rename', 'cn1', '--yes')
    assert result.code == 1
    assert f'provider cn2 ({OTHER}) has it' in result.line


def test_a_child_keeps_its_parent(cli):
    cli.run('sync')
    cli.others.create(CHILD, 'nic', ROOT)
    data = cli.run(
        'resource', 'provider', 'rename', 'nic', 'nic0', '--yes', '-f', 'json'
    ).data
    assert data == {'uuid': CHILD, 'old_name': 'nic', 'name': 'nic0'}
    one = cli.placement(f'/resource_providers/{CHILD}')
    assert (one['name'], one['parent_provider_uuid']) == ('nic0', ROOT)


def test_another_s_provider_needs_a_name(cli):
    cli.others.create(OTHER, 'nfs')
    result = cli.run('resource', 'provider', 'rename', 'nfs', '--yes')
    assert result.code == 1
    assert 'NEW_NAME' in result.line


def test_a_name_moves_neither_cursor_nor_line(cli):
    cli.others.create(OTHER, 'nfs\n0')
    words = ('resource', 'provider', 'rename', OTHER, 'a\nb\x1b[31m')
    asked = cli.run(*words)
    assert 'a\\nb\\x1b[31m' in asked.out
    done = cli.run(*words, '--yes')
    assert done.out == f'renamed nfs\\n0 ({OTHER}) to a\\nb\\x1b[31m\n'
    assert name(cli, OTHER) == 'a\nb\x1b[31m'


def test_a_name_the_driver_does_not_use_is_refused(renamed):
    result = renamed.run(
        'resource', 'provider', 'rename', 'cn1', 'cn3', '--yes'
    )
    assert result.code == 1
    assert 'the driver calls this node cn2' in result.line
    assert name(renamed) == 'cn1'


def test_a_name_that_it_has_already_is_no_change(cli):
    cli.run('sync')
    result = cli.run('resource', 'provider', 'rename', 'cn1')
    assert (result.code, result.err) == (0, '')
    assert 'already has that name' in result.out


GPU = """
    children:
      - name: gpu
        inventories: {VGPU: 4}
"""


@pytest.fixture
def with_child(cli):
    """A node with a child that the driver names, and gives no uuid."""
    cli.fake_file.write_text(cli.fake_file.read_text() + GPU.lstrip('\n'))
    assert cli.run('sync').code == 0
    return cli


def test_a_child_keeps_the_name_that_its_driver_gives_it(with_child):
    result = with_child.run(
        'resource', 'provider', 'rename', 'gpu', 'card', '--yes'
    )
    assert result.code == 1
    assert 'the driver calls this provider gpu' in result.line


def test_a_child_that_was_renamed_may_get_its_name_again(with_child):
    uuid = with_child.providers()['gpu']
    with_child.placement(
        f'/resource_providers/{uuid}',
        'PUT',
        {'name': 'card', 'parent_provider_uuid': ROOT},
    )
    shown = with_child.run('resource', 'provider', 'rename', uuid, 'board')
    assert 'writes nothing for its node' in shown.out
    shown = with_child.run('resource', 'provider', 'rename', uuid, 'gpu')
    assert 'writes nothing for its node' not in shown.out
    assert (
        with_child.run(
            'resource', 'provider', 'rename', uuid, 'gpu', '--yes'
        ).code
        == 0
    )
    assert 'nothing to do' in with_child.run('sync').out


def test_no_such_provider_and_no_such_name_are_said(cli):
    assert (
        'no provider is called cn9'
        in cli.run('resource', 'provider', 'rename', 'cn9', 'cn8').line
    )
    cli.others.create(OTHER, 'nfs')
    assert (
        cli.run(
            'resource', 'provider', 'rename', 'nfs', 'x' * 300, '--yes'
        ).code
        == 1
    )
    assert name(cli, OTHER) == 'nfs'
