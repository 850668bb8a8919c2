# SPDX-License-Identifier: Apache-2.0
"""``compute-agent leave`` takes off what this agent added, and nothing else."""

import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
CONSUMER = '55555555-5555-4555-8555-555555555555'
FAKE = f"""
nodes:
  - name: cn1
    uuid: {ROOT}
    traits: [CUSTOM_GOLD, CUSTOM_THEIRS]
    children:
      - name: card
        inventories: {{CUSTOM_FPGA: 2}}
        traits: [CUSTOM_FAST]
"""


@pytest.fixture
def companion(cli):
    """A companion that added a trait and a child to nova's root."""
    cli.others.create(ROOT, 'cn1')
    cli.others.set_inventories(ROOT, {'VCPU': {'total': 8}})
    cli.others.add_traits(ROOT, 'COMPUTE_NODE', 'OWNER_NOVA', 'CUSTOM_THEIRS')
    cli.fake_file.write_text(FAKE)
    cli.configure(agent={'mode': 'companion'})
    assert cli.run('sync').code == 0
    assert names(cli) == {'cn1', 'card'}
    return cli


def names(cli):
    return set(cli.providers())


def traits(cli):
    return cli.others.traits(ROOT)


def test_leaving_takes_off_the_child_and_the_agent_s_own_names(companion):
    left = companion.run('leave', '--yes')
    assert (left.code, left.err) == (0, '')
    assert left.out.startswith(f'cn1 ({ROOT}): left\n')
    assert (
        'these custom names stay in placement, because flavors and other hosts '
        'may use them: CUSTOM_FAST, CUSTOM_FPGA, CUSTOM_GOLD; "compute-agent '
        'audit" finds the names that nobody uses'
    ) in left.out
    assert names(companion) == {'cn1'}
    assert traits(companion) == {'COMPUTE_NODE', 'OWNER_NOVA', 'CUSTOM_THEIRS'}
    found = companion.placement(f'/resource_providers/{ROOT}/inventories')
    assert set(found['inventories']) == {'VCPU'}
    assert companion.run('state', 'show', '-f', 'json').data == []
    # As nova does after it.
    companion.others.delete(ROOT)


def test_without_a_yes_it_shows_the_plan_and_writes_nothing(companion):
    asked = companion.run('leave')
    assert asked.code == 1
    assert 'add --yes' in asked.line
    assert 'delete provider card' in asked.out
    assert '-CUSTOM_GOLD (the agent leaves the node)' in asked.out
    assert 'is gone' not in asked.out
    assert names(companion) == {'cn1', 'card'}
    assert 'CUSTOM_GOLD' in traits(companion)


def test_a_child_with_allocations_stays_and_one_line_says_so(companion):
    card = companion.providers()['card']
    companion.others.allocate(card, CONSUMER, {'CUSTOM_FPGA': 1})
    left = companion.run('leave', '--yes')
    assert left.code == 1
    assert f'it is allocated to {CONSUMER}' in left.out
    assert names(companion) == {'cn1', 'card'}
    assert 'CUSTOM_GOLD' not in traits(companion)
    companion.placement(f'/allocations/{CONSUMER}', 'DELETE')
    assert companion.run('leave', '--yes').code == 0
    assert names(companion) == {'cn1'}


def test_it_needs_neither_the_driver_s_answer_nor_a_root(companion):
    companion.others.delete(companion.providers()['card'])
    companion.others.delete(ROOT)
    left = companion.run('leave')
    assert (left.code, left.err) == (0, '')
    assert 'nothing of this agent is recorded' in left.out
    assert companion.run('leave').out == 'no node is recorded\n'


def test_an_owner_leaves_its_own_root_too(cli):
    assert cli.run('sync').code == 0
    assert cli.run('leave', 'cn1', '--yes').code == 0
    assert names(cli) == set()


def test_it_does_not_run_beside_a_daemon(companion, daemon):
    running = daemon(companion.config)
    running.wait_for('describes the node')
    refused = companion.run('leave', '--yes')
    assert refused.code == 1
    assert 'stop the daemon first' in refused.line
    running.end()


@pytest.mark.parametrize(
    'words',
    [
        ('resource', 'provider', 'adopt', 'cn1'),
        ('resource', 'provider', 'rename', 'cn1', 'cn2'),
    ],
)
def test_nova_s_root_is_neither_adopted_nor_renamed(companion, words):
    refused = companion.run(*words, '--yes')
    assert refused.code == 1
    assert "is nova-compute's with [compute_agent] mode" in refused.line
    assert names(companion) == {'cn1', 'card'}


@pytest.mark.parametrize('wrong', ['rules', 'driver file', 'provider config'])
def test_a_mistake_in_a_driver_s_files_does_not_keep_a_host(companion, wrong):
    if wrong == 'rules':
        companion.configure(
            compute_driver='fake,host', agent={'mode': 'companion'}
        )
        with companion.config.open('a') as config:
            config.write('\n[rules]\ndirectory = /nonexistent/rules.d\n')
    elif wrong == 'driver file':
        companion.fake_file.write_text('nodes: [')
    else:
        (companion.provider_configs / 'wrong.yaml').write_text('meta: [')
    assert companion.run('plan').code == 1
    left = companion.run('leave', '--yes')
    assert (left.code, left.err) == (0, '')
    assert names(companion) == {'cn1'}
    assert traits(companion) == {'COMPUTE_NODE', 'OWNER_NOVA', 'CUSTOM_THEIRS'}


@pytest.mark.catches('a leave deletes a root that has another name')
def test_a_root_that_another_host_may_report_is_left_as_it_is(cli):
    """A host that was copied says that it created the other's root."""
    assert cli.run('sync').code == 0
    path = f'/resource_providers/{ROOT}'
    cli.placement(path, 'PUT', {'name': 'the-other'})
    refused = cli.run('leave', '--yes')
    assert refused.code == 1
    assert f'placement knows provider {ROOT} as the-other' in refused.out
    assert 'the-other' in names(cli)
    cli.placement(path, 'PUT', {'name': 'cn1'})
    assert cli.run('leave', '--yes').code == 0
    assert names(cli) == set()
