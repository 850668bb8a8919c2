# SPDX-License-Identifier: Apache-2.0
"""rules test shows what each rule gives and why, without placement."""

import json

import pytest

RULES = """
rules:
- name: quick
  for_each: net
  when: device.speed_mbps >= 10000
  child: '{node}_{device.name}'
  traits: [CUSTOM_QUICK]
  inventory: {CUSTOM_PORT: 2}
- name: vendor
  when: dmi.sys_vendor == 'ACME'
  traits: [CUSTOM_ACME]
"""
FACTS = [
    {'name': 'dmi.sys_vendor', 'value': None, 'unknown': 'no permission'},
    {'name': 'net.devices', 'value': ['ens1', 'ens2']},
    {'name': 'net.ens1.speed_mbps', 'value': 25000},
    {'name': 'net.ens2.speed_mbps', 'value': 1000},
]


@pytest.fixture
def folder(cli, tmp_path):
    """The directory of the rules; the facts are those of another host."""
    path = tmp_path / 'rules.d'
    path.mkdir()
    (path / 'a.yaml').write_text(RULES)
    (path / 'saved.json').write_text(json.dumps(FACTS))
    cli.configure({'auth_type': None}, compute_driver='host', host='here')
    with cli.config.open('a') as file:
        file.write(f'\n[rules]\ndirectory = {path}\n')
    return path


def test_each_rule_tells_what_it_gives_or_why_not(cli, folder):
    shown = cli.run(
        'rules',
        'test',
        'quick',
        'vendor',
        '--facts',
        str(folder / 'saved.json'),
    )
    at = f'{folder}/a.yaml'
    assert shown.code == 0
    assert shown.out.splitlines() == [
        f'quick for ens1: gives  [{at}:3]',
        '    here_ens1: CUSTOM_QUICK, CUSTOM_PORT 2',
        '    net.speed_mbps = 25000  []',
        (
            'quick for ens2: does not give: device.speed_mbps >= 10000 is false  '
            f'[{at}:3]'
        ),
        '    net.speed_mbps = 1000  []',
        f'vendor: unknown: dmi.sys_vendor is unknown: no permission  [{at}:9]',
        '    dmi.sys_vendor = unknown: no permission  []',
    ]


def test_the_starter_rules_are_there_and_off_or_on_by_one_line(cli, folder):
    def results():
        rows = cli.run('rules', 'test', '-f', 'json').data
        return {row['rule']: row['result'] for row in rows}

    before = results()
    assert before['nvme-disks'] == 'off'
    assert before['disk-ssd'] != 'off'
    (folder / 'b.yaml').write_text(
        '{enabled: [nvme-disks], disabled: [disk-ssd]}'
    )
    after = results()
    assert after['nvme-disks'] != 'off'
    assert after['disk-ssd'] == 'off'


def test_another_driver_s_agent_tries_the_rules_of_the_driver_host(
    cli, folder
):
    text = cli.config.read_text()
    cli.config.write_text(
        text.replace('compute_driver = host', 'compute_driver = fake')
    )
    assert 'quick' in cli.run('rules', 'test').out


def test_an_unknown_rule_is_one_line(cli, folder):
    shown = cli.run('rules', 'test', 'quik')
    assert shown.code == 1
    assert shown.err.startswith("compute-agent: there is no rule 'quik'; the")


def test_each_mistake_is_one_line_with_its_place(cli, folder):
    (folder / 'b.yaml').write_text(
        'rules:\n- name: b\n  when: cpu.core > 1 || cpu.flg == 2\n'
        '  traits: [CUSTOM_a]\n'
    )
    for command in (('rules', 'test'), ('plan',), ('sync',)):
        shown = cli.run(*command)
        assert shown.code == 1
        at = f'compute-agent: {folder}/b.yaml'
        assert shown.err.splitlines() == [
            (
                f'{at}:3:9: rule b: there is no fact cpu.core: did you mean '
                'cpu.cores?'
            ),
            (
                f'{at}:3:25: rule b: there is no fact cpu.flg: did you mean '
                'cpu.flags?'
            ),
            f"{at}:4:12: rule b: 'CUSTOM_a' is no trait; write CUSTOM_A",
        ]


def test_a_named_directory_that_is_missing_is_one_line(cli, folder):
    text = cli.config.read_text()
    cli.config.write_text(text.replace(f'{folder}', f'{folder}/none'))
    shown = cli.run('rules', 'test')
    assert shown.code == 1
    assert shown.err == (
        f'compute-agent: [rules] directory: the directory {folder}/none does '
        'not exist; create it or correct the option\n'
    )
