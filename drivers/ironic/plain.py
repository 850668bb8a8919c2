# SPDX-License-Identifier: Apache-2.0
"""Text that came from Ironic, as it may be shown on a terminal.

Pure: no I/O, configuration, logging or clock. Whoever may write to a node, or
stands in for its Ironic, must not move the cursor of who reads of it.
"""


def shown(text: str) -> str:
    """Return the text with an escape for what is no printable character."""
    if text.isprintable():
        return text
    return ''.join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode('unicode_escape').decode('ascii')
