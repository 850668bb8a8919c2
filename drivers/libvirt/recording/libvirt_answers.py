# SPDX-License-Identifier: Apache-2.0
"""Keeps the answers of a hypervisor as the files of a recorded host.

It does no I/O of its own: it asks the hypervisor that it is given. The tests
read the same files, so that a recorded host answers what was answered here:

* ``host.yaml``: hostname, versions, memory_mib, processors
* ``capabilities.xml``
* ``domain_capabilities/ARCH-MACHINE-VIRTTYPE.xml``, and with ``-expanded``
  before ``.xml`` what EXPAND_CPU_FEATURES gives; MACHINE is ``default`` if the
  question names none
* ``baseline_hypervisor_cpu/MODEL.xml``, ``baseline_cpu/MODEL.xml``, and with
  ``-expanded``: MODEL is the model in the question, or ``none``
* ``node_devices/NAME.xml``, ``domains/*.xml``
"""

from collections.abc import Callable, Mapping, Sequence

import yaml

from ...libvirtd import hypervisor, xml

EXPANDED = '-expanded'
HOST = 'host.yaml'
CAPABILITIES = 'capabilities.xml'
OF_HYPERVISOR = 'baseline_hypervisor_cpu'
OF_CPUS = 'baseline_cpu'
NODE_DEVICES = 'node_devices'
DOMAINS = 'domains'
#: A file in an empty folder: the list was asked for, and is empty.
ASKED = '.asked'


def of_request(
    request: hypervisor.DomainCapabilitiesRequest, flags: int
) -> str:
    """Return the path of the domain capabilities for a question."""
    if flags & ~hypervisor.EXPAND_CPU_FEATURES:
        raise hypervisor.Unsupported(f'flags {flags} are not recorded')
    machine = request.machine or 'default'
    name = f'{request.arch}-{machine}-{request.virt_type}'
    return f'domain_capabilities/{name}{_suffix(expand=bool(flags))}.xml'


def of_cpu(folder: str, cpu_xml: str, *, expand: bool) -> str:
    """Return the path of a baseline for the model of a CPU."""
    return f'{folder}/{_model(cpu_xml)}{_suffix(expand=expand)}.xml'


class Recording:
    """A hypervisor that remembers the answers of another one.

    :ivar texts: path below the folder of a recorded host → text
    """

    def __init__(self, asked: hypervisor.Hypervisor) -> None:
        self._asked = asked
        self._host: dict[str, object] = {}
        self.texts: dict[str, str] = {}

    def subscribe(
        self,
        wake: Callable[[], object],
        *,
        awaits_guests: Callable[[], bool],
    ) -> None:
        """Do nothing: the other hypervisor has its own subscriber."""

    def close(self) -> None:
        """Do nothing."""

    def hostname(self) -> str:
        """Return the host's name, which names its provider."""
        found = self._asked.hostname()
        self._remember('hostname', found)
        return found

    def versions(self) -> hypervisor.Versions:
        """Return the releases of libvirt and of the hypervisor."""
        found = self._asked.versions()
        kept = {
            'libvirt': _dotted(found.libvirt),
            'hypervisor': _dotted(found.hypervisor),
            'kind': found.kind,
        }
        self._remember('versions', kept)
        return found

    def session(self) -> int:
        """Return a number that changes when libvirtd was restarted."""
        return self._asked.session()

    def unanswered(self) -> str:
        """Return why a question had no answer since the last call, or ''."""
        return self._asked.unanswered()

    def capabilities(self) -> str:
        """Return the XML of the host's capabilities."""
        return self._keep(CAPABILITIES, self._asked.capabilities())

    def domain_capabilities(
        self, request: hypervisor.DomainCapabilitiesRequest, flags: int = 0
    ) -> str:
        """Return the XML of what a guest of this kind can have."""
        found = self._asked.domain_capabilities(request, flags)
        return self._keep(of_request(request, flags), found)

    def baseline_hypervisor_cpu(
        self,
        request: hypervisor.DomainCapabilitiesRequest,
        cpu_xml: str,
        *,
        expand: bool,
    ) -> str:
        """Return the CPU that the hypervisor gives such a guest, as XML."""
        found = self._asked.baseline_hypervisor_cpu(
            request, cpu_xml, expand=expand
        )
        path = of_cpu(OF_HYPERVISOR, cpu_xml, expand=expand)
        return self._keep(path, found)

    def baseline_cpu(self, cpu_xml: Sequence[str], *, expand: bool) -> str:
        """Return the CPU that all these CPUs contain, as XML."""
        found = self._asked.baseline_cpu(cpu_xml, expand=expand)
        path = of_cpu(OF_CPUS, cpu_xml[0], expand=expand)
        return self._keep(path, found)

    def memory_mib(self) -> int:
        """Return the host's memory."""
        found = self._asked.memory_mib()
        self._remember('memory_mib', found)
        return found

    def processors(self) -> hypervisor.Processors:
        """Return the processors that are present, and those online."""
        found = self._asked.processors()
        kept = {
            'present': _listed(found.present),
            'online': _listed(found.online),
        }
        self._remember('processors', kept)
        return found

    def node_devices(self) -> Mapping[str, str]:
        """Return libvirt's name of a device → XML."""
        return self._keep_all(NODE_DEVICES, self._asked.node_devices())

    def domains(self) -> Mapping[str, str]:
        """Return uuid → XML of the guests that are defined or running."""
        return self._keep_all(DOMAINS, self._asked.domains())

    def _remember(self, key: str, value: object) -> None:
        self._host[key] = value
        self.texts[HOST] = yaml.safe_dump(self._host)

    def _keep(self, path: str, text: str) -> str:
        self.texts[path] = text
        return text

    def _keep_all(
        self, folder: str, found: Mapping[str, str]
    ) -> Mapping[str, str]:
        # The mark distinguishes an empty list from a list that was not asked
        # for.
        self.texts[f'{folder}/{ASKED}'] = ''
        for name, text in found.items():
            self.texts[f'{folder}/{name}.xml'] = text
        return found


def _dotted(version: hypervisor.Version) -> str:
    return '.'.join(map(str, version))


def _listed(numbers: frozenset[int]) -> str:
    return ','.join(map(str, sorted(numbers)))


def _suffix(*, expand: bool) -> str:
    return EXPANDED if expand else ''


def _model(cpu_xml: str) -> str:
    return xml.parse(cpu_xml, 'a CPU').findtext('model') or 'none'
