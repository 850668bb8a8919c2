# SPDX-License-Identifier: Apache-2.0
"""Traits in the groups that people think in.

Pure: no I/O, configuration, logging or clock.
"""

from collections.abc import Sequence

from ....tree import names

_GROUPS = (
    ('CPU', ('HW_CPU_',)),
    ('architecture', ('HW_ARCH_',)),
    ('hardware', ('HW_',)),
    ('compute', ('COMPUTE_',)),
    ('storage', ('STORAGE_',)),
    ('custom', (names.CUSTOM_PREFIX,)),
    ('owner and others', ('',)),
)


def grouped(traits: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the groups that have a trait, each with its traits in order."""
    rest = list(traits)
    found = []
    for title, prefixes in _GROUPS:
        own = [name for name in rest if name.startswith(prefixes)]
        rest = [name for name in rest if not name.startswith(prefixes)]
        if own:
            found.append((title, own))
    return found
