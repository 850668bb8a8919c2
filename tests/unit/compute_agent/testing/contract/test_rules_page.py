# SPDX-License-Identifier: Apache-2.0
"""docs/driver-contract.md has the rules, the capabilities and the fields."""

import dataclasses
import pathlib
import re

from compute_agent import testing
from compute_agent.testing.contract import capability
from compute_agent.testing.contract.rules import catalogue

TEXT = (
    pathlib.Path(__file__).parents[5] / 'docs/driver-contract.md'
).read_text('utf-8')


def rows(heading):
    section = TEXT.partition(f'## {heading}\n')[2].partition('\n## ')[0]
    lines = re.findall(r'^\| (.*) \|$', section, re.MULTILINE)
    return [[cell.strip() for cell in line.split('|')] for line in lines[1:]]


def test_the_table_has_each_rule_with_its_condition_and_version():
    assert [row[:4] for row in rows('The rules')] == [
        [
            rule.number,
            rule.title,
            rule.needs.name if rule.needs else '',
            rule.since,
        ]
        for rule in catalogue.RULES
    ]


def test_the_page_says_of_each_rule_how_it_is_checked():
    assert all(row[4] for row in rows('The rules'))


def test_the_table_has_each_capability_with_its_meaning():
    assert rows('Capabilities') == [
        [one.name, capability.MEANINGS[one]] for one in testing.Capability
    ]


def test_the_table_has_each_field_of_a_world():
    listed = [row[0].strip('`') for row in rows('The world')]
    assert listed == [f.name for f in dataclasses.fields(testing.World)]


def test_the_table_has_each_fault():
    named = {
        name
        for row in rows('Seams and the fault matrix')
        for name in re.findall(r'`(\w+)`', row[0])
    }
    assert named == {fault.name for fault in testing.Fault}


def test_rules_are_numbered_in_a_row_and_their_titles_are_unique():
    numbers = [rule.number for rule in catalogue.RULES]
    assert numbers == [f'CA{n:03}' for n in range(1, len(numbers) + 1)]
    assert len({rule.slug for rule in catalogue.RULES}) == len(numbers)
