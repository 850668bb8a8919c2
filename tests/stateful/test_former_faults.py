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
    former, fleets, *_ = TABLE.read_text().split('|---|---|---|\n')[1:]
    defects = planted.VARIANTS.items()
    assert rows(former) == {s for s, defect in defects if defect.in_runs}
    assert rows(fleets) == {s for s, defect in defects if defect.in_fleets}
    assert len(rows(former)) == 22
    assert len(rows(fleets)) >= 12


def rows(text):
    """Return the first cells of a table."""
    table, _, _ = text.partition('\n\n')
    return {
        row.split(' | ')[0].removeprefix('| ') for row in table.splitlines()
    }


@pytest.mark.long
@pytest.mark.catches('adding a name ends the claims on all others')
@pytest.mark.catches('edits stay although the driver then lacks the method')
def test_a_few_sequences_find_it():
    found = sequences.search(None, most=FEW)
    assert found.failure == ''
