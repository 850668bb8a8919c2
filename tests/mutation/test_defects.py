# SPDX-License-Identifier: Apache-2.0
"""The table of defects fits today's code; nothing is planted here."""

import ast
import pathlib

import pytest

from mutation import defect
from mutation.defects import DEFECTS

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize('one', DEFECTS, ids=lambda one: one.name)
def test_a_defect_can_be_planted_and_its_tests_are_there(one):
    one.check(ROOT)
    text = (ROOT / one.file).read_text()
    planted = one.planted(text)
    assert planted != text
    ast.parse(planted)


def test_each_defect_has_a_name_of_its_own():
    names = [one.name for one in DEFECTS]
    assert len(set(names)) == len(names) >= 20


@pytest.mark.parametrize('text', ['', 'x = 1\nx = 1\n'])
def test_text_that_is_not_there_once_is_refused_with_what_to_do(text):
    one = defect.Defect(name='any', file='a.py', find='x = 1', put='x = 2')
    with pytest.raises(defect.Moved, match='mend the defect'):
        one.planted(text)


@pytest.mark.parametrize('test', ['test_b.py', 'test_a.py::test_other'])
def test_a_test_that_is_not_there_is_refused(tmp_path, test):
    (tmp_path / 'a.py').write_text('x = 1\n')
    (tmp_path / 'test_a.py').write_text('def test_it(): pass\n')
    one = defect.Defect(
        name='any', file='a.py', find='x = 1', put='x = 2', tests=(test,)
    )
    with pytest.raises(defect.Moved, match='no test'):
        one.check(tmp_path)
