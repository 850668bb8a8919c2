# SPDX-License-Identifier: Apache-2.0
"""The report of a check has one line for each fault, whatever else it breaks."""

from compute_agent.testing import checking


def row(number, status, reason=''):
    return {'number': number, 'status': status, 'reason': reason, 'notes': []}


def statuses(*rows):
    return [(one['status'], one['reason']) for one in checking._once(rows)]


SEE = 'the check met what breaks CA004: see there'


def test_a_fault_of_another_rule_is_told_there():
    fault = 'CA004 (The second cycle writes nothing): it wrote'
    assert statuses(
        row('CA003', 'failed', f'{fault} one'),
        row('CA004', 'failed', f'{fault} two'),
        row('CA005', 'passed'),
        row('CA006', 'failed', 'CA006 (The names stay): gone'),
    ) == [
        ('not tried', SEE),
        ('failed', f'{fault} two'),
        ('passed', ''),
        ('failed', 'CA006 (The names stay): gone'),
    ]


def test_the_first_rule_tells_what_all_of_them_meet():
    ends = 'the check ended with ValueError: no'
    assert statuses(
        row('CA004', 'failed', f'CA004 (Second): {ends}'),
        row('CA005', 'failed', f'CA005 (Third): {ends}'),
    ) == [('failed', f'CA004 (Second): {ends}'), ('not tried', SEE)]


def test_a_fault_that_only_another_rule_finds_stays():
    only = 'CA018 (Messages are lines): it raised KeyError'
    assert statuses(row('CA013', 'failed', only)) == [('failed', only)]
