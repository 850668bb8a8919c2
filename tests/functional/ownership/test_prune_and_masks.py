# SPDX-License-Identifier: Apache-2.0
"""What operators order of names: ``sync --prune``, and masked traits."""

import signal

import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
AVX2 = 'HW_CPU_X86_AVX2'


def traits(cli):
    return cli.others.traits(ROOT)


def add(cli, name):
    cli.others.add_traits(ROOT, name)


@pytest.fixture
def lost(cli):
    """An agent whose state was lost, and whose driver dropped a trait."""
    assert cli.run('sync').code == 0
    for path in cli.state_path.glob('state.sqlite*'):
        path.unlink()
    text = cli.fake_file.read_text().replace(', CUSTOM_GOLD', '')
    cli.fake_file.write_text(text)
    add(cli, 'CUSTOM_OPERATOR')
    # The record that the agent created the root is lost, too.
    cli.configure(agent={'adopt_existing_roots': 'true'})
    return cli


def mask(cli, *masks):
    cli.configure()
    with cli.config.open('a') as config:
        config.write(f'\n[compute_agent]\nmasked_traits = {",".join(masks)}\n')


# --- prune -------------------------------------------------------------------


def test_a_lost_state_removes_nothing_and_says_what_to_do(lost):
    result = lost.run('sync')
    assert result.code == 0
    assert traits(lost) >= {'CUSTOM_GOLD', 'CUSTOM_OPERATOR'}
    assert 'keeps CUSTOM_GOLD, CUSTOM_OPERATOR' in result.out
    assert 'sync --prune' in result.out


def test_names_that_are_listed_go_and_no_others(lost):
    result = lost.run('sync', '--prune', f'CUSTOM_GOLD,{AVX2}')
    assert result.code == 0
    assert 'CUSTOM_GOLD' in result.out
    assert f'{AVX2} is removed from no provider' in result.line
    assert traits(lost) == {
        AVX2,
        'CUSTOM_OPERATOR',
        'COMPUTE_NODE',
        'OWNER_NOVA',
    }


def test_a_node_may_be_chosen_for_it(lost):
    other = lost.run('sync', '--prune', 'CUSTOM_GOLD', '--node', 'cn9')
    assert 'no node cn9' in other.line
    assert 'CUSTOM_GOLD' in traits(lost)
    assert lost.run('sync', '--prune', 'CUSTOM_GOLD', '--node', 'cn1').err == (
        ''
    )
    assert 'CUSTOM_GOLD' not in traits(lost)


def test_a_plan_shows_what_would_go_and_takes_nothing(lost):
    result = lost.run('plan', '--prune', f'CUSTOM_GOLD,{AVX2}')
    assert result.code == 2
    assert 'CUSTOM_GOLD' in result.out
    assert (
        f'{AVX2} is removed from no provider: no provider has it'
        in result.line
    )
    assert 'CUSTOM_GOLD' in traits(lost)
    assert 'no node cn9' in (
        lost.run('plan', '--prune', 'CUSTOM_GOLD', '--node', 'cn9').line
    )


def test_another_node_s_names_stay(lost):
    uuid = '22222222-2222-4222-8222-222222222222'
    with lost.fake_file.open('a') as file:
        file.write(
            f'  - {{name: cn2, uuid: {uuid}, inventories: {{VCPU: 1}}}}\n'
        )
    result = lost.run('sync', '--prune', 'CUSTOM_GOLD', '--node', 'cn2')
    assert 'CUSTOM_GOLD is removed from no provider' in result.line
    assert 'CUSTOM_GOLD' in traits(lost)


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--prune', 'CUSTOM_*'], 'give complete names'),
        (['--prune', ''], 'give complete names'),
        (['--prune', 'COMPUTE_STATUS_DISABLED'], 'others decide by it'),
        (['--node', 'cn1'], 'add --prune NAME'),
    ],
)
def test_what_is_no_name_is_refused(cli, words, said):
    result = cli.run('sync', *words)
    assert result.code == 1
    assert said in result.line


# --- masks -------------------------------------------------------------------


def test_a_masked_trait_is_not_reported_and_plan_and_explain_say_why(cli):
    mask(cli, 'HW_CPU_*')
    said = 'masked by [compute_agent] masked_traits'
    assert said in cli.run('plan').out
    assert said in cli.run('explain', AVX2).out
    assert cli.run('sync').code == 0
    assert AVX2 not in traits(cli)
    assert said not in cli.run('explain', 'CUSTOM_GOLD').out


@pytest.mark.catches('a mask that matches no trait is not said')
def test_a_mask_that_matches_no_trait_is_said(cli):
    """One matches os-traits, one the node; the last one matches nothing."""
    mask(cli, 'HW_CPU_X86_AVX512*', 'CUSTOM_GOLD', 'HW_CPU_X68_*')
    (line,) = cli.run('plan').err.splitlines()
    assert line == (
        'compute-agent: [compute_agent] masked_traits: HW_CPU_X68_* matches '
        "no trait, neither one of os-traits nor one of this agent's "
        'providers; correct or remove it'
    )


def test_the_daemon_says_a_mask_that_matches_no_trait_once(cli, daemon):
    mask(cli, 'CUSTOM_SILVER')
    with cli.config.open('a') as config:
        config.write('[DEFAULT]\nupdate_resources_interval = 1\n')
        config.write('debug = true\n[compute_agnet]\nx = 1\n')
    one = daemon(cli.config)
    one.wait_for('cycle: ', times=3)
    one.end()
    assert one.said.count('CUSTOM_SILVER matches no trait') == 1
    assert one.said.count('did you mean [compute_agent]?') == 1


def test_one_that_was_added_goes_and_comes_back_without_the_mask(cli):
    cli.run('sync')
    mask(cli, AVX2)
    assert cli.run('plan').code == 2
    cli.run('sync')
    assert AVX2 not in traits(cli)
    assert cli.run('plan').code == 0
    cli.configure()
    again = cli.run('sync')
    assert AVX2 in traits(cli)
    assert 'restored' not in again.out


def test_a_mask_that_matches_nothing_is_one_line(cli):
    mask(cli, 'hw_cpu_*')
    result = cli.run('plan')
    assert result.code == 1
    assert 'masked_traits' in result.line
    assert 'capital letters' in result.line


def test_a_mask_counts_from_the_next_reload(cli, daemon):
    cli.configure(update_resources_interval=1)
    one = daemon(cli.config, '--show-tree')
    one.wait_for('in step with')
    assert AVX2 in traits(cli)
    cli.configure(update_resources_interval=1)
    with cli.config.open('a') as config:
        config.write(f'\n[compute_agent]\nmasked_traits = {AVX2}\n')
    one.process.send_signal(signal.SIGHUP)
    one.wait_for(f'-{AVX2}')
    one.wait_for('masked by [compute_agent] masked_traits')
    one.end()
    assert AVX2 not in traits(cli)
