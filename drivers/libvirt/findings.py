# SPDX-License-Identifier: Apache-2.0
"""Which traits follow from what was seen, each with its reason.

Pure: no I/O, configuration, logging or clock. For every trait of the tables
the answer is present, absent or unknown. What the kernel has a word for, the
kernel decides: py-cpuinfo asks the processor itself, misses what the kernel
turned off and misreads some bits, so alone it may say yes and never no.
``driver.py`` calls this.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping

from compute_agent.virt import finding as virt

from . import arch_traits, cpu_traits, processors

KERNEL = 'kernel'
PYCPUINFO = 'py-cpuinfo'

_ON = ('1', 'Y', 'y')
_OFF = ('0', 'N', 'n')

_PRESENT = virt.Found.PRESENT
_ABSENT = virt.Found.ABSENT
_UNKNOWN = virt.Found.UNKNOWN


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What py-cpuinfo answered.

    :ivar flags: None for no answer; then ``reason`` says why
    """

    flags: frozenset[str] | None = None
    vendor: str = ''
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was seen of one host.

    :ivar machine: the kernel's name for the architecture
    :ivar switches: path → what the file says, None if it cannot be read
    """

    machine: str
    kernel: processors.Processors
    claims: Claims = Claims()
    switches: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )

    @property
    def family(self) -> str | None:
        """The table of ``cpu_traits`` that is for this machine."""
        return cpu_traits.family(self.machine)

    @property
    def vendor(self) -> str:
        """Who made the processors, empty if nobody says."""
        return self.kernel.vendor or self.claims.vendor

    @property
    def answered(self) -> bool:
        """Whether any source told what the processors can do."""
        sources = (self.kernel.words, self.claims.flags)
        return self.family is None or any(s is not None for s in sources)


def findings(facts: Facts) -> tuple[virt.Finding, ...]:
    """Return a finding for each trait, then one for each word without any.

    First what is present, then what was seen and refused, then what is
    unknown, then what is absent.
    """
    decided = [
        *_architectures(facts.machine),
        *(decide(row, facts) for row in cpu_traits.rows(facts.family)),
        *_not_reportable(facts),
        *_foreign(facts),
    ]
    return (*sorted(decided, key=_order), *_without_trait(facts))


def decide(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    """Return what these facts say of one row's trait."""
    finding = _by_vendor(row, facts, _by_word(row, facts))
    if finding.found is _PRESENT:
        return _by_switch(row, facts, finding)
    return finding


