# SPDX-License-Identifier: Apache-2.0
"""The providers of contexts for encrypted guests: SEV, SEV-ES, SEV-SNP, TDX.

Pure: no I/O, configuration, logging or clock. A guest asks for a context and
one of four traits, so each kind has a provider with exactly one of them. Three
sources decide together: libvirt (the domain capabilities), the kernel (module
parameters, the capacity of the cgroup) and options of nova's.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from compute_agent.tree import inventory

from ...libvirtd import hypervisor, xml
from . import names, traits
from .child import Child, Children, Kind

CLASS = 'MEM_ENCRYPTION_CONTEXT'

SEV = '/sys/module/kvm_amd/parameters/sev'
SEV_ES = '/sys/module/kvm_amd/parameters/sev_es'
SEV_SNP = '/sys/module/kvm_amd/parameters/sev_snp'
CAPACITY = '/sys/fs/cgroup/misc.capacity'
FILES = (SEV, SEV_ES, SEV_SNP, CAPACITY)

X86_64 = 'x86_64'
#: The machine types that nova asks about.
MACHINES = ('pc', 'q35')
HOST_PASSTHROUGH = 'host-passthrough'
_QEMU_WITH_ES = (8, 0, 0)
_DIGITS = re.compile(r'[0-9]{1,20}')

TRAITS = {
    names.AMD_SEV: 'HW_CPU_X86_AMD_SEV',
    names.AMD_SEV_ES: 'HW_CPU_X86_AMD_SEV_ES',
    names.AMD_SEV_SNP: 'HW_CPU_X86_AMD_SEV_SNP',
    names.INTEL_TDX: 'HW_CPU_X86_INTEL_TDX',
}


class Unknown(Exception):
    """A source cannot tell; the message says which one."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Guests:
    """The encrypted guests that libvirt can run; None is unknown.

    :ivar sev: the number of SEV guests, 0 if it cannot run them
    :ivar sev_es: the number of SEV-ES and SEV-SNP guests together
    :ivar snp: True if it can start SEV-SNP guests
    :ivar tdx: True if it can run TDX guests
    """

    sev: int | None = None
    sev_es: int | None = None
    snp: bool | None = None
    tdx: bool | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that decides.

    :ivar files: path → content, None if it cannot be read
    :ivar qemu: the release of QEMU, None if unknown
    :ivar tdx_guests: ``[libvirt] num_intel_tdx_guests``
    """

    machine: str
    guests: Guests
    files: Mapping[str, str | None]
    qemu: hypervisor.Version | None = None
    cpu_mode: str | None = None
    tdx_guests: int | None = None


def guests(documents: Iterable[xml.Element | None]) -> Guests:
    """Return the encrypted guests that these domain capabilities allow.

    :param documents: the documents of the host's machine types; None is an
        unknown one
    """
    return _together(
        [Guests() if one is None else _of_document(one) for one in documents]
    )


def _of_document(root: xml.Element) -> Guests:
    """Return what one document of domain capabilities says."""
    sev = root.find('features/sev')
    launch = root.find('features/launchSecurity')
    tdx = root.find('features/tdx')
    is_sev = _supported(sev)
    return Guests(
        sev=_number(sev, 'maxGuests', supported=is_sev),
        sev_es=_number(sev, 'maxESGuests', supported=is_sev),
        snp='sev-snp' in _kinds(launch)
        if _supported(launch)
        else _supported(launch),
        tdx=_supported(tdx),
    )


def _together(found: Sequence[Guests]) -> Guests:
    """Return what a guest of any of these machine types can get."""
    return Guests(
        sev=_most(g.sev for g in found),
        sev_es=_most(g.sev_es for g in found),
        snp=_any(g.snp for g in found),
        tdx=_any(g.tdx for g in found),
    )


def _most(numbers: Iterable[int | None]) -> int | None:
    listed = list(numbers)
    most = max((n for n in listed if n is not None), default=None)
    return most if most or None not in listed else None


def _any(answers: Iterable[bool | None]) -> bool | None:
    listed = list(answers)
    if True in listed:
        return True
    return False if False in listed and None not in listed else None


def _supported(element: xml.Element | None) -> bool | None:
    value = None if element is None else element.get('supported')
    return {'yes': True, 'no': False}.get(value or '')


def _number(
    element: xml.Element | None, tag: str, *, supported: bool | None
) -> int | None:
    """Return the number in an element; 0 if nothing there is supported."""
    if element is None or not supported:
        return 0 if supported is False else None
    text = element.findtext(tag, '').strip()
    return _count(text)


def _count(text: str) -> int | None:
    """Return a number that placement takes, None for any other text."""
    if not _DIGITS.fullmatch(text):
        return None
    return min(int(text), inventory.MAX_INT)


def _kinds(launch: xml.Element | None) -> set[str]:
    if launch is None:
        return set()
    values = launch.findall("enum[@name='sectype']/value")
    return {(value.text or '').strip() for value in values}


def children(root: str, facts: Facts) -> Children:
    """Return the providers of the kinds of contexts that the host has."""
    found = Children()
    for model, count in _COUNTS.items():
        name = names.memory_encryption(root, model)
        try:
            total, fact = count(facts)
        except Unknown as exc:
            unlikely = () if _is_likely(facts, model) else (name,)
            found += Children(
                unknown={name: str(exc)}, unlikely=frozenset(unlikely)
            )
            continue
        if total:
            found += Children(known=(_child(name, model, total, fact),))
    return found


def _is_likely(facts: Facts, model: str) -> bool:
    """Return True if libvirt offers such guests, or nova.conf limits them."""
    found = facts.guests
    if model == names.INTEL_TDX:
        return bool(found.tdx) or facts.tdx_guests is not None
    return bool(found.sev if model == names.AMD_SEV else found.sev_es)


def _child(name: str, model: str, total: int, fact: str) -> Child:
    return Child(
        name=name,
        kind=Kind.MEMORY_ENCRYPTION,
        inventory={
            CLASS: {
                'total': total,
                'reserved': 0,
                'min_unit': 1,
                'max_unit': 1,
                'step_size': 1,
                'allocation_ratio': 1.0,
            }
        },
        findings=(
            traits.owner(name),
            traits.present(name, TRAITS[model], fact, traits.LIBVIRT),
        ),
    )


# --- how many contexts, and the fact behind the number ------------------------


def _sev(facts: Facts) -> tuple[int, str]:
    return _amd(facts, facts.guests.sev), 'sev/maxGuests'


def _sev_es(facts: Facts) -> tuple[int, str]:
    """Return no context if SEV-SNP is on: nova gives its contexts instead."""
    total = _amd(facts, facts.guests.sev_es)
    if not total or not _is_on(facts, SEV_ES) or _is_on(facts, SEV_SNP):
        return 0, ''
    if facts.qemu is None:
        raise Unknown('the release of QEMU is unknown')
    return (total if facts.qemu >= _QEMU_WITH_ES else 0), 'sev/maxESGuests'


def _sev_snp(facts: Facts) -> tuple[int, str]:
    total = _amd(facts, facts.guests.sev_es)
    if not total or not _is_on(facts, SEV_SNP):
        return 0, ''
    if facts.guests.snp is None:
        raise Unknown('libvirt does not tell if it can launch SEV-SNP guests')
    return (total if facts.guests.snp else 0), 'launchSecurity sev-snp'


def _amd(facts: Facts, number: int | None) -> int:
    """Return the number of libvirt's, 0 where SEV is off.

    :raises Unknown: a source does not tell
    """
    if facts.machine != X86_64 or number == 0 or not _is_on(facts, SEV):
        return 0
    if number is None:
        raise Unknown('libvirt does not tell how many SEV guests it can run')
    return number


def _tdx(facts: Facts) -> tuple[int, str]:
    """Return the smaller of the kernel's number and the option's."""
    if facts.machine != X86_64 or facts.cpu_mode != HOST_PASSTHROUGH:
        return 0, ''
    if facts.guests.tdx is None:
        raise Unknown('libvirt does not tell if it can run TDX guests')
    if not facts.guests.tdx:
        return 0, ''
    text = facts.files.get(CAPACITY)
    if text is None and facts.tdx_guests is None:
        raise Unknown(
            f'{CAPACITY} cannot be read; set [libvirt] num_intel_tdx_guests'
        )
    numbers = [
        number
        for number in (_capacity(text), facts.tdx_guests)
        if number is not None
    ]
    if not numbers:
        raise Unknown(f'{CAPACITY} has no number of TDX guests that counts')
    return min(numbers), 'tdx'


def _capacity(text: str | None) -> int | None:
    """Return the number after ``tdx`` in misc.capacity; 0 without ``tdx``."""
    for line in (text or '').splitlines():
        key, _, number = line.strip().partition(' ')
        if key == 'tdx':
            return _count(number.strip())
    return None if text is None else 0


def _is_on(facts: Facts, path: str) -> bool:
    content = facts.files.get(path)
    if content in ('1', 'Y', 'y'):
        return True
    if content in ('0', 'N', 'n'):
        return False
    raise Unknown(f'{path} cannot be read')


_COUNTS: Mapping[str, Callable[[Facts], tuple[int, str]]] = {
    names.AMD_SEV: _sev,
    names.AMD_SEV_ES: _sev_es,
    names.AMD_SEV_SNP: _sev_snp,
    names.INTEL_TDX: _tdx,
}
