# SPDX-License-Identifier: Apache-2.0
"""The features that a guest's processors get, each with its evidence.

Pure: no I/O, configuration, logging or clock. ``reading/guest_source.py`` makes
these values from libvirt's answers; ``findings.py`` decides traits by them.
Features have libvirt's names; a model of a POWER processor counts as a feature.
The elements about CPUs are those of domain capabilities (``cpu/mode``), of host
capabilities (``host/cpu``) and of a baseline (``cpu``).
"""

import dataclasses
from collections.abc import Iterable, Mapping

# Element comes from a document that is parsed already (``libvirtd/xml.py``).
from xml.etree import ElementTree as ET

EXTRA_FLAGS = '[libvirt] cpu_model_extra_flags'

# The kinds of guests whose processors libvirt tells.
KVM = 'kvm'
QEMU = 'qemu'

# libvirt's names of the vendors → the processors' own.
_VENDORS = {
    'AMD': 'AuthenticAMD',
    'Hygon': 'HygonGenuine',
    'Intel': 'GenuineIntel',
}


def vendor_id(name: str | None) -> str:
    """Return the processors' own word for a vendor; '' for other vendors."""
    return _VENDORS.get(name or '', '')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CpuOptions:
    """Nova's options about the processors of guests.

    :ivar mode: None for nova's default, which depends on the architecture
    :ivar flags: ``-flag`` takes a feature away, ``flag`` and ``+flag`` add it
    """

    virt_type: str = 'kvm'
    mode: str | None = None
    models: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def added(self) -> tuple[str, ...]:
        """The features that the flags add."""
        return tuple(n.lstrip('+') for n in self._names() if n[:1] != '-')

    @property
    def taken(self) -> tuple[str, ...]:
        """The features that the flags take away."""
        return tuple(n[1:].strip() for n in self._names() if n[:1] == '-')

    def _names(self) -> Iterable[str]:
        names = (flag.strip().lower() for flag in self.flags)
        return (name for name in names if name)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Evidence that guests get a feature.

    :ivar source: libvirt's element or call that lists it
    :ivar vendors: the vendors of the guests' processors, as far as known
    """

    source: str
    vendors: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GuestCpu:
    """The features of the guests that this host can run.

    A feature that is neither given, refused nor doubted is absent if the lists
    are complete, unknown if there is a problem, and otherwise left to the
    kernel and py-cpuinfo.

    :ivar refused: feature → why no guest gets the feature
    :ivar doubted: feature → why it is unknown
    :ivar complete: True if no guest gets a feature that is not listed
    :ivar note: a remark for the features that are absent
    :ivar problem: why libvirt's answer is unknown
    :ivar is_temporary: True if libvirt may answer the next question
    """

    given: Mapping[str, Given] = dataclasses.field(default_factory=dict)
    refused: Mapping[str, str] = dataclasses.field(default_factory=dict)
    doubted: Mapping[str, str] = dataclasses.field(default_factory=dict)
    complete: bool = False
    note: str = ''
    problem: str = ''
    is_temporary: bool = False

    @property
    def leaves_to_kernel(self) -> bool:
        """True if the kernel decides the features that are not listed."""
        return not (self.complete or self.problem)


def from_policies(
    policies: Mapping[str, str], source: str, vendor: str = ''
) -> GuestCpu:
    """Return the complete features of one CPU.

    :param policies: feature → libvirt's policy for it
    """
    vendors = frozenset({vendor} - {''})
    given = Given(source=source, vendors=vendors)
    refused = ('disable', 'forbid')
    return GuestCpu(
        given={n: given for n, p in policies.items() if p in _GIVING},
        refused={
            n: f'{source} has it with policy {p}'
            for n, p in policies.items()
            if p in refused
        },
        doubted={
            n: f'{source} has it with policy {p}'
            for n, p in policies.items()
            if p not in (*_GIVING, *refused)
        },
        complete=True,
    )


_GIVING = ('require', 'force')


def union(cpus: Iterable[GuestCpu]) -> GuestCpu:
    """Return the features of hosts whose guests have one of several CPUs.

    A feature that one of them gives counts as given, because nova chooses the
    model by the traits that a flavor requires.
    """
    given: dict[str, Given] = {}
    doubted: dict[str, str] = {}
    refused: dict[str, str] = {}
    for cpu in cpus:
        for name, one in cpu.given.items():
            vendors = one.vendors | given.get(name, one).vendors
            given[name] = Given(source=one.source, vendors=vendors)
        doubted.update(cpu.doubted)
        refused.update(cpu.refused)
    return GuestCpu(
        given=given,
        doubted={n: why for n, why in doubted.items() if n not in given},
        refused={
            n: why
            for n, why in refused.items()
            if n not in given and n not in doubted
        },
        complete=True,
    )


def unusable(cpu: GuestCpu, why: str, *, surely: bool) -> GuestCpu:
    """Return a model's features that guests cannot get, or perhaps not."""
    names = dict.fromkeys(cpu.given, why)
    if surely:
        return GuestCpu(refused=names, complete=True)
    return GuestCpu(doubted=names, complete=True)


def with_flags(
    cpu: GuestCpu, options: CpuOptions, offered: GuestCpu
) -> GuestCpu:
    """Return the features after the options added and removed some.

    :param offered: everything that the hypervisor can give
    """
    given, refused = dict(cpu.given), dict(cpu.refused)
    doubted = dict(cpu.doubted)
    for name in () if cpu.leaves_to_kernel else options.added:
        if name in given:
            continue
        refused.pop(name, None)
        if name in offered.given:
            given[name] = Given(
                source=f'+{name} in {EXTRA_FLAGS}',
                vendors=offered.given[name].vendors,
            )
        elif name in offered.refused:
            refused[name] = offered.refused[name]
        else:
            doubted[name] = (
                f'{EXTRA_FLAGS} adds it, but libvirt does not list it among '
                'what the hypervisor gives'
            )
    for name in options.taken:
        given.pop(name, None)
        doubted.pop(name, None)
        refused[name] = f'-{name} in {EXTRA_FLAGS}'
    return dataclasses.replace(
        cpu, given=given, refused=refused, doubted=doubted
    )


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


def model_xml(arch: str, name: str) -> str:
    """Return the XML of a CPU that is this model and nothing else."""
    cpu = ET.Element('cpu')
    ET.SubElement(cpu, 'arch').text = arch
    ET.SubElement(cpu, 'model').text = name
    return ET.tostring(cpu, 'unicode')


def element_xml(cpu: Element) -> str:
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
