# SPDX-License-Identifier: Apache-2.0
"""Has a driver describe nodes outside of a cycle, here or in another process.

Here it does so on what placement holds. The other process has another hash
seed: ``python -m compute_agent.testing.contract.describing NAME FOLDER`` makes
the driver from the options in the folder, describes each node on an empty
tree, and prints the descriptions as JSON.
"""

import json
import os
import pathlib
import subprocess
import sys
import uuid as uuidlib
from typing import Any

from ...cycle.describing import describe as agent_describe
from ...tree import host_inventory, inventory, names, provider
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import driver as virt
from ..fixtures import placement_contents
from ..values.verdict import NotTried
from . import making, watch
from .recorder import Said
from .trial import Trial

_SECONDS = 120  # for the other process
# The uuid of a node that placement does not have, from its name.
_NAMESPACE = uuidlib.UUID('3f9a1c52-58cf-4c0e-8f2e-0c9a6a6b8d10')


def describe(of: Trial, driver: virt.ComputeDriver, nodename: str) -> Said:
    """Return what a driver says of a node on the tree that placement has.

    The driver describes the node without other drivers.

    :raises errors.AgentError: the driver fails
    """
    tree, node = tree_of(of, driver, nodename)
    agent_describe.describe(driver, tree, node, host_inventory.Reserved())
    return Said.from_tree(tree)


def tree_of(
    of: Trial, driver: virt.ComputeDriver, nodename: str
) -> tuple[ProviderTree, Node]:
    """Return the tree of a node as placement has it, and the node."""
    with watch.agent_runs():
        held = of.placement.contents()
    name = driver.get_hypervisor_hostnames().get(nodename) or nodename
    root = next(
        (u for u, one in held.items() if one.name in {name, nodename}), None
    )
    if root is None:
        return ProviderTree(), new_node(driver, nodename)
    providers = provider.snapshot(map(_provider, held.values()))
    near = provider.descendants(providers, root)
    tree = ProviderTree.from_providers(
        p
        for u, p in providers.items()
        if u in near or names.MISC_SHARES_VIA_AGGREGATE in p.traits
    )
    return tree, Node(uuid=root, name=held[root].name)


def new_node(driver: virt.ComputeDriver, nodename: str) -> Node:
    """Return a node that placement does not have."""
    by_name = {n: u for u, n in driver.get_nodenames_by_uuid().items()}
    return Node(uuid=by_name.get(nodename) or _uuid(nodename), name=nodename)


def _provider(held: placement_contents.Claims) -> provider.Provider:
    return provider.Provider(
        uuid=held.uuid,
        name=held.name,
        parent_uuid=held.parent,
        generation=held.generation,
        inventories={
            rc: inventory.Inventory(**fields._asdict())
            for rc, fields in held.inventories.items()
        },
        traits=frozenset(held.traits),
        aggregates=frozenset(held.aggregates),
    )


def unordered(said: Said) -> dict[str, Any]:
    """Return a description without the order of its providers and notes."""
    found = plain(said)
    return {
        key: sorted(value, key=repr) if isinstance(value, list) else value
        for key, value in found.items()
    }


def plain(said: Said) -> dict[str, Any]:
    """Return a description as JSON has it; the order of names is no matter."""
    return {
        'providers': [list(row) for row in said.providers],
        'asserted': {
            f'{uuid} {kind.value}': {
                'names': sorted(one.names),
                'removed': sorted(one.removed),
                'declared': one.declared,
                'exclusive': one.exclusive,
                'keep': one.keep,
            }
            for (uuid, kind), one in sorted(said.asserted.items())
        },
        'inventories': {
            uuid: {rc: dict(record) for rc, record in sorted(records.items())}
            for uuid, records in sorted(said.inventories.items())
        },
        'notes': list(said.notes),
        'faults': list(said.faults),
    }


def _uuid(name: str) -> str:
    if names.is_uuid(name):
        return name.lower()
    return str(uuidlib.uuid5(_NAMESPACE, name))


# --- in another process -------------------------------------------------------


def describe_elsewhere(of: Trial, hash_seed: int) -> dict[str, dict[str, Any]]:
    """Return the driver's descriptions in another process: node → JSON.

    :raises NotTried: only this process can make the driver
    :raises RuntimeError: the other process failed
    """
    if not isinstance(of.named, str) or of.world.make is not None:
        raise NotTried(
            'only a driver that has an entry point, and no World.make, can be '
            'made in another process'
        )
    making.configured(of.world, of.folder)
    done = _run([of.named, str(of.folder)], hash_seed)
    if done.returncode:
        raise RuntimeError(
            f'in a process of its own: {done.stderr.strip()[-300:]}'
        )
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def _run(words: list[str], hash_seed: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (this Python, this module)
        [sys.executable, '-m', __name__, *words],
        env={
            **os.environ,
            'PYTHONHASHSEED': str(hash_seed),
            'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
        },
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def main(name: str, folder: str) -> None:
    """Print what a driver says of each node."""
    driver = making.from_file(name, pathlib.Path(folder))
    found = {}
    for nodename in driver.get_available_nodes():
        tree, node = ProviderTree(), new_node(driver, nodename)
        agent_describe.describe(driver, tree, node, host_inventory.Reserved())
        found[nodename] = plain(Said.from_tree(tree))
    driver.close()
    json.dump(found, sys.stdout)


if __name__ == '__main__':
    main(*sys.argv[1:])
