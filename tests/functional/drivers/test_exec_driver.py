# SPDX-License-Identifier: Apache-2.0
"""Placement becomes what a program prints, and stays so while it fails."""

import json
import sys

import pytest

from compute_agent import errors, testing
from compute_agent.virt import driver as virt
from compute_agent.virt.values import finding
from drivers.exec import driver, program

POOL = 'b41d5c0e-92f7-4e35-8a6c-1f3e5d7b9a03'
AGGREGATE = '0c2b7b52-5a3e-4d58-8d0f-0b1d2c1a9e01'


class Answers:
    """A program that prints files: one for each call that it has."""

    def __init__(self, folder):
        self._folder = folder
        self.path = folder / 'program'
        self.path.write_text(
            '#!/bin/sh\n'
            f'cd {folder}\n'
            'cat > question\n'
            'if [ -e fails ]; then cat fails >&2; exit 1; fi\n'
            'if [ ! -e "$1" ]; then exit 3; fi\n'
            'cat "$1"\n'
        )
        self.path.chmod(0o755)

    def say(self, call, answer):
        text = answer
        if not isinstance(answer, str):
            text = json.dumps({'version': 1, **answer})
        (self._folder / call).write_text(text)

    def describe(self, **node):
        self.say('describe', {'nodes': [{'name': 'cn1', **node}]})

    def fail(self, line):
        (self._folder / 'fails').write_text(line)

    @property
    def question(self):
        return json.loads((self._folder / 'question').read_text())

    def driver(self):
        made = driver.ExecDriver.for_target(str(self.path))
        return made(program.Program(str(self.path), timeout=20), 'cn1')


@pytest.fixture
def answers(tmp_path):
    return Answers(tmp_path)


CARDS = {
    'inventories': {'VCPU': 8},
    'traits': ['CUSTOM_GOLD'],
    'children': [
        {'name': 'cn1_card0', 'inventories': {'VGPU': 4}},
        {'name': 'cn1_card1', 'inventories': {'VGPU': 4}},
    ],
}


def test_placement_becomes_what_it_prints(answers, placement):
    answers.describe(**CARDS)
    testing.assert_synced(
        answers.driver(),
        placement,
        {
            'cn1': {
                'inventories': {'VCPU': 8},
                'traits': ['COMPUTE_NODE', 'CUSTOM_GOLD', 'OWNER_NOVA'],
            },
            'cn1_card0': {'parent': 'cn1', 'inventories': {'VGPU': 4}},
            'cn1_card1': {'parent': 'cn1', 'inventories': {'VGPU': 4}},
        },
    )


@pytest.mark.catches('a child that a program leaves out stays')
def test_a_child_that_it_leaves_out_is_removed(answers, placement):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    answers.describe(**{**CARDS, 'children': CARDS['children'][:1]})
    testing.assert_synced(found, placement)
    assert set(placement.held()) == {'cn1', 'cn1_card0'}


@pytest.mark.catches('a program that names no children loses them')
@pytest.mark.parametrize('children', [{}, {'children': 'keep'}])
def test_children_of_which_it_says_nothing_stay(answers, placement, children):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    before = placement.held()
    answers.describe(
        **{k: CARDS[k] for k in CARDS if k != 'children'}, **children
    )
    testing.assert_synced(found, placement)
    assert placement.held() == before


@pytest.mark.catches('a program removes the children of others')
def test_the_children_of_other_writers_stay(answers, placement):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    root = placement.held()['cn1']['uuid']
    placement.post(
        '/resource_providers',
        {'name': 'cn1_neutron', 'parent_provider_uuid': root},
    )
    (result,) = testing.sync(found, placement)
    assert result.notes == ()
    assert 'cn1_neutron' in placement.held()


def test_a_card_in_trouble_is_reserved_with_the_reason(answers, placement):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    first, second = CARDS['children']
    answers.describe(
        **{**CARDS, 'children': [{**first, 'unhealthy': 'no fan'}, second]}
    )
    testing.assert_synced(found, placement)
    held = placement.held()
    assert held['cn1_card0']['inventories']['VGPU']['reserved'] == 4
    assert held['cn1_card1']['inventories'] == {'VGPU': 4}


