# SPDX-License-Identifier: Apache-2.0
"""A planted defect counts as caught only if the marked test fails for it."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import planted
import pytest

HERE = pathlib.Path(__file__).parent
FAULTS = HERE.parent / 'unit/drivers/libvirt/test_faults_of_nova.py'
DEFECTS = """
import variants
from compute_agent.tree import names

catalogue = variants.Catalogue()
VARIANTS = catalogue.variants

@catalogue.plant(names.is_custom, 'any name is custom')
def _(_is_custom, _name):
    return True

@catalogue.plant(names.custom_name, 'broken')
def _(custom_name, text):
    return custom_name(text).no_such_attribute
"""
TESTS = """
import pytest
from compute_agent.tree import names

@pytest.mark.catches('any name is custom')
def test_notices():
    assert not names.is_custom('VCPU')

@pytest.mark.catches('any name is custom')
def test_does_not_notice():
    assert names.is_custom('CUSTOM_A')

@pytest.mark.catches('any name is custom', case='b')
@pytest.mark.parametrize('letter', 'abc')
def test_one_case(letter):
    assert letter != 'b' or not names.is_custom(letter)

@pytest.mark.catches('broken')
def test_with_a_broken_substitute():
    assert names.custom_name('a') == 'CUSTOM_A'

@pytest.fixture
def standard():
    assert not names.is_custom('VCPU')

@pytest.mark.catches('any name is custom')
def test_with_a_failing_fixture(standard):
    pass

@pytest.mark.catches('any name is custom')
def test_that_always_fails():
    assert names.is_custom('VCPU') == 'always'

def test_without_a_mark():
    assert False
"""
ENDINGS = {
    'test_notices[as it is]': 'PASSED',
    'test_notices[any name is custom]': 'PASSED',
    'test_does_not_notice[as it is]': 'PASSED',
    'test_does_not_notice[any name is custom]': 'FAILED',
    'test_one_case[b-as it is]': 'PASSED',
    'test_one_case[b-any name is custom]': 'PASSED',
    'test_with_a_broken_substitute[as it is]': 'PASSED',
    'test_with_a_broken_substitute[broken]': 'FAILED',
    'test_with_a_failing_fixture[as it is]': 'PASSED',
    'test_with_a_failing_fixture[any name is custom]': 'ERROR',
    'test_that_always_fails[as it is]': 'FAILED',
    'test_that_always_fails[any name is custom]': 'PASSED',
}
CHECKS = """
import logging

import pytest
from compute_agent.tree import names
from gauntlet import only_the_verdict_counts, verdict

@pytest.mark.catches('any name is custom')
def test_whose_verdict_notices():
    with verdict():
        assert not names.is_custom('VCPU')

@pytest.mark.catches('any name is custom')
def test_with_an_accident_before_the_verdict():
    assert not names.is_custom('VCPU')

@pytest.mark.catches('any name is custom')
def test_with_a_part_that_breaks():
    try:
        assert not names.is_custom('VCPU')
    except AssertionError:
        logging.getLogger('compute_agent').debug('failed', exc_info=True)
    with verdict():
        assert not names.is_custom('VCPU')

@pytest.mark.catches('any name is custom')
def test_that_the_agent_itself_fails():
    with verdict():
        assert names.is_custom('VCPU') == 'always'
"""
CHECKED = [
    ('PASSED', 'test_whose_verdict_notices[as it is]'),
    ('PASSED', 'test_whose_verdict_notices[any name is custom]'),
    ('PASSED', 'test_with_an_accident_before_the_verdict[as it is]'),
    ('FAILED', 'test_with_an_accident_before_the_verdict[any name is custom]'),
    ('PASSED', 'test_with_a_part_that_breaks[as it is]'),
    ('PASSED', 'test_with_a_part_that_breaks[any name is custom]'),
    ('ERROR', 'test_with_a_part_that_breaks[any name is custom]'),
    ('FAILED', 'test_that_the_agent_itself_fails[as it is]'),
    ('PASSED', 'test_that_the_agent_itself_fails[any name is custom]'),
]


def run(folder, tests, *options):
    """Run these tests under the hooks, in a process of their own."""
    (folder / 'planted.py').write_text(DEFECTS)
    (folder / 'test_marked.py').write_text(tests)
    given = os.environ.get('PYTHONPATH', '')
    tools = [HERE, HERE.parent / 'support', HERE.parent / 'gauntlet']
    path = [folder, *tools, HERE.parents[1], given]
    done = subprocess.run(
        [
            *(sys.executable, '-m', 'pytest', '-p', 'planting', '-q', '-rA'),
            *('-p', 'no:cacheprovider', '-W', 'ignore', *options),
        ],
        cwd=folder,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def endings(shown):
    return re.findall(
        r'^(PASSED|FAILED|ERROR) test_marked.py::(.*?\])', shown, re.MULTILINE
    )


def test_only_a_failure_of_the_test_itself_catches_a_defect(tmp_path):
    shown = run(tmp_path, TESTS)
    found = endings(shown)
    assert {name: ending for ending, name in found} == ENDINGS, shown
    assert '"any name is custom" was planted and not noticed' in shown
    assert 'the substitute of "broken" failed: AttributeError' in shown


def test_of_a_check_only_its_verdict_counts(tmp_path):
    """A part that breaks would end a node's cycle, and look like a defect."""
    shown = run(tmp_path, CHECKS, '-k', 'test')
    assert sorted(endings(shown)) == sorted(CHECKED), shown


def test_a_defect_that_no_test_is_marked_for_is_refused(tmp_path):
    marked, _, _ = TESTS.partition("@pytest.mark.catches('broken')")
    assert 'no test is marked catches(...) for' in run(tmp_path, marked)


def test_a_mark_with_an_unknown_defect_is_refused(tmp_path):
    tests = TESTS.replace("catches('broken')", "catches('misspelt')")
    assert 'no defect of that name' in run(tmp_path, tests)


@pytest.mark.parametrize('variant', planted.VARIANTS.values(), ids=repr)
def test_each_defect_can_be_planted(variant, monkeypatch):
    variant.plant(monkeypatch)


def faults_that_are_caught():
    """Return test → number, and the defects of nova's that it is marked for."""
    found = {}
    for node in ast.parse(FAULTS.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name[:5] == 'test_':
            number = re.match(r'test_(\d+)_', node.name)[1]
            marks = [
                ast.literal_eval(call.args[0])
                for call in node.decorator_list
                if ast.unparse(call.func) == 'pytest.mark.catches'
            ]
            found[node.name] = int(number), marks
    return found


def test_each_test_of_a_fault_of_nova_is_run_against_that_fault():
    for test, (number, marks) in faults_that_are_caught().items():
        assert marks, test
        for says in marks:
            assert says in planted.VARIANTS
            assert says.startswith(f'nova {number}: '), test


def test_each_of_the_twenty_faults_of_nova_is_planted_and_caught():
    caught = [
        says
        for _, marks in faults_that_are_caught().values()
        for says in marks
    ]
    defects = [says for says in planted.VARIANTS if says[:5] == 'nova ']
    assert set(caught) == set(defects)
    assert {int(says[5:].partition(':')[0]) for says in defects} == set(
        range(1, 21)
    )


def test_there_are_as_many_defects_as_ever():
    assert len(planted.VARIANTS) >= 181
