# SPDX-License-Identifier: Apache-2.0
"""Derive traits from a host's facts, each with its reason.

Pure: no I/O, configuration, logging or clock. Each trait of the tables is
present, absent or unknown. libvirt decides as far as it tells what guests get.
Otherwise the kernel decides, if it has a word for it. py-cpuinfo reads the
processor itself: it does not see what the kernel turned off, and misreads some
bits. On its own it may therefore decide "present", but never "absent".
``reading/root_traits.py`` collects the facts and calls this.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping

from compute_agent.virt.values import finding as virt

from . import cpu_traits, guest_cpu, processors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFlags:
    """The flags that py-cpuinfo reports.

    :ivar flags: None if it gave no answer; ``reason`` then says why
    """

    flags: frozenset[str] | None = None
    vendor: str = ''
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts read from one host.

    :ivar machine: the kernel's name for the architecture
    :ivar kernel: the processors as the kernel shows them
    :ivar reported: the processors as py-cpuinfo reports them
    :ivar guest: the processors of guests as libvirt tells
    :ivar switches: path → the file's content, None if it cannot be read
    """

    machine: str
    kernel: processors.Processors
    reported: ReportedFlags = ReportedFlags()
    guest: guest_cpu.GuestCpu = dataclasses.field(
        default_factory=guest_cpu.GuestCpu
    )
    switches: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )

    @property
    def family(self) -> str | None:
        """The key of this machine's table in ``cpu_traits``."""
        return cpu_traits.family(self.machine)

    @property
    def vendor(self) -> str:
        """The vendor of the processors, empty if no source names it."""
        return self.kernel.vendor or self.reported.vendor

    @property
    def answered(self) -> bool:
        """True if a source listed the features of the processors."""
        if not self.guest.leaves_to_kernel:
            return True
        sources = (self.kernel.words, self.reported.flags)
        return self.family is None or any(s is not None for s in sources)


KERNEL = 'kernel'
PYCPUINFO = 'py-cpuinfo'

_ON = ('1', 'Y', 'y')
_OFF = ('0', 'N', 'n')

_NOT_ON_THE_ROOT = (
    'it belongs on a child provider with MEM_ENCRYPTION_CONTEXT, not on the '
    'host'
)

_PRESENT = virt.Found.PRESENT
_ABSENT = virt.Found.ABSENT
_UNKNOWN = virt.Found.UNKNOWN


def findings(facts: Facts) -> tuple[virt.Finding, ...]:
    """Return a finding for each trait, then for each word without a trait.

    The order is: present, seen but refused, unknown, absent.
    """
    decided = [
        *_architectures(facts.machine),
        *(decide(row, facts) for row in cpu_traits.rows(facts.family)),
        *_not_reportable(facts),
        *_foreign(facts),
    ]
    return (*sorted(decided, key=order), *_without_trait(facts))


