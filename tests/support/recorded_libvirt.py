# SPDX-License-Identifier: Apache-2.0
"""Reads a hypervisor's answers from the files of a recorded host.

It does I/O. ``drivers/libvirt/recording/libvirt_answers.py`` describes the files. For a file
that is missing, the answer is ``Unsupported``, as from a libvirt that does not
know the question.
"""

import pathlib
import typing
from collections.abc import Callable, Mapping, Sequence

import yaml

from drivers.libvirt.recording import libvirt_answers
from drivers.libvirtd import hypervisor, xml


class Recorded:
    """The hypervisor of a recorded host."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def hostname(self) -> str:
        """Return the host's name, which names its provider."""
        return str(self._host('hostname'))

    def versions(self) -> hypervisor.Versions:
        """Return the releases of libvirt and of the hypervisor."""
        kept = self._host('versions')
        return hypervisor.Versions(
            libvirt=_version(kept['libvirt']),
            hypervisor=_version(kept['hypervisor']),
            kind=kept['kind'],
        )

    def session(self) -> int:
        """Return a number that changes when libvirtd was restarted."""
        return 0

    def unanswered(self) -> str:
        """Return '': a question that is not recorded is unsupported."""
        return ''

    def capabilities(self) -> str:
        """Return the XML of the host's capabilities."""
        return self._text(libvirt_answers.CAPABILITIES)

    def domain_capabilities(
        self, request: hypervisor.DomainCapabilitiesRequest, flags: int = 0
    ) -> str:
        """Return the XML of what a guest of this kind can have."""
        return self._text(libvirt_answers.of_request(request, flags))

    def baseline_hypervisor_cpu(
        self,
        request: hypervisor.DomainCapabilitiesRequest,
        cpu_xml: str,
        *,
        expand: bool,
    ) -> str:
        """Return the CPU that the hypervisor gives such a guest, as XML."""
        return self._text(
            libvirt_answers.of_cpu(
                libvirt_answers.OF_HYPERVISOR, cpu_xml, expand=expand
            )
        )

    def baseline_cpu(self, cpu_xml: Sequence[str], *, expand: bool) -> str:
        """Return the CPU that all these CPUs contain, as XML."""
        return self._text(
            libvirt_answers.of_cpu(
                libvirt_answers.OF_CPUS, cpu_xml[0], expand=expand
            )
        )

    def memory_mib(self) -> int:
        """Return the host's memory."""
        return int(self._host('memory_mib'))

    def processors(self) -> hypervisor.Processors:
        """Return the processors that are present, and those online."""
        kept = self._host('processors')
        return hypervisor.Processors(
            present=_numbers(kept['present']), online=_numbers(kept['online'])
        )

    def node_devices(self) -> Mapping[str, str]:
        """Return libvirt's name of a device → XML."""
        return self._documents(libvirt_answers.NODE_DEVICES)

    def domains(self) -> Mapping[str, str]:
        """Return uuid → XML of the guests that are defined or running."""
        found = {}
        for name, text in self._documents(libvirt_answers.DOMAINS).items():
            uuid = xml.parse(text, name).findtext('uuid')
            found[uuid or name] = text
        return found

    def subscribe(
        self,
        wake: Callable[[], object],
        *,
        awaits_guests: Callable[[], bool],
    ) -> None:
        """Do nothing: a recorded host does not change."""

    def close(self) -> None:
        """Do nothing."""

    def _host(self, key: str) -> typing.Any:
        kept = yaml.safe_load(self._text(libvirt_answers.HOST))
        if key not in kept:
            raise hypervisor.Unsupported(
                f'{libvirt_answers.HOST} does not record {key}'
            )
        return kept[key]

    def _text(self, name: str) -> str:
        try:
            return (self._folder / name).read_text('utf-8')
        except OSError as exc:
            raise hypervisor.Unsupported(f'{name} is not recorded') from exc

    def _documents(self, name: str) -> dict[str, str]:
        folder = self._folder / name
        if not folder.is_dir():
            raise hypervisor.Unsupported(f'{name} are not recorded')
        return {
            path.stem: path.read_text('utf-8')
            for path in sorted(folder.glob('*.xml'))
        }


def _version(text: str) -> hypervisor.Version:
    major, minor, micro = (int(part) for part in text.split('.'))
    return major, minor, micro


def _numbers(text: object) -> frozenset[int]:
    """Return the numbers of a list such as ``0-3,5``."""
    numbers: set[int] = set()
    for part in str(text).split(','):
        first, _, last = part.partition('-')
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
