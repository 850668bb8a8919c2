# SPDX-License-Identifier: Apache-2.0
"""Random runs find what this agent once did wrong, by themselves.

A few sequences find those that are the quickest to find; ``make test-stateful
PLANTED=1`` looks for all of them.
"""

import pathlib

import former_faults
import planted
import pytest

TABLE = pathlib.Path(__file__).with_name('FORMER_FAULTS.md')
FEW = 10  # sequences


def test_each_fault_is_a_planted_defect_and_in_the_table():
    rows = TABLE.read_text().partition('\n\n*')[0].splitlines()
    listed = [row.split(' | ')[0].removeprefix('| ') for row in rows]
    assert tuple(listed[-len(former_faults.FOUND) :]) == former_faults.FOUND
    assert planted.VARIANTS.keys() >= set(former_faults.FOUND)


@pytest.mark.long
@pytest.mark.catches('adding a name ends the claims on all others')
@pytest.mark.catches('edits stay although the driver then lacks the method')
@pytest.mark.catches("a first write to another's root asks nobody")
def test_a_few_sequences_find_it():
    found = former_faults.search('', most=FEW)
    assert found.failure == ''
