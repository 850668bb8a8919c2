# SPDX-License-Identifier: Apache-2.0
"""Effects of nova's options that this driver does not support.

Pure: no I/O, logging or clock. nova-compute computes an amount or a trait from
each of these options in its own way. A driver that ignored them would offer
pinned processors again as VCPU. So while an option is set, the resource
classes and traits that it decides are unknown: the driver leaves them as
placement has them. ``driver.py`` asks for the effects once, when it is made.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from oslo_config import cfg

from compute_agent.tree import inventory, names
from compute_agent.virt import finding

_LOCAL_IMAGES = ('default', 'flat', 'qcow2', 'raw')
# All but HW_CPU_HYPERTHREADING, which no option of guests' CPUs decides.
_CPU = ('HW_CPU_AARCH64_', 'HW_CPU_PPC64LE_', 'HW_CPU_X86_')

Records = Mapping[str, inventory.Record]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One option that is set, and what it decides.

    :ivar option: the option with its group, and its value where that matters
    :ivar classes: the resource classes of the host that it decides
    :ivar traits: the traits of the host that it decides; a name that ends in
        ``_`` stands for all traits that begin with it
    :ivar missing: what nova-compute reports because of it, and this driver
        does not; only if it decides no class and no trait of the host
    """

    option: str
    classes: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    missing: str = ''

    def line(self) -> str:
        """Return the warning for the operator."""
        names = [*self.classes, *(_shown(t) for t in self.traits)]
        them = 'it' if len(names) == 1 else 'them'
        effect = (
            f'leaves {" and ".join(names)} as placement has {them}'
            if names
            else f'does not report {self.missing}'
        )
        return f'the libvirt driver does not support {self.option}, so it {effect}'

    def decides(self, trait: str) -> bool:
        """Return True if the option decides this trait."""
        return any(
            trait.startswith(name) if name.endswith('_') else trait == name
            for name in self.traits
        )


def _shown(name: str) -> str:
    return f'{name}*' if name.endswith('_') else name


# Each option of these decides something as soon as it has a value.
_WHEN_SET = (
    Effect(option='[DEFAULT] vcpu_pin_set', classes=('VCPU',)),
    Effect(option='[compute] cpu_shared_set', classes=('VCPU',)),
    Effect(option='[compute] cpu_dedicated_set', classes=('PCPU', 'VCPU')),
    Effect(option='[libvirt] cpu_power_management', classes=('PCPU', 'VCPU')),
    Effect(option='[libvirt] file_backed_memory', classes=('MEMORY_MB',)),
    Effect(
        option='[workarounds] reserve_disk_resource_for_image_cache',
        classes=('DISK_GB',),
    ),
    Effect(
        option='[devices] enabled_mdev_types',
        missing='providers of mediated devices',
    ),
    Effect(
        option='[pci] report_in_placement', missing='providers of PCI devices'
    ),
    Effect(
        option='[libvirt] num_intel_tdx_guests',
        missing='MEM_ENCRYPTION_CONTEXT',
    ),
    Effect(
        option='[libvirt] swtpm_enabled', traits=('COMPUTE_SECURITY_TPM_',)
    ),
)


def effects(conf: cfg.ConfigOpts) -> tuple[Effect, ...]:
    """Return the effects of the options that are set in ``conf``."""
    decided = (effect for effect in _WHEN_SET if _is_set(conf, effect.option))
    return (*decided, *_amounts(conf), *_cpu(conf))


def _is_set(conf: cfg.ConfigOpts, option: str) -> bool:
    """Return True if the option, written ``[group] name``, has a value."""
    group, name = option.removeprefix('[').split('] ')
    return bool(conf[name] if group == 'DEFAULT' else conf[group][name])


def _amounts(conf: cfg.ConfigOpts) -> Iterator[Effect]:
    images = conf.libvirt.images_type
    if images and images not in _LOCAL_IMAGES:
        yield Effect(
            option=f'[libvirt] images_type = {images}', classes=('DISK_GB',)
        )
    if classes := _pmem_classes(conf.libvirt.pmem_namespaces):
        yield Effect(
            option='[libvirt] pmem_namespaces', classes=tuple(classes)
        )


def _pmem_classes(namespaces: Iterable[str]) -> list[str]:
    """Return nova's resource class for each label in ``label:ns0|ns1``."""
    found = (text.partition(':')[0].strip() for text in namespaces)
    return sorted(
        names.custom_name(f'PMEM_NAMESPACE_{label}')
        for label in found
        if label
    )


def _cpu(conf: cfg.ConfigOpts) -> Iterator[Effect]:
    virt_type = conf.libvirt.virt_type
    if virt_type not in ('kvm', 'qemu'):
        yield Effect(option=f'[libvirt] virt_type = {virt_type}', traits=_CPU)


def keep_amounts(
    records: Records, current: Records, found: Sequence[Effect]
) -> Records:
    """Return the records, with the unknown classes as placement has them."""
    unknown = {rc for effect in found for rc in effect.classes}
    known = {rc: r for rc, r in records.items() if rc not in unknown}
    return known | {rc: r for rc, r in current.items() if rc in unknown}


def doubt(
    findings: Iterable[finding.Finding], found: Sequence[Effect]
) -> tuple[finding.Finding, ...]:
    """Return the findings; a trait that an option decides is unknown."""
    return tuple(_doubted(item, found) for item in findings)


def _doubted(
    item: finding.Finding, found: Sequence[Effect]
) -> finding.Finding:
    for effect in found:
        if item.trait is not None and effect.decides(item.trait):
            return dataclasses.replace(
                item,
                found=finding.Found.UNKNOWN,
                reason=f'{effect.option} decides it, unsupported here',
            )
    return item
