# SPDX-License-Identifier: Apache-2.0
"""The traits of child providers: their names, and findings about them.

Pure: no I/O, configuration, logging or clock. nova parses the traits of PCI
devices and of encryption back. The others have the names of os-traits, or are
custom traits of this driver.
"""

from compute_agent.tree import names
from compute_agent.virt.values import finding

MANAGED = 'COMPUTE_MANAGED_PCI_DEVICE'
LIVE_MIGRATABLE = 'HW_PCI_LIVE_MIGRATABLE'
ONE_TIME_USE = 'HW_PCI_ONE_TIME_USE'
#: The traits of PCI devices that no operator sets by hand.
DECIDED = frozenset({MANAGED, LIVE_MIGRATABLE, ONE_TIME_USE})

D3COLD = 'CUSTOM_RESERVED_D3COLD'
POWER_ERROR = 'CUSTOM_RESERVED_POWER_ERROR'
AER_FATAL = 'CUSTOM_RESERVED_AER_FATAL'
NO_ANSWER = 'CUSTOM_RESERVED_NO_ANSWER'
VFS_ENABLED = 'CUSTOM_RESERVED_VFS_ENABLED'
NO_MDEV_TYPES = 'CUSTOM_RESERVED_NO_MDEV_TYPES'
#: The traits that mark a child whose inventory the driver reserved.
MARKS = frozenset(
    {
        D3COLD,
        POWER_ERROR,
        AER_FATAL,
        NO_ANSWER,
        VFS_ENABLED,
        NO_MDEV_TYPES,
    }
)

# Sources of findings.
LIBVIRT = 'libvirt'
OPTION = 'nova.conf'
KERNEL = 'kernel'


def present(
    child: str, trait: str, fact: str, source: str, reason: str = ''
) -> finding.Finding:
    """Return the finding of a trait that the child has."""
    return finding.Finding(
        trait=trait,
        found=finding.Found.PRESENT,
        fact=fact,
        sources=(source,),
        reason=reason,
        provider=child,
    )


def decided(
    child: str, trait: str, fact: str, source: str, *, found: bool | None
) -> finding.Finding:
    """Return the finding of a trait that a source decides, None if unknown."""
    if found:
        return present(child, trait, fact, source)
    answer = finding.Found.UNKNOWN if found is None else finding.Found.ABSENT
    reason = f'{fact} cannot be read' if found is None else ''
    return finding.Finding(
        trait=trait, found=answer, fact=fact, reason=reason, provider=child
    )


def owner(child: str) -> finding.Finding:
    """Return the finding of the mark that nova asks for in requests."""
    return present(
        child, names.OWNER_NOVA, 'nova gives the device to guests', OPTION
    )
