# SPDX-License-Identifier: Apache-2.0
"""plan and sync where very much would go at once, and somebody agrees."""

import os_traits
import pytest
import yaml

ROOT = '11111111-1111-4111-8111-111111111111'
MANY = sorted(os_traits.get_traits(prefix='HW_'))[:70]
WAITS = (
    'waits for approval, as each removal does ([compute_agent] '
    'max_removed_percent = 0)'
)


@pytest.fixture
def losing(cli):
    """A command line whose driver has forgotten its traits."""
    cli.configure(agent={'max_removed_percent': 0})
    cli.describe_node(ROOT, MANY)
    assert cli.run('sync').code == 0
    cli.describe_node(ROOT, [])
    return cli


def test_a_plan_shows_what_it_would_be_and_why_it_is_not_done(losing):
    result = losing.run('plan')
    assert result.code == 1
    why = f'remove trait {MANY[4]} from cn1 ({ROOT}) and 65 more: {WAITS}'
    assert why in result.out
    (node,) = losing.run('plan', '-f', 'json').data
    assert why in node['faults'][0]
    assert node['operations'] == []


def test_sync_wants_a_yes(losing):
    result = losing.run('sync')
    assert result.code == 1
    assert f'remove trait {MANY[4]} from cn1 and 65 more: {WAITS}' in (
        result.out
    )
    agreed = losing.run('sync', '--yes')
    assert agreed.code == 0
    assert agreed.out.startswith('approved: 70 changes\n')
    assert f'-{MANY[0]}' in agreed.out
    assert losing.run('plan').code == 0


OTHER = '22222222-2222-4222-8222-222222222222'


def test_sync_allows_the_departure_of_a_node_that_it_names(cli):
    nodes = [
        {'name': name, 'uuid': uuid, 'inventories': {'VCPU': 4}}
        for name, uuid in (('cn1', ROOT), ('cn2', OTHER))
    ]
    cli.configure(agent={'max_removed_percent': 0})
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))
    assert cli.run('sync').code == 0
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes[:1]}))
    agreed = cli.run('sync', 'cn2', '--yes')
    assert agreed.code == 0
    assert agreed.out.startswith('approved: 1 change\n')
    assert f'delete cn2 ({OTHER})' in agreed.out
    left = cli.placement('/resource_providers')['resource_providers']
    assert [one['name'] for one in left] == ['cn1']
    unknown = cli.run('sync', 'cn9', '--yes')
    assert unknown.line.startswith(
        'compute-agent: no node cn9 is among those of the driver'
    )


def test_a_first_write_that_waits_is_planned_as_waiting(cli):
    cli.others.create(ROOT, 'cn1')
    cli.others.set_inventories(ROOT, {'VCPU': {'total': 4}})
    cli.describe_node(ROOT, MANY[:1])
    planned = cli.run('plan')
    assert planned.code == 1
    assert f'  set traits of cn1 ({ROOT}) (waits)\n' in planned.out
    assert '\n  2 operations wait\n' in planned.out
    (node,) = cli.run('plan', '-f', 'json').data
    assert [op['waits'] for op in node['operations']] == [True, True]
