# SPDX-License-Identifier: Apache-2.0
"""Effects of nova's options that this driver does not support.

Pure: no I/O, logging or clock. nova-compute decides traits by each of these
options in its own way. So while an option is set, the traits that it decides
are unknown: the driver leaves them as placement has them. ``driver.py`` asks
for the effects once, when it is made.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from oslo_config import cfg

from compute_agent.virt import finding

# All but HW_CPU_HYPERTHREADING, which no option of guests' CPUs decides.
_CPU = ('HW_CPU_AARCH64_', 'HW_CPU_PPC64LE_', 'HW_CPU_X86_')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One option that is set, and what it decides.

    :ivar option: the option with its group, and its value where that matters
    :ivar traits: the traits of the host that it decides; a name that ends in
        ``_`` stands for all traits that begin with it
    """

    option: str
    traits: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the warning for the operator."""
        names = [_shown(trait) for trait in self.traits]
        them = 'it' if len(names) == 1 else 'them'
        return (
            f'the libvirt driver does not support {self.option}, so it leaves '
            f'{" and ".join(names)} as placement has {them}'
        )

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
    Effect(
        option='[libvirt] swtpm_enabled', traits=('COMPUTE_SECURITY_TPM_',)
    ),
)


def effects(conf: cfg.ConfigOpts) -> tuple[Effect, ...]:
    """Return the effects of the options that are set in ``conf``."""
    decided = (effect for effect in _WHEN_SET if _is_set(conf, effect.option))
    return (*decided, *_cpu(conf))


def _is_set(conf: cfg.ConfigOpts, option: str) -> bool:
    """Return True if the option, written ``[group] name``, has a value."""
    group, name = option.removeprefix('[').split('] ')
    return bool(conf[name] if group == 'DEFAULT' else conf[group][name])


def _cpu(conf: cfg.ConfigOpts) -> Iterator[Effect]:
    virt_type = conf.libvirt.virt_type
    if virt_type not in ('kvm', 'qemu'):
        yield Effect(option=f'[libvirt] virt_type = {virt_type}', traits=_CPU)


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
