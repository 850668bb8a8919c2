# SPDX-License-Identifier: Apache-2.0
"""Random runs find what this agent once did wrong, by themselves.

A few sequences find the faults that are the quickest to find; ``make
test-stateful PLANTED=1`` looks for all of them.
"""

import pathlib

import planted
import pytest
import sequences

TABLE = pathlib.Path(__file__).with_name('FORMER_FAULTS.md')
FEW = 10  # sequences


def test_the_table_has_each_defect_that_the_runs_must_find():
    rows = TABLE.read_text().partition('\n\n*')[0].splitlines()
    listed = {row.split(' | ')[0].removeprefix('| ') for row in rows[-22:]}
    found = {s for s, defect in planted.VARIANTS.items() if defect.in_runs}
    assert listed == found
    assert len(found) == 22


@pytest.mark.long
@pytest.mark.catches('adding a name ends the claims on all others')
@pytest.mark.catches('edits stay although the driver then lacks the method')
@pytest.mark.catches("a first write to another's root asks nobody")
def test_a_few_sequences_find_it():
    found = sequences.search(None, most=FEW)
    assert found.failure == ''