def test_the_question_has_the_node_and_the_tree(answers, placement):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    testing.sync(found, placement)
    asked = answers.question
    tree = {one['name']: one for one in asked['tree']}
    assert (asked['version'], asked['call']) == (1, 'describe')
    assert asked['node'] == {'name': 'cn1', 'uuid': tree['cn1']['uuid']}
    assert tree['cn1_card0']['parent'] == tree['cn1']['uuid']
    assert tree['cn1_card0']['inventories']['VGPU']['total'] == 4
    assert 'CUSTOM_GOLD' in tree['cn1']['traits']
    assert asked['allocations'] is None


@pytest.mark.parametrize(
    ('answer', 'line'),
    [
        ('{"version": 1', 'describe:1: not JSON: Expecting'),
        (
            'asking the cards\n{"version": 1, "nodes": [{"name": "cn1"}]}',
            (
                "describe:1: 'asking the cards' is not the answer; print only "
                'that on standard output, and other lines on standard error'
            ),
        ),
        (
            '{"version": 1, "nodes": [{"name": "cn1"}]}\ndone',
            (
                "describe:2: 'done' is not the answer; print only that on "
                'standard output, and other lines on standard error'
            ),
        ),
        (
            '[' * 100_000,
            'describe: its answer is nested too deeply; print it flatter',
        ),
        (
            '{"version": 2, "nodes": []}',
            'describe:1: version: 2 is wrong here; write the number 1',
        ),
        (
            '{"nodes": [{"name": "cn1"}]}',
            'describe:1: the key version is missing; add it with the number 1',
        ),
        (
            '{"version": 1, "nodes": []}',
            (
                'describe:1: nodes: a list is wrong here; write a list with the '
                'one node of the question'
            ),
        ),
        (
            '{"version": 1, "nodes": [{"name": "cn2"}]}',
            (
                "describe:1: this describes 'cn2' and not 'cn1'; print the name "
                'of the question'
            ),
        ),
        (
            '{"version": 1}',
            (
                'describe:1: the key nodes is missing; add it with a list of the '
                'one node, or print reshape_needed: true'
            ),
        ),
        (
            '{"version": 1, "nodes": [{"name": "cn1", "trait": []}]}',
            (
                "describe:1: nodes[0]: the key 'trait' is unknown here; write "
                'traits'
            ),
        ),
        (
            (
                '{"version": 1, "nodes": [{"name": "cn1", "inventories": '
                '{"VCPU": -1}}]}'
            ),
            'describe:1: ',
        ),
        (
            (
                '{"version": 1, "nodes": [{"name": "cn1", "uuid": '
                f'"{POOL}"}}]}}'
            ),
            f'describe: it gives cn1 the uuid {POOL}, but the question has ',
        ),
    ],
)
def test_a_wrong_answer_is_one_line_and_changes_nothing(
    answers, placement, answer, line
):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    before = placement.held()
    answers.say('describe', answer)
    (result,) = testing.sync(found, placement)
    assert f'{answers.path} {line}' in result.reason
    assert '\n' not in result.reason
    assert placement.held() == before


def test_a_failure_is_told_in_its_own_words_and_changes_nothing(
    answers, placement
):
    answers.describe(**CARDS)
    found = answers.driver()
    testing.assert_synced(found, placement)
    before = placement.held()
    answers.fail('card 1 does not answer')
    with pytest.raises(errors.DriverError) as caught:
        testing.sync(found, placement)
    assert str(caught.value) == (
        f'{answers.path} list: it ended with status 1: card 1 does not answer'
    )
    assert placement.held() == before


def test_notes_and_faults_are_lines_for_the_operator(answers, placement):
    answers.say(
        'describe',
        {
            'nodes': [{'name': 'cn1'}],
            'notes': ['the firmware is old'],
            'faults': ['card 1 is broken'],
        },
    )
    (result,) = testing.sync(answers.driver(), placement)
    assert 'card 1 is broken' in result.reason
    assert 'the firmware is old' in result.notes


