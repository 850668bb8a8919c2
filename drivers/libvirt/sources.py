# SPDX-License-Identifier: Apache-2.0
"""The sources of a description: everything that the driver reads of a host.

It does I/O through what it names. ``driver.py`` asks for the sources of this
host; a test gives the driver those of a recorded host.
"""

import dataclasses
import pathlib
import typing

from oslo_config import cfg

from .. import host_files, host_name
from ..libvirtd import connection, hypervisor
from . import command
from .cpu import pycpuinfo
from .cpu.facts import ReportedFlags

CACHE_NAME = 'cpuinfo.json'


class Probe(typing.Protocol):
    """py-cpuinfo, or its recorded answer."""

    def reported(self, key: pycpuinfo.Key) -> ReportedFlags:
        """Return the flags that py-cpuinfo reports on the host of this key."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The sources of one host.

    :ivar run: runs programs of the host
    :ivar hostname: the host's name where libvirt does not answer
    """

    libvirt: hypervisor.Hypervisor
    files: host_files.HostFiles
    probe: Probe
    run: command.Runner
    hostname: str


def of_this_host(conf: cfg.ConfigOpts, uri: str) -> Sources:
    """Return the sources of the host that the agent runs on.

    :param uri: libvirt's
    """
    folder = conf.compute_agent.state_path or conf.state_path
    cache = pathlib.Path(folder, CACHE_NAME)
    return Sources(
        libvirt=connection.Connection(uri),
        files=host_files.HostFiles(),
        probe=pycpuinfo.CachedProbe(cache),
        run=command.Commands(),
        hostname=host_name.canonical(),
    )
