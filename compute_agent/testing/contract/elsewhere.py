# SPDX-License-Identifier: Apache-2.0
"""Has a driver describe its nodes in processes with other hash seeds.

``python -m compute_agent.testing.contract.elsewhere NAME FOLDER`` is such a
process: it makes the driver from the options in the folder, describes each
node on an empty tree, and prints the descriptions as JSON.
"""

import json
import os
import pathlib
import subprocess
import sys
import typing
from typing import Any

from ...cycle.planning import describe as agent_describe
from ...tree import host_inventory
from ...tree.provider_tree import ProviderTree
from . import describing, making
from .recorder import Said
from .rule import NotTried

if typing.TYPE_CHECKING:
    from . import trial

_SECONDS = 120


def described(of: 'trial.Trial', hash_seed: int) -> dict[str, dict[str, Any]]:
    """Return what the driver of a trial says elsewhere: node → JSON.

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
        tree, node = ProviderTree(), describing.new_node(driver, nodename)
        agent_describe.describe(driver, tree, node, host_inventory.Reserved())
        found[nodename] = describing.plain(Said.of(tree))
    driver.close()
    json.dump(found, sys.stdout)


if __name__ == '__main__':
    main(*sys.argv[1:])
