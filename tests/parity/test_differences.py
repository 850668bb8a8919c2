# SPDX-License-Identifier: Apache-2.0
"""The comparison finds each difference, and accepts only those listed."""

import dataclasses
import pathlib
import re

import cases
import decisions
import differences
import parity
import pytest
import reported

FAULTS = (
    pathlib.Path(__file__).parents[1]
    / 'unit/drivers/libvirt/test_faults_of_nova.py'
)
VCPU = {'total': 8, 'reserved': 0, 'max_unit': 8}
ROOT = reported.Provider(
    parent='',
    inventory={'VCPU': VCPU},
    traits=frozenset({'COMPUTE_NODE'}),
    aggregates=frozenset(),
)


def found(nova, ours, memory_mib=0):
    return [
        str(one) for one in differences.differences(nova, ours, memory_mib)
    ]


def root(**parts):
    return {'root': dataclasses.replace(ROOT, **parts)}


def test_equal_reports_have_none():
    assert found(root(), root()) == []


@pytest.mark.parametrize(
    ('ours', 'line'),
    [
        ({}, 'root: provider: nova has it, here nothing'),
        (
            root(inventory={'VCPU': {**VCPU, 'reserved': 2}}),
            'root: VCPU reserved: nova 0, here 2',
        ),
        (
            root(traits=frozenset({'COMPUTE_NODE', 'HW_CPU_X86_SSE3'})),
            'root: HW_CPU_X86_SSE3: nova nothing, here has it',
        ),
        (
            root(traits=frozenset()),
            'root: COMPUTE_NODE: nova has it, here nothing',
        ),
        (
            root(aggregates=frozenset({'a'})),
            'root: aggregate a: nova nothing, here has it',
        ),
        (root(parent='other'), 'root: parent: nova , here other'),
        (
            {**root(), 'root_card': dataclasses.replace(ROOT, parent='root')},
            'root_card: provider: nova nothing, here has it',
        ),
    ],
)
def test_each_kind_of_difference_is_found(ours, line):
    assert found(root(), ours) == [line]


@pytest.mark.parametrize(
    ('nova', 'ours', 'count'),
    [(120, 150, 0), (120, 149, 1), (160, 150, 1), (150, 120, 1)],
)
def test_libvirt_s_memory_may_still_grow_to_all_of_it(nova, ours, count):
    theirs, mine = (
        root(inventory={'MEMORY_MB': {'total': total}})
        for total in (nova, ours)
    )
    assert len(found(theirs, mine, 150)) == count


@pytest.mark.parametrize(
    ('entry', 'is_covered'),
    [
        ({'who': 'here', 'subjects': ['HW_CPU_*']}, True),
        ({'who': 'nova', 'subjects': ['HW_CPU_*']}, False),
        ({'who': 'both', 'subjects': ['HW_CPU_*']}, False),
        ({'who': 'here', 'subjects': ['HW_GPU_*']}, False),
        ({'who': 'here', 'subjects': ['*'], 'cases': ['a*']}, True),
        ({'who': 'here', 'subjects': ['*'], 'cases': ['b*']}, False),
        ({'who': 'here', 'subjects': ['*'], 'providers': ['root_*']}, False),
    ],
)
def test_an_entry_covers_what_it_names(entry, is_covered):
    one = differences.Difference(
        provider='root', subject='HW_CPU_X86_SSE3', nova=None, ours='has it'
    )
    right = differences.Accepted.parse(
        {'why': 'a reason', 'fault': 1, **entry}
    )
    assert right.covers('a-case', one) is is_covered


def test_each_accepted_difference_has_a_reason_and_names_real_cases():
    for one in parity.accepted():
        assert one.why
        for name in one.cases:
            assert name in cases.names() or '*' in name


def test_each_accepted_difference_is_a_fault_that_a_test_shows():
    found = {one.fault for one in parity.accepted()}
    shown = set(
        map(int, re.findall(r'(?m)^def test_(\d+)_', FAULTS.read_text()))
    )
    assert found - {'beyond nova'} <= shown


def test_no_accepted_difference_is_every_feature_of_a_processor():
    """A guest on the host's processor is the exception: it cannot start."""
    for one in parity.accepted():
        if 'HW_CPU_X86_*' in one.subjects:
            assert all('passthrough' in name for name in one.cases)
            assert not one.by_host


@pytest.mark.parametrize('name', cases.names())
def test_each_case_can_be_read(name, tmp_path):
    words = {
        f'{word}{number}': '0'
        for word in ('PCI', 'NAME', 'VENDOR', 'PRODUCT', 'ID')
        for number in (1, 2)
    }
    case = cases.load(name, {**words, 'FOLDER': str(tmp_path)})
    assert set(case.data) <= {*('conf', 'files', 'nova', 'driver', 'changes')}
    assert isinstance(case.changes, dict)
    case.write(tmp_path / 'case.conf')
    assert '@' not in (tmp_path / 'case.conf').read_text()


def test_an_option_without_a_decision_is_noticed():
    nova = decisions.decided()
    assert list(decisions.flaws(nova)) == []
    nova['pci'] = [*nova['pci'], 'newest']
    nova['devices'] = []
    assert list(decisions.flaws(nova)) == [
        'nova has no option [devices] enabled_mdev_types; see options.yaml',
        'options.yaml has no decision for [pci] newest',
    ]
