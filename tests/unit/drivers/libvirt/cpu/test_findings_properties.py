# SPDX-License-Identifier: Apache-2.0
"""Laws that hold of the decisions, whatever is seen."""

import dataclasses

import os_traits
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.virt.values import finding
from drivers.libvirt.cpu import cpu_traits, findings, processors
from drivers.libvirt.cpu.findings import Facts, ReportedFlags

ROWS = cpu_traits.ROWS[cpu_traits.X86]
WORDS = sorted({w for r in ROWS for w in (*r.kernel, *r.pycpuinfo)})
DECIDED = {
    *os_traits.get_traits('HW_CPU_'),
    *os_traits.get_traits('HW_ARCH_'),
}

words = st.frozensets(st.sampled_from([*WORDS, 'adx', 'ht']))
switches = st.fixed_dictionaries(
    {
        path: st.sampled_from([None, '', '0', '1', 'Y', 'N'])
        for path in cpu_traits.switches(cpu_traits.X86)
    }
)
reported = st.builds(
    ReportedFlags,
    flags=st.none() | words,
    vendor=st.sampled_from(['', 'X']),
)
facts = st.builds(
    Facts,
    machine=st.sampled_from(['x86_64', 'i686']),
    kernel=st.builds(
        processors.Processors,
        words=st.none() | words,
        partial=words,
        vendor=st.sampled_from(['', 'GenuineIntel', 'AuthenticAMD']),
    ),
    reported=reported,
    switches=switches,
)


def found(facts, answer):
    return {
        f.trait
        for f in findings.findings(facts)
        if f.trait and f.found is answer
    }


@given(facts)
def test_every_trait_is_decided_exactly_once(seen):
    traits = [f.trait for f in findings.findings(seen) if f.trait]
    assert sorted(traits) == sorted(DECIDED)


@given(facts, st.sampled_from(WORDS))
def test_one_more_flag_removes_no_trait(seen, word):
    if seen.kernel.words is None:
        return
    more = dataclasses.replace(
        seen,
        kernel=dataclasses.replace(
            seen.kernel, words=seen.kernel.words | {word}
        ),
    )
    present = finding.Found.PRESENT
    assert found(seen, present) <= found(more, present)


@given(facts, reported)
def test_where_the_kernel_answers_no_claim_changes_what_is_present(
    seen, other
):
    if seen.kernel.words is None or not seen.kernel.vendor:
        return
    for answer in finding.Found:
        changed = dataclasses.replace(seen, reported=other)
        assert found(seen, answer) == found(changed, answer)


@given(facts)
def test_what_is_vetoed_is_never_present(seen):
    vetoed = {
        f.trait
        for f in findings.findings(seen)
        if f.reason.endswith('but the kernel does not')
    }
    assert not vetoed & found(seen, finding.Found.PRESENT)


@given(facts)
def test_without_the_kernel_no_word_makes_a_trait_of_this_maker_absent(seen):
    silent = dataclasses.replace(
        seen,
        kernel=processors.Processors(reason='cannot be read'),
        reported=dataclasses.replace(seen.reported, vendor=''),
    )
    of_words = {row.trait for row in ROWS if not row.switch}
    assert not found(silent, finding.Found.ABSENT) & of_words


@given(facts)
def test_present_findings_name_their_sources(seen):
    for one in findings.findings(seen):
        if one.found is finding.Found.PRESENT:
            assert one.sources
            assert one.fact
