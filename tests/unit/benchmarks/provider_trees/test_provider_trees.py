# SPDX-License-Identifier: Apache-2.0
"""The measured work is done, and the table says what it cost."""

import pytest

from benchmarks.provider_trees import __main__ as command
from benchmarks.provider_trees import ours, work


@pytest.mark.parametrize(
    ('trees', 'changed'), [(ours.New, 40), (ours.Known, 2 * 2)]
)
def test_the_diff_finds_the_new_and_the_edited_providers(trees, changed):
    found = work.measured(trees(), work.nodes(2, 20))
    assert found['changed'] == changed
    assert list(found['seconds']) == list(work.STEPS)


def test_a_run_has_a_process_of_its_own():
    assert command.run('compute-agent', 'known', 1, 30)['changed'] == 3


def test_programs_with_different_results_are_not_compared(monkeypatch):
    answers = iter([1, 2])
    monkeypatch.setattr(
        command,
        'run',
        lambda *_: {
            'seconds': dict.fromkeys(work.STEPS, 1.0),
            'changed': next(answers),
        },
    )
    with pytest.raises(SystemExit, match='different changes'):
        command.compared('new', 1, 10, repeats=1)


def test_the_ratio_is_of_the_sums():
    table = command.table(
        {
            'compute-agent': dict.fromkeys(work.STEPS, 0.25),
            'nova': dict.fromkeys(work.STEPS, 1.0),
        }
    )
    _, first, second = table.splitlines()
    assert first.split()[-3:] == ['1.000', 's', '1.000']
    assert second.split()[-3:] == ['4.000', 's', '0.250']
