# SPDX-License-Identifier: Apache-2.0
"""libvirt's answer about each kind of guest, and what it says of a device.

Pure: no I/O, configuration, logging or clock. An element that is absent is
unknown: an older libvirt does not mention what it supports. ``supported='no'``
is no, and an enumeration is complete.
"""

import dataclasses

from compute_agent.virt import finding

from ...libvirtd import hypervisor, xml

Found = finding.Found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of guest, with libvirt's answer about it.

    :ivar root: the document; None if there is no answer
    :ivar problem: why there is no answer
    :ivar is_possible: False if this hypervisor has no such guests
    """

    request: hypervisor.DomainCapabilitiesRequest
    root: xml.Element | None = None
    problem: str = ''
    is_possible: bool = True

    @property
    def name(self) -> str:
        """The words of this kind for people."""
        request = self.request
        machine = request.machine or 'default'
        return f'{request.arch} {machine} {request.virt_type}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a value in domain capabilities.

    :ivar path: the element with the attribute ``supported``
    :ivar enum: the name of the enumeration in it
    """

    path: str
    enum: str
    value: str

    def __str__(self) -> str:
        """Return the place as a path of XML."""
        return f'{self.path}/enum[{self.enum}]/{self.value}'

    def found(self, root: xml.Element) -> Found:
        """Return the decision of one document."""
        element = root.find(self.path)
        if element is None:
            return Found.UNKNOWN
        if element.get('supported') == 'no':
            return Found.ABSENT
        enum = element.find(f"enum[@name='{self.enum}']")
        if enum is None:
            return Found.UNKNOWN
        values = {(one.text or '').strip() for one in enum.findall('value')}
        return Found.PRESENT if self.value in values else Found.ABSENT
