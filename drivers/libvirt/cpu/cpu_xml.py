# SPDX-License-Identifier: Apache-2.0
"""Reads libvirt's elements about CPUs.

Pure: no I/O, configuration, logging or clock. The elements are those of domain
capabilities (``cpu/mode``), of host capabilities (``host/cpu``) and of a
baseline (``cpu``). ``guest_source.py`` calls this.
"""

import dataclasses
from collections.abc import Mapping

# Element comes from a document that is parsed already (``libvirtd/xml.py``).
from xml.etree import ElementTree as ET

Element = ET.Element


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One named model of domain capabilities.

    :ivar usable: yes, no or unknown
    :ivar blockers: the missing features that make it unusable
    """

    name: str
    usable: str
    vendor: str
    blockers: tuple[str, ...] = ()


def policies(cpu: Element) -> Mapping[str, str]:
    """Return feature → policy; a feature without a policy is required."""
    return {
        name: feature.get('policy', 'require')
        for feature in cpu.findall('feature')
        if (name := feature.get('name'))
    }


def mode(capabilities: Element, name: str) -> Element | None:
    """Return the element of a CPU mode in domain capabilities."""
    return capabilities.find(f"cpu/mode[@name='{name}']")


def as_cpu(mode: Element) -> str:
    """Return a mode of domain capabilities as the XML of a CPU."""
    cpu = ET.Element('cpu')
    cpu.extend(mode)
    return ET.tostring(cpu, 'unicode')


def of_model(arch: str, name: str) -> str:
    """Return the XML of a CPU that is this model and nothing else."""
    cpu = ET.Element('cpu')
    ET.SubElement(cpu, 'arch').text = arch
    ET.SubElement(cpu, 'model').text = name
    return ET.tostring(cpu, 'unicode')


def text(cpu: Element) -> str:
    """Return the XML of an element."""
    return ET.tostring(cpu, 'unicode')


def models(custom: Element) -> Mapping[str, Model]:
    """Return each model of the mode ``custom`` by its name in small letters.

    nova accepts the name of a model in any spelling of its letters.
    """
    blockers = {
        found.get('model'): tuple(
            name
            for feature in found.findall('feature')
            if (name := feature.get('name'))
        )
        for found in custom.findall('blockers')
    }
    return {
        found.text.strip().lower(): Model(
            name=found.text.strip(),
            usable=found.get('usable', 'unknown'),
            vendor=found.get('vendor', ''),
            blockers=blockers.get(found.text.strip(), ()),
        )
        for found in custom.findall('model')
        if found.text
    }
