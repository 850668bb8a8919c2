# SPDX-License-Identifier: Apache-2.0
"""The work that both programs are measured with.

Only the standard library, because nova's environment runs it as well. One JSON
object on stdout has the processor time of each step and the number of
providers that the last step found changed.

There are two jobs. In ``new``, placement has nothing yet, and a driver creates
all providers. In ``known``, placement has them all. Both jobs then copy the tree
of each node, edit one provider in ten of each copy, and compare the copies with
what placement has.
"""

import dataclasses
import itertools
import json
import sys
import time
import uuid as uuidlib
from collections.abc import Sequence
from typing import Any, Protocol

JOBS = ('new', 'known')
STEPS = ('build', 'copy', 'edit', 'diff')
TRAITS = ('CUSTOM_A', 'CUSTOM_B', 'HW_CPU_X86_AVX2')
EDITED_TRAITS = ('CUSTOM_A', 'CUSTOM_C')
EDITED_INVENTORY = {'VGPU': {'total': 3}}
ONE_IN = 10

Record = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Provider:
    """A provider with two resource classes and three traits.

    :ivar parent_uuid: the uuid of the node's root, or None for the root
    :ivar is_edited: True if the edit changes its inventory and its traits
    """

    uuid: str
    name: str
    parent_uuid: str | None
    inventory: dict[str, Record]
    is_edited: bool


# A node's providers, the root first.
Node = Sequence[Provider]


class Trees(Protocol):
    """The trees of one program, from step to step."""

    def build(self, nodes: Sequence[Node]) -> None:
        """Make the providers with their contents."""

    def copy(self) -> None:
        """Copy the tree of each node, for a driver to edit."""

    def edit(self, nodes: Sequence[Node]) -> None:
        """Change one provider in ten of each copy."""

    def diff(self) -> int:
        """Return the number of providers that placement has otherwise."""


def nodes(count: int, size: int) -> list[Node]:
    """Return this many nodes of this many providers each."""
    return [
        [_provider(node, size, number) for number in range(size)]
        for node in range(count)
    ]


def main(kinds: dict[str, type[Trees]]) -> None:
    """Do one job and print its cost: ``JOB NODES SIZE``.

    :param kinds: the program's trees for each job
    """
    job, count, size = sys.argv[1:]
    given = nodes(int(count), int(size))
    json.dump(measured(kinds[job](), given), sys.stdout)


def measured(trees: Trees, given: Sequence[Node]) -> dict[str, Any]:
    """Return the processor time of each step, and the number of changes."""
    began = [time.process_time()]
    trees.build(given)
    began.append(time.process_time())
    trees.copy()
    began.append(time.process_time())
    trees.edit(given)
    began.append(time.process_time())
    changed = trees.diff()
    began.append(time.process_time())
    took = [b - a for a, b in itertools.pairwise(began)]
    return {
        'seconds': dict(zip(STEPS, took, strict=True)),
        'changed': changed,
    }


def _provider(node: int, size: int, number: int) -> Provider:
    root = node * size + 1
    return Provider(
        uuid=str(uuidlib.UUID(int=root + number)),
        name=f'n{node}-{number}' if number else f'n{node}',
        parent_uuid=str(uuidlib.UUID(int=root)) if number else None,
        inventory={
            'CUSTOM_SLOTS': {'total': 10 + number % 7},
            'VGPU': {'total': 4, 'max_unit': 1},
        },
        is_edited=number % ONE_IN == 1,
    )
