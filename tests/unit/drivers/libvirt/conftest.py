# SPDX-License-Identifier: Apache-2.0
"""Fake hosts and the driver on one of them."""

import collections.abc
import pathlib
import typing

import pytest
import recorded_libvirt
from oslo_config import cfg

from compute_agent import errors
from compute_agent.conf import compute, compute_agent, default
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.inventory import Inventory
from drivers import host_files
from drivers.libvirt import conf as driver_options
from drivers.libvirt import driver
from drivers.libvirt.capabilities import facts
from drivers.libvirt.inventory import disk
from drivers.libvirt.options import inventory
from drivers.libvirt.reading import pycpuinfo, sources

HOSTS = pathlib.Path(__file__).parents[3] / 'hosts'
NODE = 'compute1'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
SETTINGS = inventory.Settings(
    storage=disk.Options(instances_path='/var/lib/nova/instances')
)


def no_programs(argv: collections.abc.Sequence[str]) -> str:
    raise errors.DriverError(f'{argv[0]} cannot be run')


@pytest.fixture
def make_driver(
    tmp_path: pathlib.Path,
) -> collections.abc.Callable[..., driver.LibvirtDriver]:
    """Return a maker of drivers on a root, with a py-cpuinfo that is told.

    libvirt-python is not installed there.
    """

    def make(
        folder: pathlib.Path,
        answer: typing.Any = None,
        machine: str | None = None,
        wanted: facts.GuestOptions | None = None,
        settings: inventory.Settings = SETTINGS,
    ) -> driver.LibvirtDriver:
        return driver.LibvirtDriver(
            nodename=NODE,
            of=sources.Sources(
                libvirt=recorded_libvirt.Recorded(tmp_path / 'no-libvirt'),
                files=host_files.HostFiles(folder, machine),
                probe=pycpuinfo.CachedProbe(
                    tmp_path / 'cpuinfo.json', lambda: answer
                ),
                run=no_programs,
                hostname=NODE,
            ),
            wanted=wanted or facts.GuestOptions(),
            settings=settings,
        )

    return make


@pytest.fixture
def nova_conf(
    tmp_path: pathlib.Path,
) -> collections.abc.Callable[[str], cfg.ConfigOpts]:
    """Return a function that reads the text of a nova.conf."""

    def read(text: str) -> cfg.ConfigOpts:
        path = tmp_path / 'nova.conf'
        path.write_text(text + '\n')
        conf = cfg.ConfigOpts()
        for group in (compute, compute_agent, default):
            group.register_opts(conf)
        driver_options.register_opts(conf)
        conf(['--config-file', str(path)])
        return conf

    return read


@pytest.fixture
def tree() -> provider_tree.ProviderTree:
    """A tree of one provider without anything."""
    tree = provider_tree.ProviderTree()
    tree.new_root(NODE, UUID)
    return tree


@pytest.fixture
def seen() -> collections.abc.Callable[..., provider_tree.ProviderTree]:
    """Return a maker of trees whose root placement has, with this inventory."""

    def make(
        inventory: collections.abc.Mapping[str, typing.Any],
        aggregates: collections.abc.Iterable[str] = (),
        sharing: collections.abc.Iterable[provider.Provider] = (),
    ) -> provider_tree.ProviderTree:
        root = provider.Provider(
            uuid=UUID,
            name=NODE,
            generation=1,
            inventories={
                rc: Inventory.from_record(record)
                for rc, record in inventory.items()
            },
            aggregates=frozenset(aggregates),
        )
        return provider_tree.ProviderTree.from_snapshot(
            provider.snapshot([root, *sharing])
        )

    return make