def test_a_pool_is_a_root_of_its_own(answers, placement):
    answers.say(
        'describe',
        {
            'nodes': [{'name': 'cn1', 'aggregates': [AGGREGATE]}],
            'sharing_providers': [
                {
                    'name': 'pool',
                    'uuid': POOL,
                    'inventories': {'DISK_GB': 1000},
                    'aggregates': [AGGREGATE],
                }
            ],
        },
    )
    testing.assert_synced(answers.driver(), placement)
    held = placement.held()['pool']
    assert held['uuid'] == POOL
    assert 'MISC_SHARES_VIA_AGGREGATE' in held['traits']


# --- several nodes ------------------------------------------------------------


def test_a_program_that_lists_nodes_has_them(answers):
    answers.say('info', {'authority': ['CUSTOM_SLED_*'], 'node_filter': {}})
    answers.say(
        'list',
        {
            'nodes': [
                {'name': 'sled1', 'uuid': POOL, 'facts': {'gpus': 4}},
                {'name': 'sled2', 'title': 'the second'},
            ]
        },
    )
    answers.say('exists', {'exists': 'no'})
    found = answers.driver()
    assert found.get_available_nodes() == ['sled1', 'sled2']
    assert found.get_nodenames_by_uuid() == {POOL: 'sled1'}
    assert found.get_titles() == {'sled2': 'the second'}
    assert found.facts('sled1') == {'gpus': 4}
    assert found.facts('sled2') is None
    assert found.authority == ('CUSTOM_SLED_*',)
    assert found.node_filter == {}
    assert found.node_exists('sled3') is virt.Existence.NO
    assert answers.question['node'] == {'name': 'sled3', 'uuid': None}


def test_without_a_list_the_node_is_this_host(answers):
    found = answers.driver()
    assert found.get_available_nodes() == ['cn1']
    assert found.node_filter is None
    assert found.node_exists('cn1') is virt.Existence.YES
    assert found.node_exists('cn2') is virt.Existence.UNKNOWN


@pytest.mark.catches('a list that fails is an empty one')
def test_a_list_that_fails_is_unknown(answers):
    found = answers.driver()
    answers.fail('no route to the chassis')
    with pytest.raises(errors.DriverError, match='no route to the chassis'):
        found.get_available_nodes()
    with pytest.raises(errors.DriverError, match='no route to the chassis'):
        found.node_exists('sled1')


@pytest.mark.catches('a program that has a call may lack it later')
def test_a_call_that_was_answered_before_is_not_missing(answers, tmp_path):
    answers.say('list', {'nodes': [{'name': 'sled1'}]})
    found = answers.driver()
    assert found.get_available_nodes() == ['sled1']
    (tmp_path / 'list').unlink()  # so it ends with status 3
    with pytest.raises(errors.DriverError) as caught:
        found.get_available_nodes()
    assert str(caught.value) == (
        f'{answers.path} list: it ended with status 3, as a program that does '
        'not have this call, but it answered before; give a failure another '
        'status'
    )


def test_a_program_that_does_not_look_at_the_call_is_told(answers):
    answers.say('info', {'nodes': []})
    with pytest.raises(errors.DriverError) as caught:
        answers.driver()
    assert str(caught.value).endswith(
        '(a program that does not have the call info ends with status 3 and '
        'prints nothing)'
    )


def test_a_node_that_is_listed_twice_is_refused(answers):
    answers.say('list', {'nodes': [{'name': 'a'}, {'name': 'a'}]})
    with pytest.raises(errors.DriverError) as caught:
        answers.driver().get_available_nodes()
    assert str(caught.value) == (
        f"{answers.path} list:1: node 'a' is in the list twice; print each "
        'node once'
    )


def test_a_wrong_authority_is_refused_at_the_start(answers):
    answers.say('info', {'authority': ['sled']})
    with pytest.raises(errors.DriverError) as caught:
        answers.driver()
    assert f'{answers.path} info:1: ' in str(caught.value)


def test_info_is_asked_again_at_a_reload(answers):
    found = answers.driver()
    answers.say('info', {'authority': ['CUSTOM_SLED_*']})
    found.reload()
    assert found.authority == ('CUSTOM_SLED_*',)
    answers.fail('away')
    with pytest.raises(errors.ConfigError, match='away'):
        found.reload()
    assert found.authority == ('CUSTOM_SLED_*',)


