# SPDX-License-Identifier: Apache-2.0
"""Decides the host's COMPUTE_* traits, each with its evidence.

Pure: no I/O, configuration, logging or clock. Begin with ``findings``. Traits
of domain capabilities are decided here. ``option_findings.py`` decides those
of nova and its options, ``device_findings.py`` those of the emulator.
``guests.py`` calls this.
"""

from collections.abc import Iterator

from compute_agent.virt import finding

from . import device_findings, facts, nova_traits, option_findings, votes
from .domain_capabilities import Kind, Place

Found = finding.Found
Finding = finding.Finding

_X86 = ('i686', 'x86_64')


def findings(known: facts.Facts) -> tuple[Finding, ...]:
    """Return a finding for each trait of the tables."""
    return (
        *option_findings.findings(known),
        *(_by_arch(arch, known) for arch in nova_traits.ARCHITECTURES),
        *_by_places(known),
        *_by_tpm(known),
        _secure_boot(known),
        _bios(known),
        _share(known),
        *device_findings.findings(known),
    )


def _by_arch(arch: str, known: facts.Facts) -> Finding:
    found = [
        votes.of_kind(kind)
        for kind in known.kinds
        if kind.request.arch == arch
    ]
    if known.listed and known.answered and not found:
        found = [votes.Vote(Found.ABSENT, f'capabilities/guest/arch[{arch}]')]
    if not known.answered:
        found = []
    trait = nova_traits.ARCHITECTURES[arch]
    return votes.decided(trait, found, f'capabilities/guest/arch[{arch}]')


def _by_places(known: facts.Facts) -> Iterator[Finding]:
    for trait, place in nova_traits.PLACES.items():
        yield votes.decided(
            trait, votes.of_place(place, known.kinds), str(place)
        )


def _by_tpm(known: facts.Facts) -> Iterator[Finding]:
    emulated = votes.one(votes.of_place(nova_traits.EMULATED_TPM, known.own))
    for trait, place in nova_traits.TPM.items():
        if not known.options.swtpm_enabled:
            option = '[libvirt] swtpm_enabled'
            yield option_findings.switched(trait, option, is_on=False)
        elif emulated is not None and emulated.found is Found.ABSENT:
            reason = (
                f'{nova_traits.EMULATED_TPM} is missing: is swtpm installed?'
            )
            yield votes.finding_of(
                trait, Found.ABSENT, str(place), reason=reason
            )
        else:
            yield votes.decided(
                trait, votes.of_place(place, known.own), str(place)
            )


def _secure_boot(known: facts.Facts) -> Finding:
    places = nova_traits.SECURE_BOOT
    found = (votes.either(kind, places) for kind in known.own)
    return votes.decided(
        'COMPUTE_SECURITY_UEFI_SECURE_BOOT',
        [vote for vote in found if vote is not None],
        str(places[0]),
    )


def _bios(known: facts.Facts) -> Finding:
    """Return the finding about BIOS firmware.

    libvirt lists firmware that has a descriptor. The machine types of x86 start
    with the BIOS that is a part of QEMU, whether or not it has one.
    """
    place = Place(path='os', enum='firmware', value='bios')
    found = [
        votes.Vote(Found.PRESENT, 'the BIOS of QEMU', f'guests of {kind.name}')
        for kind in known.answered
        if kind.request.arch in _X86
    ]
    found += votes.of_place(place, known.kinds)
    return votes.decided('COMPUTE_FIRMWARE_BIOS', found, str(place))


def _share(known: facts.Facts) -> Finding:
    """Return the finding about file systems that guests share with a host."""
    virtiofs = nova_traits.PLACES['COMPUTE_STORAGE_VIRTIO_FS']
    found = [
        _both(kind, virtiofs) if kind.root is not None else vote
        for kind in known.kinds
        for vote in votes.of_place(virtiofs, [kind])
    ]
    return votes.decided('COMPUTE_SHARE_LOCAL_FS', found, str(virtiofs))


def _both(kind: Kind, virtiofs: Place) -> votes.Vote:
    (files,) = votes.of_place(virtiofs, [kind])
    memory = votes.either(kind, nova_traits.SHARED_MEMORY)
    if files.found is Found.PRESENT and memory is not None:
        return memory
    return files
