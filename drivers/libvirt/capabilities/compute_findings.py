# SPDX-License-Identifier: Apache-2.0
"""Decides the host's COMPUTE_* traits, each with its evidence.

Pure: no I/O, configuration, logging or clock. Begin with ``findings``. A trait is
decided by nova and its options alone, by domain capabilities, or by the devices
and the release of the emulator. libvirt tells neither network interfaces nor
sound devices. Their models are constants for nova, although a build of QEMU may
lack most of them. ``reading/guests.py`` calls this.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from compute_agent.virt.values import finding

from ...libvirtd import hypervisor
from . import facts, nova_traits, votes
from .facts import Kind, Place

Found = finding.Found
Finding = finding.Finding

_X86 = ('i686', 'x86_64')


def findings(known: facts.Facts) -> tuple[Finding, ...]:
    """Return a finding for each trait of the tables."""
    return (
        *_by_options_alone(known),
        *(_by_arch(arch, known) for arch in nova_traits.ARCHITECTURES),
        *_by_places(known),
        *_by_tpm(known),
        _secure_boot(known),
        _bios(known),
        _share(known),
        *_by_emulator(known),
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
    emulated = votes.deciding_vote(
        votes.of_place(nova_traits.EMULATED_TPM, known.own)
    )
    for trait, place in nova_traits.TPM.items():
        if not known.options.swtpm_enabled:
            option = '[libvirt] swtpm_enabled'
            yield switched(trait, option, is_on=False)
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


NOVA = 'nova'
OPTION = 'option'

#: The kernel's switch for the memory faults that post-copy migration needs.
USERFAULTFD = '/proc/sys/vm/unprivileged_userfaultfd'


def _by_options_alone(known: facts.Facts) -> Iterator[Finding]:
    """Yield a finding for each of these traits.

    A host without libvirt does not have what nova and its options give to
    guests: only an answer of libvirt tells that guests can start there.
    """
    has_answered = known.versions is not None or bool(known.answered)
    for one in (
        *_constants(),
        *_image_types(known.options),
        *_by_options(known),
    ):
        is_claim = one.found is Found.PRESENT and not has_answered
        yield (
            dataclasses.replace(
                one,
                found=Found.UNKNOWN,
                sources=(),
                reason=votes.NO_ANSWER,
            )
            if is_claim
            else one
        )


def _constants() -> Iterator[Finding]:
    for trait in nova_traits.ALWAYS:
        yield votes.finding_of(
            trait, Found.PRESENT, 'on every libvirt host', NOVA
        )
    for trait in nova_traits.NEVER:
        reason = 'nova does not do this with libvirt'
        yield votes.finding_of(trait, Found.ABSENT, '', reason=reason)


def _image_types(options: facts.GuestOptions) -> Iterator[Finding]:
    for name, trait in nova_traits.IMAGE_TYPES.items():
        reason = _no_image(name, options)
        found = Found.ABSENT if reason else Found.PRESENT
        yield votes.finding_of(trait, found, name, NOVA, reason=reason)


def _no_image(name: str, options: facts.GuestOptions) -> str:
    """Return why guests cannot start from images of this format."""
    if name in options.excluded_image_types:
        return '[compute] image_type_exclude_list has it'
    if name == 'ploop' and options.cpu.virt_type != 'parallels':
        return 'only for [libvirt] virt_type = parallels'
    raw_only = options.images_type in ('lvm', 'rbd')
    if name == 'qcow2' and raw_only and not options.force_raw_images:
        return (
            f'[libvirt] images_type = {options.images_type} without '
            '[DEFAULT] force_raw_images'
        )
    return ''


def _by_options(known: facts.Facts) -> Iterator[Finding]:
    options = known.options
    yield switched(
        'COMPUTE_MEM_BACKING_FILE',
        '[libvirt] file_backed_memory',
        is_on=options.file_backed_memory,
    )
    yield switched(
        'COMPUTE_STORAGE_BUS_LXC',
        '[libvirt] virt_type = lxc',
        is_on=options.cpu.virt_type == 'lxc',
    )
    yield switched(
        'COMPUTE_MIGRATE_AUTO_CONVERGE',
        '[libvirt] live_migration_permit_auto_converge',
        is_on=options.permit_auto_converge,
    )
    yield _post_copy(known)
    for name, trait in nova_traits.TPM_SECRETS.items():
        yield switched(
            trait,
            f'[libvirt] swtpm_enabled and supported_tpm_secret_security {name}',
            is_on=options.swtpm_enabled and name in options.tpm_secrets,
        )


def _post_copy(known: facts.Facts) -> Finding:
    trait = 'COMPUTE_MIGRATE_POST_COPY'
    option = '[libvirt] live_migration_permit_post_copy'
    content = known.userfaultfd
    if not known.options.permit_post_copy or content == '1':
        is_on = known.options.permit_post_copy
        return switched(trait, option, is_on=is_on)
    if content == '0':
        reason = f'{USERFAULTFD} is 0: QEMU may not handle memory faults'
        return votes.finding_of(trait, Found.ABSENT, option, reason=reason)
    reason = f'{USERFAULTFD} cannot be read'
    return votes.finding_of(trait, Found.UNKNOWN, option, reason=reason)


def switched(trait: str, option: str, *, is_on: bool) -> Finding:
    """Return the finding about a trait that an option turns on."""
    if is_on:
        return votes.finding_of(trait, Found.PRESENT, option, OPTION)
    return votes.finding_of(
        trait, Found.ABSENT, option, reason='it is not set'
    )


def _by_emulator(known: facts.Facts) -> Iterator[Finding]:
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
