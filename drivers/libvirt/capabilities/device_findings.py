# SPDX-License-Identifier: Apache-2.0
"""Decides the COMPUTE_* traits by the devices and releases of the emulator.

Pure: no I/O, configuration, logging or clock. libvirt tells neither network
interfaces nor sound devices. Their models are constants for nova, although a
build of QEMU may lack most of them. ``compute_findings.py`` calls this.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from compute_agent.virt import finding

from ...libvirtd import hypervisor
from . import facts, nova_traits, votes

Found = finding.Found
Finding = finding.Finding


def findings(known: facts.Facts) -> Iterator[Finding]:
    """Yield a finding for each of these traits."""
    yield from _by_devices(known)
    yield from _by_releases(known)
    yield from _address_spaces(known)
    yield from _on_x86(known, 'COMPUTE_SOUND_MODEL_PCSPK', 'PC speaker')
    yield from _iommus(known)


def _by_devices(known: facts.Facts) -> Iterator[Finding]:
    for trait, names in nova_traits.DEVICES.items():
        too_old = _too_old(trait, known.versions)
        found = [
            _of_devices(arch, devices, names)
            for arch, devices in _emulators(known)
        ]
        yield too_old or votes.decided(trait, found, f'-device {names[0]}')


def _emulators(
    known: facts.Facts,
) -> Iterator[tuple[str, frozenset[str] | None]]:
    """Yield each architecture that may have guests, with its devices.

    They are None if they cannot be read, or if libvirt does not answer.
    """
    archs = {
        kind.request.arch
        for kind in known.kinds
        if kind.root is not None or kind.is_possible
    }
    for arch in sorted(archs):
        yield arch, known.devices.get(arch)


def _of_devices(
    arch: str, devices: frozenset[str] | None, names: Sequence[str]
) -> votes.Vote:
    if devices is None:
        reason = f'the devices of the emulator for {arch} cannot be read'
        return votes.Vote(Found.UNKNOWN, f'-device {names[0]}', reason)
    source = f'-device help of the emulator for {arch}'
    for name in names:
        if name in devices:
            return votes.Vote(Found.PRESENT, f'-device {name}', source)
    reason = f'{source} does not have it'
    return votes.Vote(Found.ABSENT, f'-device {names[0]}', reason)


def _too_old(
    trait: str, versions: hypervisor.Versions | None
) -> Finding | None:
    """Return an absent finding if a release is too old for the trait."""
    needed = nova_traits.RELEASES.get(trait)
    if needed is None or versions is None:
        return None
    libvirt, emulator = needed
    for name, has, wants in (
        ('libvirt', versions.libvirt, libvirt),
        (versions.kind, versions.hypervisor, emulator),
    ):
        if has < wants:
            reason = f'{name} {_dotted(has)} is older than {_dotted(wants)}'
            return votes.finding_of(trait, Found.ABSENT, '', reason=reason)
    return None


def _by_releases(known: facts.Facts) -> Iterator[Finding]:
    for trait in nova_traits.RELEASES:
        if trait in nova_traits.DEVICES:
            continue
        yield _too_old(trait, known.versions) or _by_release(trait, known)


def _by_release(trait: str, known: facts.Facts) -> Finding:
    if known.versions is None or not known.answered:
        return votes.finding_of(
            trait, Found.UNKNOWN, '', reason=votes.NO_ANSWER
        )
    fact = f'libvirt {_dotted(known.versions.libvirt)}'
    return votes.finding_of(trait, Found.PRESENT, fact, 'libvirt')


def _address_spaces(known: facts.Facts) -> Iterator[Finding]:
    since = nova_traits.ADDRESS_SPACE_SINCE
    for trait in nova_traits.ADDRESS_SPACES:
        if known.versions is not None and known.versions.libvirt < since:
            has = _dotted(known.versions.libvirt)
            reason = f'libvirt {has} is older than {_dotted(since)}'
            yield votes.finding_of(trait, Found.ABSENT, '', reason=reason)
        else:
            yield from _on_x86(known, trait, 'cpu/maxphysaddr')


def _on_x86(known: facts.Facts, trait: str, fact: str) -> Iterator[Finding]:
    """Yield a trait that all guests with x86 processors have."""
    if known.versions is None:
        yield votes.finding_of(
            trait, Found.UNKNOWN, fact, reason=votes.NO_ANSWER
        )
        return
    found = [
        dataclasses.replace(votes.of_kind(kind), fact=fact)
        for kind in known.kinds
        if kind.request.arch == 'x86_64'
    ]
    if known.answered and not found:
        found = [votes.Vote(Found.ABSENT, fact)]
    yield votes.decided(trait, found if known.answered else [], fact)


def _iommus(known: facts.Facts) -> Iterator[Finding]:
    """Yield the IOMMU of Arm's machines, and the choice that nova makes."""
    arm = [
        votes.of_kind(k) for k in known.kinds if k.request.arch == 'aarch64'
    ]
    smmu = [dataclasses.replace(vote, fact='smmuv3') for vote in arm]
    if known.answered and not smmu:
        smmu = [votes.Vote(Found.ABSENT, 'smmuv3')]
    smmu = smmu if known.answered else []
    yield votes.decided('COMPUTE_VIOMMU_MODEL_SMMUV3', smmu, 'smmuv3')
    names = ('intel-iommu', 'virtio-iommu-pci')
    some = [
        _of_devices(arch, devices, names)
        for arch, devices in _emulators(known)
    ]
    yield votes.decided(
        'COMPUTE_VIOMMU_MODEL_AUTO', [*smmu, *some], 'any vIOMMU'
    )


def _dotted(version: hypervisor.Version) -> str:
    return '.'.join(str(part) for part in version)
