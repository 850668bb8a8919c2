# SPDX-License-Identifier: Apache-2.0
"""plan and sync where very much would go at once, and somebody agrees."""

import os_traits
import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
MANY = sorted(os_traits.get_traits(prefix='HW_'))[:70]
WAITS = (
    'waits for confirmation, because the whole cycle would remove more than '
    '20 % of all names ([compute_agent] max_removed_percent)'
)


@pytest.fixture
def losing(cli):
    """A command line whose driver has forgotten its traits."""
    cli.describe_node(ROOT, MANY)
    assert cli.run('sync').code == 0
    cli.describe_node(ROOT, [])
    return cli


def test_a_plan_shows_what_it_would_be_and_why_it_is_not_done(losing):
    result = losing.run('plan')
    assert result.code == 1
    assert f'-{MANY[0]}' in result.out
    assert f'  not done: {WAITS}' in result.out
    (node,) = losing.run('plan', '-f', 'json').data
    assert node['faults'][0].startswith(WAITS)
    assert len(node['operations'][0]['removed']) == len(MANY)


def test_sync_wants_a_yes(losing):
    result = losing.run('sync')
    assert result.code == 1
    assert WAITS in result.out
    agreed = losing.run('sync', '--yes')
    assert agreed.code == 0
    assert f'-{MANY[0]}' in agreed.out
    assert losing.run('plan').code == 0