def test_each_trait_has_the_line_of_the_answer(answers):
    answers.describe(**CARDS)
    found = answers.driver()
    found.get_available_nodes()
    assert found.evidence('cn1') == [
        finding.Finding(
            trait='CUSTOM_GOLD',
            found=finding.Found.PRESENT,
            fact='cn1',
            sources=(f'{answers.path} describe:1',),
        )
    ]


# --- a reshape ----------------------------------------------------------------

MOVING = """\
#!{python}
import json, sys
if sys.argv[1] != 'describe':
    sys.exit(3)
asked = json.load(sys.stdin)
name = asked['node']['name']
root = next(one for one in asked['tree'] if one['name'] == name)
card = next((one for one in asked['tree'] if one['parent']), None)
answer = {{'version': 1}}
moves = 'VGPU' in root['inventories']
if moves and asked['allocations'] is None:
    print(json.dumps({{**answer, 'reshape_needed': True}}))
    sys.exit()
uuid = '{card}'
answer['nodes'] = [{{
    'name': name,
    'inventories': {{'VCPU': 8}},
    'children': [{{'name': name + '_card0', 'uuid': uuid,
                  'inventories': {{'VGPU': 4}}}}],
}}]
if moves:
    answer['allocations'] = asked['allocations']
    for one in asked['allocations'].values():
        vgpus = one['allocations'][root['uuid']]['resources'].pop('VGPU')
        one['allocations'][uuid] = {{'resources': {{'VGPU': vgpus}}}}
print(json.dumps(answer))
"""
CONSUMER = '9d9a1b8c-7f0d-4f3e-9b6f-0d8f3c1a5e11'


def moving(tmp_path, text):
    path = tmp_path / 'mover'
    path.write_text(text.format(python=sys.executable, card=POOL))
    path.chmod(0o755)
    made = driver.ExecDriver.for_target(str(path))
    return made(program.Program(str(path), timeout=20), 'cn1')


def reported(placement):
    placement.plant(
        {
            'cn1': {
                'uuid': testing.HOST_UUID,
                'inventories': {'VCPU': 8, 'VGPU': 4},
                'allocations': {CONSUMER: {'VCPU': 1, 'VGPU': 2}},
            }
        }
    )


def test_a_reshape_moves_the_allocations(tmp_path, placement):
    reported(placement)
    testing.assert_synced(moving(tmp_path, MOVING), placement)
    held = placement.held()
    assert held['cn1']['allocations'] == {CONSUMER: {'VCPU': 1}}
    assert held['cn1_card0']['allocations'] == {CONSUMER: {'VGPU': 2}}


@pytest.mark.parametrize(
    ('before', 'after', 'line'),
    [
        (
            "answer['allocations'] = asked['allocations']",
            "answer['allocations'] = {{}}",
            (
                'its allocations are not of the consumers of the question; print '
                'each of them, and no other'
            ),
        ),
        (
            "one['allocations'][uuid] = {{'resources': {{'VGPU': vgpus}}}}",
            "del one['allocations']",
            (
                f'consumer {CONSUMER} has no allocations; print them as the '
                'question has them'
            ),
        ),
        (
            "if moves and asked['allocations'] is None:",
            'if moves:',
            'it asks for allocations that it was given; print the description',
        ),
    ],
)
def test_a_reshape_that_loses_allocations_is_refused(
    tmp_path, placement, before, after, line
):
    assert before in MOVING
    reported(placement)
    held = placement.held()
    made = moving(tmp_path, MOVING.replace(before, after))
    (result,) = testing.sync(made, placement)
    assert line in result.reason
    assert placement.held() == held


# --- in the configuration -----------------------------------------------------


@pytest.mark.parametrize('target', ['', 'gpus', './gpus'])
def test_the_path_is_absolute(target):
    with pytest.raises(errors.ConfigError) as caught:
        driver.ExecDriver.for_target(target)
    assert str(caught.value) == (
        'write exec: and the absolute path of a program, such as '
        'exec:/usr/local/libexec/gpus'
    )


def test_one_program_has_one_class(tmp_path):
    first = driver.ExecDriver.for_target(f'{tmp_path}/a')
    assert driver.ExecDriver.for_target(f'{tmp_path}//a') is first
    assert driver.ExecDriver.for_target(f'{tmp_path}/b') is not first
