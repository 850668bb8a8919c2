# SPDX-License-Identifier: Apache-2.0
"""Names that placement lacks and somebody wants to give a provider.

Pure: no I/O, configuration, logging or clock. Custom ones can be created with
the change that needs them, standard ones never.
"""

from collections.abc import Sequence

from compute_agent import names


def not_to_be_created(missing: Sequence[str], *, create: bool) -> list[str]:
    """Return those of these that stand in the way.

    :param create: whether custom ones are to be created
    """
    return [n for n in missing if not (create and names.is_custom(n))]


def create_hint(missing: Sequence[str]) -> str:
    """Return which of these --create would create, as the end of a line."""
    custom = [name for name in missing if names.is_custom(name)]
    if not custom:
        return ''
    if len(custom) < len(missing):
        return f'; --create creates {", ".join(custom)}'
    return f'; --create creates {"it" if len(custom) == 1 else "them"}'
