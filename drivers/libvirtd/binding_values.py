# SPDX-License-Identifier: Apache-2.0
"""The seam's values as libvirt-python takes and gives them.

``connection.py`` calls this, with the binding and an open connection.
"""

import typing

from . import hypervisor


def kind(
    request: hypervisor.DomainCapabilitiesRequest,
) -> tuple[str | None, str, str | None, str]:
    """Return the kind of guest, as the binding's calls take it."""
    return (
        request.emulator or None,
        request.arch,
        request.machine,
        request.virt_type,
    )


def expansion(binding: typing.Any, *, expand: bool) -> int:
    """Return the flag to list every feature of a CPU, or none."""
    flag: int = binding.VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES
    return flag if expand else 0


def versions(_: typing.Any, opened: typing.Any) -> hypervisor.Versions:
    """Return the releases of libvirt and of the hypervisor."""
    return hypervisor.Versions(
        libvirt=_version(opened.getLibVersion()),
        hypervisor=_version(opened.getVersion()),
        kind=str(opened.getType()),
    )


def _version(number: int) -> hypervisor.Version:
    """Return the parts of libvirt's number, as 9000001 for 9.0.1."""
    return number // 1_000_000, number // 1_000 % 1_000, number % 1_000


def processors(_: typing.Any, opened: typing.Any) -> hypervisor.Processors:
    """Return the processors that are present, and those online."""
    used = opened.getCPUMap(0)[1]
    return hypervisor.Processors(
        present=frozenset(range(len(used))),
        online=frozenset(i for i, is_used in enumerate(used) if is_used),
    )
