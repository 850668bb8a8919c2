# SPDX-License-Identifier: Apache-2.0
"""``compute-agent plan --saved``: a fleet's plans, a line for each change."""

import json

import pytest

ROOT = '11111111-1111-4111-8111-11111111{:04}'
CHILD = '22222222-1111-4111-8111-111111111111'


def record(total, reserved=0):
    return {'total': total, 'reserved': reserved, 'allocation_ratio': 1.0}


def plan(number, *operations, faults=()):
    node = f'cmp{number:03}'
    return {
        'node': node,
        'uuid': ROOT.format(number),
        'operations': [
            {'provider': node, 'uuid': ROOT.format(number), **operation}
            for operation in operations
        ],
        'notes': [],
        'faults': list(faults),
    }


def traits(added=(), removed=()):
    return {
        'operation': 'set_traits',
        'added': list(added),
        'removed': list(removed),
    }


def memory(before, after):
    return {
        'operation': 'set_inventories',
        'before': {'MEMORY_MB': before},
        'inventories': {'MEMORY_MB': after},
        'added': [],
        'changed': ['MEMORY_MB'],
        'removed': [],
    }


@pytest.fixture
def save(tmp_path):
    """A function that saves plans; it returns the file's path."""

    def one(name, *plans):
        path = tmp_path / f'{name}.json'
        path.write_text(json.dumps(plans))
        return str(path)

    return one


def test_each_change_is_one_line_with_the_number_of_its_nodes(cli, save):
    first = save(
        'first',
        *(
            plan(
                n,
                traits(added=['CUSTOM_A'], removed=['HW_CPU_X86_MPX']),
                memory(record(900, 512), record(1000 + n, 512)),
            )
            for n in range(1, 6)
        ),
    )
    numa = {'operation': 'create_provider', 'uuid': CHILD}
    second = save(
        'second',
        plan(
            6,
            {**numa, 'provider': 'cmp006_NUMA0'},
            memory(record(900, 512), record(800, 600)),
            faults=['the first write to cmp006 needs a yes'],
        ),
        plan(7),
    )
    result = cli.run('plan', '--saved', first, second)
    assert result.code == 1
    several = '(cmp001, cmp002, cmp003 and 2 more)'
    head, *lines = result.out.splitlines()
    assert head == (
        '7 nodes: 6 change, 1 need nothing; 1 have something that sync would '
        'not do'
    )
    assert lines == [
        f'  5  +CUSTOM_A on the root {several}',
        f'  5  -HW_CPU_X86_MPX on the root {several}',
        f'  5  ~MEMORY_MB of the root: total higher {several}',
        '  1  create NODE_NUMA0 (cmp006)',
        '  1  not done: the first write to NODE needs a yes (cmp006)',
        '  1  ~MEMORY_MB of the root: total lower, reserved higher (cmp006)',
    ]
    data = cli.run('plan', '-f', 'json', '--saved', first, second).data
    assert data['changes'][0] == {
        'change': '+CUSTOM_A on the root',
        'nodes': [f'cmp{n:03}' for n in range(1, 6)],
    }
    assert (data['nodes'], data['nothing_to_do']) == (7, 1)


def test_what_a_host_prints_can_be_summed_up(cli, tmp_path):
    saved = tmp_path / 'host.json'
    made = cli.run('plan', '-f', 'json')
    assert made.code == 2
    saved.write_text(made.out)
    result = cli.run('plan', '--saved', str(saved))
    assert result.code == 2
    assert 'create the root' in result.out
    assert cli.run('sync').code == 0
    saved.write_text(cli.run('plan', '-f', 'json').out)
    assert cli.run('plan', '--saved', str(saved)).code == 0


@pytest.mark.parametrize(
    'text', ['', '{}', '[1]', '[{"node": "a"}]', '[{"operations": [{}]}]']
)
def test_another_file_is_refused_in_one_line(cli, tmp_path, text):
    path = tmp_path / 'other.json'
    path.write_text(text)
    result = cli.run('plan', '--saved', str(path))
    assert result.code == 1
    assert f'{path} is not what "compute-agent plan -f json" prints' in (
        result.err
    )


def test_a_missing_file_is_named(cli, tmp_path):
    result = cli.run('plan', '--saved', str(tmp_path / 'none.json'))
    assert result.code == 1
    assert 'none.json: No such file' in result.err
