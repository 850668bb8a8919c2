# SPDX-License-Identifier: Apache-2.0
"""The hosts of ``tests/hosts``, and the whole libvirt driver on one of them.

A case is a folder: files of the kernel in ``proc/`` and ``sys/``, libvirt's
answers in ``libvirt/`` (``drivers/libvirt/recording/libvirt_answers.py`` describes
them), what programs print in ``programs/``, each in a file of the program's
name, options of the case in ``nova.conf``, and ``expected.yaml``. Its key
``tree`` has the providers by name: each with its whole ``inventory`` (of a
class, the fields that matter) and its ``traits``, without those of nova that
every libvirt host has. The name of the root is libvirt's.
"""

import dataclasses
import pathlib
import typing

import recorded_sources
from oslo_config import cfg

import compute_agent.conf
from compute_agent import testing
from compute_agent.tree import provider_tree
from drivers import host_files
from drivers.libvirt import driver
from drivers.libvirt.reading import sources
from drivers.libvirt.recording import raw_evidence

HOSTS = pathlib.Path(__file__).parents[1] / 'hosts'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
GIB = 1024**3
SIZE = 200 * GIB

Plain: typing.TypeAlias = dict[str, dict[str, typing.Any]]


def cases(key: str) -> list[str]:
    """Return the names of the cases whose expected.yaml has this key."""
    return [str(host) for host in testing.recorded_hosts(HOSTS, key)]


def expected(folder: pathlib.Path) -> dict[str, typing.Any]:
    """Return what a case expects."""
    return testing.recorded_host(folder).expected


def nova_confs(folder: pathlib.Path, into: pathlib.Path) -> list[pathlib.Path]:
    """Return the configurations of a case that are not refused, as files.

    :param into: the folder for those that the case has in its expected.yaml
    """
    kept = expected(folder)
    if 'refused' in kept:
        return []
    texts = [
        one['nova_conf']
        for one in kept.get('configurations', ())
        if 'config_error' not in one
    ]
    for number, text in enumerate(texts):
        (into / f'{number}.conf').write_text(text, 'utf-8')
    named = [into / f'{number}.conf' for number in range(len(texts))]
    return named or [folder / 'nova.conf']


class SomeFiles(host_files.HostFiles):
    """Files of a recorded host; every file system of it has one size."""

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root, machine='unknown')

    def file_system_bytes(self, path: str) -> int:
        """Return the one size."""
        return SIZE


def sources_of(folder: pathlib.Path) -> sources.Sources:
    """Return the sources of a recorded host."""
    recorded = recorded_sources.sources_of(folder)
    if (folder / raw_evidence.FILE_SYSTEMS).exists():
        return recorded
    return dataclasses.replace(recorded, files=SomeFiles(folder))


def configuration(*files: pathlib.Path) -> cfg.ConfigOpts:
    """Return the options of these files; those that do not exist are empty."""
    conf = cfg.ConfigOpts()
    compute_agent.conf.register_opts(conf, compute_agent.conf.LOCAL)
    driver.LibvirtDriver.register_opts(conf)
    conf([f'--config-file={path}' for path in files if path.exists()])
    return conf


def driver_on(
    folder: pathlib.Path, *files: pathlib.Path
) -> driver.LibvirtDriver:
    """Return the driver on a recorded host, under its nova.conf or others."""
    conf = configuration(*(files or (folder / 'nova.conf',)))
    return driver.LibvirtDriver.on_host(conf, sources_of(folder))


def empty_tree(libvirt: driver.LibvirtDriver) -> provider_tree.ProviderTree:
    """Return a tree with the driver's root, which has nothing yet."""
    tree = provider_tree.ProviderTree()
    (name,) = libvirt.get_hypervisor_hostnames().values()
    tree.new_root(name, UUID)
    return tree


def describe(
    libvirt: driver.LibvirtDriver, tree: provider_tree.ProviderTree
) -> None:
    """Let the driver describe its host in the tree."""
    (root,) = tree.roots
    libvirt.update_provider_tree(tree, root.name)


def plain(tree: provider_tree.ProviderTree) -> Plain:
    """Return name → inventory and traits of all providers."""
    found = {}
    for uuid in tree.get_provider_uuids():
        data = tree.data(uuid)
        found[data.name] = {
            'inventory': data.inventory,
            'traits': sorted(data.traits),
        }
    return found


def placed(found: Plain) -> provider_tree.ProviderTree:
    """Return the tree of these providers, as placement has it."""
    root = next(iter(found))
    rows = {
        name: {
            'parent': None if name == root else root,
            'inventories': contents['inventory'],
            'traits': contents['traits'],
        }
        for name, contents in found.items()
    }
    rows[root]['uuid'] = UUID
    return testing.tree(rows)


def tree_of(found: Plain) -> provider_tree.ProviderTree:
    """Return the tree of these providers, as an earlier description left it.

    A trait that the next description does not declare is gone, whoever set it.
    """
    tree = provider_tree.ProviderTree()
    root = ''
    for name, contents in found.items():
        if root:
            tree.new_child(name, root)
        else:
            root = name
            tree.new_root(name, UUID)
        tree.update_inventory(name, contents['inventory'])
        tree.update_traits(name, contents['traits'])
    return tree
