# SPDX-License-Identifier: Apache-2.0
"""Decides the COMPUTE_* traits that nova and its options alone decide.

Pure: no I/O, configuration, logging or clock. ``compute_findings.py`` calls
this.
"""

from collections.abc import Iterator

from compute_agent.virt import finding

from . import facts, guest_options, nova_traits, votes

Found = finding.Found
Finding = finding.Finding

NOVA = 'nova'
OPTION = 'option'

#: The kernel's switch for the memory faults that post-copy migration needs.
USERFAULTFD = '/proc/sys/vm/unprivileged_userfaultfd'


def findings(known: facts.Facts) -> Iterator[Finding]:
    """Yield a finding for each of these traits."""
    yield from _constants()
    yield from _image_types(known.options)
    yield from _by_options(known)


def _constants() -> Iterator[Finding]:
    for trait in nova_traits.ALWAYS:
        yield votes.finding_of(
            trait, Found.PRESENT, 'on every libvirt host', NOVA
        )
    for trait in nova_traits.NEVER:
        reason = 'nova does not do this with libvirt'
        yield votes.finding_of(trait, Found.ABSENT, '', reason=reason)


def _image_types(options: guest_options.GuestOptions) -> Iterator[Finding]:
    for name, trait in nova_traits.IMAGE_TYPES.items():
        reason = _no_image(name, options)
        found = Found.ABSENT if reason else Found.PRESENT
        yield votes.finding_of(trait, found, name, NOVA, reason=reason)


def _no_image(name: str, options: guest_options.GuestOptions) -> str:
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
