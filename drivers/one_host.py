# SPDX-License-Identifier: Apache-2.0
"""The base of drivers that describe the one host that the agent runs on."""

from collections.abc import Mapping, Sequence

from compute_agent import errors
from compute_agent.virt import driver

from . import host_name


class OneHostDriver(driver.ComputeDriver):
    """A driver with one node, which has the name that nova-compute gives it.

    :param name: the names of the host
    """

    def __init__(self, name: host_name.HostName) -> None:
        self._name = name

    def get_available_nodes(self) -> Sequence[str]:
        """Return the name of the one host."""
        return [self._name.node]

    def get_hypervisor_hostnames(self) -> Mapping[str, str]:
        """Return the name that libvirt, and so nova-compute, gives the host."""
        return self._name.by_nova()

    def node_exists(self, nodename: str) -> driver.Existence:
        """Return YES for both names of this host."""
        if self._name.is_of(nodename):
            return driver.Existence.YES
        return super().node_exists(nodename)

    def _check(self, nodename: str) -> None:
        if not self._name.is_of(nodename):
            raise errors.DriverError(
                f'this host is {self._name.node}, not {nodename}'
            )
