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


def parse(text: str, subject: str, tag: str = '') -> Element:
    """Return the root element of an XML document.

    :param subject: the name of the document in the error
    :param tag: the name that the root element must have, if not empty
    :raises hypervisor.Unanswered: the text is no XML, is another document, or
        declares an entity or a document type
    """
    try:
        root: Element = defusedxml.ElementTree.fromstring(
            text, forbid_dtd=True
        )
    except defusedxml.DefusedXmlException as exc:
        raise hypervisor.Unanswered(
            f'the XML of {subject} is refused: it declares a document type '
            'or an entity'
        ) from exc
    # A ValueError comes of text that cannot be encoded.
    except (ET.ParseError, ValueError) as exc:
        raise hypervisor.Unanswered(
            f'the XML of {subject} cannot be parsed: {exc}'
        ) from exc
    if tag and root.tag != tag:
        raise hypervisor.Unanswered(
            f'the XML of {subject} begins with {root.tag!r} instead of {tag!r}'
        )
    return root