def _by_word(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    if not (row.kernel or row.pycpuinfo):
        return _finding(row, _PRESENT, fact=row.switch, sources=(KERNEL,))
    if row.kernel and facts.kernel.words is not None:
        return _by_kernel(row, facts.kernel, facts.kernel.words, facts.claims)
    return _by_claims(row, facts)


def _by_kernel(
    row: cpu_traits.Row,
    kernel: processors.Processors,
    words: frozenset[str],
    claims: Claims,
) -> virt.Finding:
    claim = _first(row.pycpuinfo, claims.flags)
    also = (PYCPUINFO,) if claim else ()
    word = _first(row.kernel, words)
    if word:
        return _finding(row, _PRESENT, fact=word, sources=(KERNEL, *also))
    if row.hidden_by in words:
        reason = f'beside {row.hidden_by} the kernel may leave it out'
        return _finding(row, _UNKNOWN, reason=reason)
    word = _first(row.kernel, kernel.partial)
    if word:
        reason = 'only some of the processors have it'
        sources = (KERNEL, *also)
        return _finding(row, _ABSENT, word, sources, reason)
    if claim:
        reason = f'py-cpuinfo claims {claim}, the kernel does not: vetoed'
        return _finding(row, _ABSENT, sources=also, reason=reason)
    return _finding(row, _ABSENT)


def _by_claims(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    """Return what py-cpuinfo says where the kernel says nothing."""
    why = (
        facts.kernel.reason if row.kernel else 'the kernel has no word for it'
    )
    if facts.claims.flags is None:
        reason = f'{why}; {facts.claims.reason}'
    elif not row.pycpuinfo:
        reason = f'{why}; py-cpuinfo does not look for it'
    elif row.misread:
        reason = f'{why}; py-cpuinfo misreads it'
    else:
        claim = _first(row.pycpuinfo, facts.claims.flags)
        if claim:
            reason = f'by py-cpuinfo alone: {why}'
            return _finding(row, _PRESENT, claim, (PYCPUINFO,), reason)
        reason = f'{why}; py-cpuinfo does not list it, which proves nothing'
    return _finding(row, _UNKNOWN, reason=reason)


def _by_vendor(
    row: cpu_traits.Row, facts: Facts, finding: virt.Finding
) -> virt.Finding:
    """Return the finding, or that the trait is for others' processors."""
    if not row.vendors or facts.vendor in row.vendors:
        return finding
    if facts.vendor:
        wanted = ' or '.join(row.vendors)
        reason = f'for processors of {wanted}; these are of {facts.vendor}'
        return dataclasses.replace(finding, found=_ABSENT, reason=reason)
    if finding.found is _PRESENT:
        reason = 'nothing says who made the processors'
        return dataclasses.replace(finding, found=_UNKNOWN, reason=reason)
    return finding


def _by_switch(
    row: cpu_traits.Row, facts: Facts, finding: virt.Finding
) -> virt.Finding:
    if not row.switch:
        return finding
    says = facts.switches.get(row.switch)
    if says in _ON:
        return finding
    if says in _OFF:
        reason = f'{row.switch} says {says}: turned off'
        return dataclasses.replace(finding, found=_ABSENT, reason=reason)
    if says is None:
        module = row.switch.startswith('/sys/module/')
        hint = '; is the kernel module loaded?' if module else ''
        reason = f'{row.switch} cannot be read{hint}'
    else:
        reason = f'{row.switch} says {says!r}, which is neither on nor off'
    return dataclasses.replace(finding, found=_UNKNOWN, reason=reason)


def _architectures(machine: str) -> Iterator[virt.Finding]:
    for row in arch_traits.ARCH_TRAITS:
        here = machine in row.machines
        yield virt.Finding(
            trait=row.trait,
            found=_PRESENT if here else _ABSENT,
            fact=machine if here else row.machines[0],
            sources=(KERNEL,) if here else (),
            reason='' if here else f'this machine is {machine}',
        )


def _not_reportable(facts: Facts) -> Iterator[virt.Finding]:
    if facts.family == cpu_traits.X86:
        for trait, reason in cpu_traits.NOT_REPORTABLE.items():
            yield virt.Finding(
                trait=trait, found=_UNKNOWN, fact='', reason=reason
            )


def _foreign(facts: Facts) -> Iterator[virt.Finding]:
    reason = f'for other processors; this machine is {facts.machine}'
    for family, rows in cpu_traits.ROWS.items():
        if family not in (cpu_traits.ANY, facts.family):
            for row in rows:
                yield _finding(row, _ABSENT, reason=reason)
    if facts.family != cpu_traits.X86:
        for trait in cpu_traits.NOT_REPORTABLE:
            yield virt.Finding(
                trait=trait, found=_ABSENT, fact='', reason=reason
            )


def _without_trait(facts: Facts) -> Iterator[virt.Finding]:
    machines = {m for row in arch_traits.ARCH_TRAITS for m in row.machines}
    if facts.machine not in machines:
        yield virt.Finding(
            trait=None,
            found=_PRESENT,
            fact=facts.machine,
            sources=(KERNEL,),
            reason='os-traits has no HW_ARCH_ name for this machine',
        )
    mapped = {w for row in cpu_traits.rows(facts.family) for w in row.kernel}
    for word in sorted((facts.kernel.words or frozenset()) - mapped):
        yield virt.Finding(
            trait=None, found=_PRESENT, fact=word, sources=(KERNEL,)
        )


def _finding(
    row: cpu_traits.Row,
    found: virt.Found,
    fact: str = '',
    sources: tuple[str, ...] = (),
    reason: str = '',
) -> virt.Finding:
    """Return a finding; its fact is by default the word that would give it."""
    return virt.Finding(
        trait=row.trait,
        found=found,
        fact=fact or (*row.kernel, *row.pycpuinfo)[0],
        sources=sources,
        reason=reason,
    )


def _first(wanted: tuple[str, ...], there: Collection[str] | None) -> str:
    return next((w for w in wanted if w in (there or ())), '')


def _order(finding: virt.Finding) -> tuple[int, str]:
    rank = {_PRESENT: 0, _UNKNOWN: 2, _ABSENT: 3}[finding.found]
    refused = finding.found is _ABSENT and finding.sources
    return 1 if refused else rank, finding.trait or ''