def decide(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    """Return the finding for the trait of one row."""
    finding = None if row.of_child else _by_guest(row, facts)
    if finding is not None:
        return finding
    finding = _by_vendor(row, facts.vendor, _by_word(row, facts))
    if finding.found is _PRESENT:
        finding = _by_switch(row, facts, finding)
    return _of_child(finding) if row.of_child else finding


def _by_guest(row: cpu_traits.Row, facts: Facts) -> virt.Finding | None:
    """Return libvirt's finding; None if it leaves the trait to the kernel."""
    if not row.libvirt:
        return None
    guest = facts.guest
    for word in row.libvirt:
        if word in guest.given:
            return _given(row, word, facts)
    for listed, found in ((guest.doubted, _UNKNOWN), (guest.refused, _ABSENT)):
        word = _first(row.libvirt, listed)
        if word:
            return _finding(row, found, word, reason=listed[word])
    if guest.problem:
        return _finding(row, _UNKNOWN, reason=guest.problem)
    if guest.complete:
        return _finding(row, _ABSENT, row.libvirt[0], reason=guest.note)
    return None


def _given(row: cpu_traits.Row, word: str, facts: Facts) -> virt.Finding:
    given = facts.guest.given[word]
    finding = _finding(row, _PRESENT, word, (given.source,))
    vendors = given.vendors or frozenset(filter(None, [facts.vendor]))
    if len(vendors) > 1 and vendors.intersection(row.vendors):
        return finding
    return _by_vendor(row, next(iter(sorted(vendors)), ''), finding)


def _of_child(finding: virt.Finding) -> virt.Finding:
    """Return the finding as absent: the host's own provider never has it.

    Placement takes the traits of the unnumbered request group from any
    provider that gives something. With ``HW_CPU_X86_AMD_SEV`` on the root, a
    request for SEV is offered a context of SEV-ES.
    """
    reason = '; '.join(filter(None, (finding.reason, _NOT_ON_THE_ROOT)))
    return dataclasses.replace(finding, found=_ABSENT, reason=reason)


def _by_word(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    if row.hidden:
        return _finding(row, _UNKNOWN, reason=row.hidden)
    if not (row.kernel or row.pycpuinfo):
        return _finding(row, _PRESENT, fact=row.switch, sources=(KERNEL,))
    if row.kernel and facts.kernel.words is not None:
        return _by_kernel(
            row, facts.kernel, facts.kernel.words, facts.reported
        )
    return _by_reported(row, facts)


def _by_kernel(
    row: cpu_traits.Row,
    kernel: processors.Processors,
    words: frozenset[str],
    reported: ReportedFlags,
) -> virt.Finding:
    flag = _first(row.pycpuinfo, reported.flags)
    also = (PYCPUINFO,) if flag else ()
    word = _first(row.kernel, words)
    if word:
        return _finding(row, _PRESENT, fact=word, sources=(KERNEL, *also))
    if row.hidden_by in words:
        reason = f'the kernel may omit it beside {row.hidden_by}'
        return _finding(row, _UNKNOWN, reason=reason)
    word = _first(row.kernel, kernel.partial)
    if word:
        reason = 'only some of the processors have it'
        sources = (KERNEL, *also)
        return _finding(row, _ABSENT, word, sources, reason)
    if flag:
        reason = f'py-cpuinfo reports {flag}, but the kernel does not'
        return _finding(row, _ABSENT, sources=also, reason=reason)
    return _finding(row, _ABSENT)


def _by_reported(row: cpu_traits.Row, facts: Facts) -> virt.Finding:
    """Return py-cpuinfo's finding for a trait the kernel cannot decide."""
    why = (
        facts.kernel.reason if row.kernel else 'the kernel has no word for it'
    )
    if facts.reported.flags is None:
        reason = f'{why}; {facts.reported.reason}'
    elif not row.pycpuinfo:
        reason = f'{why}; py-cpuinfo does not look for it'
    elif row.misread:
        reason = f'{why}; py-cpuinfo misreads it'
    else:
        flag = _first(row.pycpuinfo, facts.reported.flags)
        if flag:
            reason = f'reported by py-cpuinfo only: {why}'
            return _finding(row, _PRESENT, flag, (PYCPUINFO,), reason)
        reason = f'{why}; py-cpuinfo does not list it, which proves nothing'
    return _finding(row, _UNKNOWN, reason=reason)


def _by_vendor(
    row: cpu_traits.Row, vendor: str, finding: virt.Finding
) -> virt.Finding:
    """Return the finding, or absent for processors of another vendor."""
    if not row.vendors or vendor in row.vendors:
        return finding
    if vendor:
        wanted = ' or '.join(row.vendors)
        reason = f'for processors by {wanted}; these are by {vendor}'
        return dataclasses.replace(finding, found=_ABSENT, reason=reason)
    if finding.found is _PRESENT:
        reason = 'the vendor of the processors is unknown'
        return dataclasses.replace(finding, found=_UNKNOWN, reason=reason)
    return finding


def _by_switch(
    row: cpu_traits.Row, facts: Facts, finding: virt.Finding
) -> virt.Finding:
    if not row.switch:
        return finding
    content = facts.switches.get(row.switch)
    if content in _ON:
        return finding
    if content in _OFF:
        reason = f'{row.switch} is {content}: turned off'
        return dataclasses.replace(finding, found=_ABSENT, reason=reason)
    if content is None:
        module = row.switch.startswith('/sys/module/')
        hint = '; is the kernel module loaded?' if module else ''
        reason = f'{row.switch} cannot be read{hint}'
    else:
        reason = f'{row.switch} is {content!r}, which is neither on nor off'
    return dataclasses.replace(finding, found=_UNKNOWN, reason=reason)


def _architectures(machine: str) -> Iterator[virt.Finding]:
    for row in cpu_traits.ARCH_TRAITS:
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
    machines = {m for row in cpu_traits.ARCH_TRAITS for m in row.machines}
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
    """Return a finding; its default fact is the row's first word."""
    return virt.Finding(
        trait=row.trait,
        found=found,
        fact=fact or (*row.kernel, *row.pycpuinfo, *row.libvirt)[0],
        sources=sources,
        reason=reason,
    )


def _first(wanted: tuple[str, ...], found: Collection[str] | None) -> str:
    return next((word for word in wanted if word in (found or ())), '')


def order(finding: virt.Finding) -> tuple[int, str]:
    """Return the key that sorts findings for people."""
    rank = {_PRESENT: 0, _UNKNOWN: 2, _ABSENT: 3}[finding.found]
    refused = finding.found is _ABSENT and finding.sources
    return 1 if refused else rank, finding.trait or ''
