# SPDX-License-Identifier: Apache-2.0
"""The ProviderTree as nova's code edits it.

Pure: no I/O, configuration, logging or clock. Nova compares only the fields
that a record has, so a field that it omits stays as placement has it: an
operator's ``reserved`` on a PCI device, for example. The agent's tree takes
placement's default instead, so these trees add the fields that nova omits.
``driver.py`` and ``tracker.py`` pass them to nova.
"""

from collections.abc import Mapping
from typing import Any

from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import provider_tree

# An omitted ratio means that configuration and operators decide.
_KEPT = ('reserved', 'min_unit', 'max_unit', 'step_size')

_Record = Mapping[str, int | float]


class NovaTree:
    """The agent's tree; a field that nova omits keeps its value."""

    def __init__(self, tree: provider_tree.ProviderTree) -> None:
        self._tree = tree

    def __getattr__(self, name: str) -> Any:
        if name == '_tree':  # a copy that is not made yet
            raise AttributeError(name)
        return getattr(self._tree, name)

    def update_inventory(
        self,
        name_or_uuid: str,
        inventory: Mapping[str, _Record],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete inventory; return True if it changed."""
        now = self._tree.data(name_or_uuid).inventory
        completed = {
            rc: _completed(record, now.get(rc, {}))
            for rc, record in inventory.items()
        }
        given = agent_inventory.as_given(completed)
        return self._tree.update_inventory(name_or_uuid, given, generation)


class PciTree(NovaTree):
    """The agent's tree for nova's PCI devices.

    Nova gives each new device a random uuid; here the uuid follows from the
    name, so that two descriptions of a device are equal.
    """

    def new_child(self, name: str, parent: str, uuid: str = '') -> str:  # noqa: ARG002
        """Add a provider below ``parent``; return its uuid."""
        return self._tree.new_child(name, parent)


def _completed(record: _Record, now: _Record) -> dict[str, int | float]:
    """Return the record, with the fields that it omits from the present one."""
    kept = {field: now[field] for field in _KEPT if field in now}
    if 'reserved' in kept and 'total' in record:
        kept['reserved'] = min(kept['reserved'], record['total'])
    full = {**kept, **record}
    if full.get('allocation_ratio') == 0:
        del full['allocation_ratio']  # nova's options: 0 is "not set"
    return full
