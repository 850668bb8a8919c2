# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/rules.md are rules, and print what the page shows."""

import pathlib
import re

import pytest
import rule_cases
import yaml

from compute_agent.cmd import rules as command
from drivers.host import rule_files
from drivers.host.facts import catalogue
from drivers.host.rules import positions, rule

PAGE = pathlib.Path(__file__).parents[5] / 'docs' / 'rules.md'
TEXT = PAGE.read_text()
BLOCKS = re.findall(r'^```yaml\n(.*?)^```', TEXT, re.DOTALL | re.MULTILINE)
WORDS = rule.Vocabulary.of_names(catalogue.ENTRIES)
SITE = '/etc/compute-agent/rules.d/site.yaml'
HOST = {
    'devices': {
        'block': {
            'nvme0n1': {
                'transport': 'nvme',
                'multipath': False,
                'size_bytes': 3840755982336,
            },
            'sda': {
                'transport': 'scsi',
                'multipath': False,
                'size_bytes': 480103981056,
            },
        }
    }
}


def read(folder, text, *, starter=False):
    (folder / 'site.yaml').write_text(text)
    return rule_files.read(str(folder), WORDS, given=True, starter=starter)


@pytest.mark.parametrize('block', BLOCKS)
def test_each_example_is_a_rule_file(block, tmp_path):
    found = read(tmp_path, block, starter='enabled:' in block)
    names = {rule.name for rule in found.rules}
    assert names >= {
        rule['name'] for rule in yaml.safe_load(block).get('rules', ())
    }


def test_the_first_rules_give_what_the_page_shows(tmp_path):
    in_force = rule_files.Rules(lambda: read(tmp_path, BLOCKS[0]), WORDS)
    results = in_force.results(rule_cases.facts_of(HOST), 'cn1')
    printed = [line for r in results for line in command.lines(r)]
    (shown,) = re.findall(
        r'^\$ compute-agent rules test .*?\n(.*?)^```',
        TEXT,
        re.DOTALL | re.MULTILINE,
    )
    assert [_plain(line, f'{tmp_path}/site.yaml') for line in printed] == [
        _plain(line, SITE) for line in shown.splitlines()
    ]


def _plain(line, path):
    """Return a line with a short path and without the source of a fact."""
    line = line.replace(path, 'site.yaml')
    return re.sub(r'  \[(/sys/.*|case)\]', '', line)


def test_the_mistake_on_the_page_is_the_one_that_is_told(tmp_path):
    (shown,) = re.findall(rf'^{SITE}:.*$', TEXT, re.MULTILINE)
    wrong = 'rules:\n- name: avx\n  traits: [CUSTOM_AVX]\n  when: "\'avx512f\' in cpu.flag"\n'
    with pytest.raises(positions.WrongRules) as raised:
        read(tmp_path, wrong)
    assert str(raised.value).replace(f'{tmp_path}/site.yaml', SITE) == shown


def test_the_page_lists_each_starter_rule_and_if_it_is_on(tmp_path):
    found = read(tmp_path, 'rules: []', starter=True)
    listed = {
        name: row[-1].strip() == 'yes'
        for row in re.findall(
            r'^\| (`.*?) \|.*\| (yes|no) \|$', TEXT, re.MULTILINE
        )
        for name in re.findall(r'`([^`]+)`', row[0])
    }
    assert listed == {rule.name: rule.enabled for rule in found.rules}
