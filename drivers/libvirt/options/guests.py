# SPDX-License-Identifier: Apache-2.0
"""Nova's options that decide what guests can have.

``drivers/libvirt/conf.py`` registers them. The reader of options is here, too;
``capabilities/facts.py`` has its value.
"""

from oslo_config import cfg, types

from ..capabilities import facts, host_capabilities, nova_traits
from ..cpu import guest_cpu

OPTS: dict[str, list[cfg.Opt]] = {
    'DEFAULT': [
        cfg.BoolOpt(
            'force_raw_images',
            default=True,
            help='If false, nova does not convert images to raw, so guests '
            'with disks in LVM or RBD cannot start from images in qcow2: '
            'COMPUTE_IMAGE_TYPE_QCOW2 is not reported.',
        ),
    ],
    'compute': [
        cfg.ListOpt(
            'image_type_exclude_list',
            default=[],
            help='The formats of images that guests of this host may not '
            'start from, as in nova.conf. COMPUTE_IMAGE_TYPE_* is not '
            'reported for them.',
        ),
    ],
    'libvirt': [
        cfg.StrOpt(
            'cpu_mode',
            choices=['host-model', 'host-passthrough', 'custom', 'none'],
            help='The processors of guests, as in nova.conf. If it is not '
            'set, it is host-model, and host-passthrough on AArch64.',
        ),
        cfg.ListOpt(
            'cpu_models',
            default=[],
            deprecated_name='cpu_model',
            help='The models of processors for cpu_mode = custom, as in '
            'nova.conf. The features of the models that guests of this host '
            'can have are reported; a model that is not usable here counts '
            'for nothing.',
        ),
        cfg.ListOpt(
            'cpu_model_extra_flags',
            default=[],
            help='Features that guests get or do not get beside those of the '
            'model, as in nova.conf: FLAG and +FLAG add one, -FLAG takes one '
            'away.',
        ),
        cfg.ListOpt(
            'hw_machine_type',
            default=[],
            help='The default machine type of guests by architecture, as in '
            'nova.conf: ARCH=MACHINE. The driver asks libvirt what guests of '
            'this type can have.',
        ),
        cfg.BoolOpt(
            'live_migration_permit_auto_converge',
            default=False,
            help='If true, COMPUTE_MIGRATE_AUTO_CONVERGE is reported: nova '
            'may slow a guest down to finish its live migration.',
        ),
        cfg.BoolOpt(
            'live_migration_permit_post_copy',
            default=False,
            help='If true, and if the kernel lets QEMU handle memory faults '
            '(vm.unprivileged_userfaultfd = 1), COMPUTE_MIGRATE_POST_COPY is '
            'reported.',
        ),
        cfg.BoolOpt(
            'swtpm_enabled',
            default=False,
            help='If true, guests may have a TPM that swtpm emulates, and the '
            'traits COMPUTE_SECURITY_TPM_* are reported as libvirt tells '
            'them.',
        ),
        cfg.ListOpt(
            'supported_tpm_secret_security',
            default=['user', 'host', 'deployment'],
            item_type=types.String(choices=list(nova_traits.TPM_SECRETS)),
            help='The ways to keep the secret of a TPM, as in nova.conf; each '
            'is a trait COMPUTE_SECURITY_TPM_SECRET_SECURITY_* while '
            'swtpm_enabled is true.',
        ),
    ],
}


def read(conf: cfg.ConfigOpts) -> facts.GuestOptions:
    """Return the options that decide what guests can have."""
    found = conf.libvirt
    return facts.GuestOptions(
        cpu=guest_cpu.CpuOptions(
            virt_type=found.virt_type,
            mode=found.cpu_mode,
            models=tuple(found.cpu_models),
            flags=tuple(found.cpu_model_extra_flags),
        ),
        machine_types=host_capabilities.machine_types(found.hw_machine_type),
        swtpm_enabled=found.swtpm_enabled,
        tpm_secrets=tuple(found.supported_tpm_secret_security),
        file_backed_memory=found.file_backed_memory > 0,
        images_type=found.images_type,
        force_raw_images=conf.force_raw_images,
        excluded_image_types=tuple(conf.compute.image_type_exclude_list),
        permit_post_copy=found.live_migration_permit_post_copy,
        permit_auto_converge=found.live_migration_permit_auto_converge,
    )


def warning(options: facts.GuestOptions) -> str:
    """Return the line about guests that libvirt does not describe, if any."""
    virt_type = options.cpu.virt_type
    if virt_type in (guest_cpu.KVM, guest_cpu.QEMU):
        return ''
    return (
        f'[libvirt] virt_type is {virt_type}: libvirt does not tell what its '
        'guests can have, so most of the traits HW_CPU_* and COMPUTE_* stay '
        'as placement has them'
    )
