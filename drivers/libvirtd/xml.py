# SPDX-License-Identifier: Apache-2.0
"""Parses libvirt's XML, and refuses entities and document types.

Pure: no I/O, configuration, logging or clock. Text that is no XML counts as no
answer.
"""

from xml.etree import ElementTree as ET

import defusedxml
import defusedxml.ElementTree

from . import hypervisor

Element = ET.Element

# libvirt's documents have about ten. Python writes an element by recursion,
# which has an end.
LEVELS = 100


def parse(text: str, subject: str, tag: str = '') -> Element:
    """Return the root element of an XML document.

    :param subject: the name of the document in the error
    :param tag: the name that the root element must have, if not empty
    :raises hypervisor.Unanswered: the text is no XML, is another document,
        declares an entity or a document type, or has too many levels
    """
    if not text:
        raise hypervisor.Unanswered(
            f'libvirt does not tell the XML of {subject}'
        )
    try:
        root: Element = defusedxml.ElementTree.fromstring(
            text, forbid_dtd=True
        )
    except defusedxml.DefusedXmlException as exc:
        raise hypervisor.Unanswered(
            f'the XML of {subject} is refused: it declares a document type '
            'or an entity'
        ) from exc
    # ``fromstring`` raises ValueError for text that cannot be encoded.
    except (ET.ParseError, ValueError) as exc:
        raise hypervisor.Unanswered(
            f'the XML of {subject} cannot be parsed: {exc}'
        ) from exc
    if _is_deeper(root, LEVELS):
        raise hypervisor.Unanswered(
            f'the XML of {subject} is refused: it has more than {LEVELS} levels'
        )
    if tag and root.tag != tag:
        raise hypervisor.Unanswered(
            f'the XML of {subject} begins with {root.tag!r} instead of {tag!r}'
        )
    return root


def _is_deeper(root: Element, levels: int) -> bool:
    """Return True if the document has more levels of elements."""
    level = [root]
    for _ in range(levels):
        level = [child for element in level for child in element]
        if not level:
            return False
    return True
