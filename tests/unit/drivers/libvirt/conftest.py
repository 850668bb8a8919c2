# SPDX-License-Identifier: Apache-2.0
"""Fake hosts and the driver on one of them."""

import collections.abc
import pathlib
import typing

import pytest

from compute_agent.tree import host_inventory, provider_tree
from drivers.libvirt import driver, host, sources, unsupported
from drivers.libvirt.capabilities import guest_options
from drivers.libvirt.cpu import pycpuinfo
from drivers.libvirt.libvirtd import recorded

HOSTS = pathlib.Path(__file__).parents[3] / 'hosts'
NODE = 'compute1'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'


@pytest.fixture
def hosts() -> pathlib.Path:
    """The folder of fake host roots."""
    return HOSTS


@pytest.fixture
def make_driver(
    tmp_path: pathlib.Path,
) -> collections.abc.Callable[..., driver.LibvirtDriver]:
    """Return a maker of drivers on a root, with a py-cpuinfo that is told.

    libvirt-python is not installed there.
    """

    def make(
        root: pathlib.Path,
        answer: typing.Any = None,
        machine: str | None = None,
        limits: collections.abc.Sequence[unsupported.Effect] = (),
        wanted: guest_options.GuestOptions | None = None,
        **options: int,
    ) -> driver.LibvirtDriver:
        return driver.LibvirtDriver(
            nodename=NODE,
            of=sources.Sources(
                libvirt=recorded.Recorded(tmp_path / 'no-libvirt'),
                files=host.HostFiles(root, machine),
                probe=pycpuinfo.CachedProbe(
                    tmp_path / 'cpuinfo.json', lambda: answer
                ),
                hostname=NODE,
            ),
            wanted=wanted or guest_options.GuestOptions(),
            instances_path='/var/lib/nova/instances',
            reserved=host_inventory.Reserved(**options),
            limits=limits,
        )

    return make


@pytest.fixture
def tree() -> provider_tree.ProviderTree:
    """A tree of one provider without anything."""
    tree = provider_tree.ProviderTree()
    tree.new_root(NODE, UUID)
    return tree
