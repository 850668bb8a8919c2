# SPDX-License-Identifier: Apache-2.0
"""A driver that passes each call on to another one and records its result.

A trial gives it to the agent in place of the driver: it then knows what the
driver said of a node in a cycle, and which of its errors the agent saw. In a
cycle, only calls from here count as the driver's.
"""

import contextlib
import dataclasses
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from ... import errors
from ...tree import assertion, inventory, provider_tree
from ...virt import driver as virt
from ...virt.values import changes
from . import watch

Asserted = Mapping[assertion.Key, assertion.Assertion]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The result of all calls of a driver on a tree.

    :ivar providers: uuid, name and parent of each, in the order of the tree
    :ivar asserted: the names that the driver asserted, by provider and kind
    :ivar inventories: the records of the providers whose inventory it asserted
    :ivar removed: uuid → name of each provider that it took out of the tree
    """

    providers: Sequence[tuple[str, str, str | None]]
    asserted: Asserted
    inventories: Mapping[str, Mapping[str, inventory.Record]]
    removed: Mapping[str, str]
    notes: tuple[str, ...]
    faults: tuple[str, ...]

    @classmethod
    def from_tree(cls, tree: provider_tree.ProviderTree) -> typing.Self:
        """Return what the driver said in this tree."""
        providers = [tree.data(u) for u in tree.get_provider_uuids()]
        asserted = {
            key: by[assertion.DRIVER]
            for key, by in tree.assertions.items()
            if assertion.DRIVER in by
        }
        return cls(
            providers=[(p.uuid, p.name, p.parent_uuid) for p in providers],
            asserted=asserted,
            inventories={
                p.uuid: p.inventory
                for p in providers
                if (p.uuid, assertion.Kind.INVENTORY) in asserted
            },
            removed={
                uuid: one.name
                for uuid, one in tree.baseline.items()
                if not tree.exists(uuid)
            },
            notes=tuple(tree.notes),
            faults=tuple(tree.faults),
        )

    @property
    def keeps(self) -> frozenset[assertion.Key]:
        """The names that the driver could not tell."""
        return frozenset(k for k, one in self.asserted.items() if one.keep)

    def title(self, uuid: str) -> str:
        """Return the name of a provider for messages."""
        return next((n for u, n, _ in self.providers if u == uuid), uuid)


def question(since: object) -> str:
    """Return a call of ``changes`` in the words of messages."""
    return 'changes(None)' if since is None else 'changes(since)'


class Recorder(virt.ComputeDriver):
    """Records what a driver answers to the agent.

    :ivar said: node → the last description
    :ivar described: the node and the tree of each description
    :ivar facts_of: node → its last facts
    :ivar raised: call → the exceptions that the agent saw, oldest first
    :ivar gives_facts: True if the agent gets the driver's facts, and asks for
        no description while they are equal; False if it gets None
    :ivar counted_as: a resource class → the class as which its amounts count,
        by any description since this recorder was made
    """

    def __init__(self, driver: virt.ComputeDriver) -> None:
        self.driver = driver
        self.said: dict[str, Said] = {}
        self.described: list[tuple[str, provider_tree.ProviderTree]] = []
        self.facts_of: dict[str, object] = {}
        self.gives_facts = False
        self.raised: list[tuple[str, Exception]] = []
        self.counted_as: dict[str, str] = {}

    @classmethod
    def around(cls, driver: virt.ComputeDriver) -> 'Recorder':
        """Return a recorder whose class has the name of the driver's class.

        It overrides ``changes`` only if the driver does, because the daemon
        asks no other driver for changes.
        """
        kind = type(driver)
        members: dict[str, Any] = {'__module__': kind.__module__}
        if kind.changes is virt.ComputeDriver.changes:
            members['changes'] = virt.ComputeDriver.changes
        named: type[Recorder] = type(kind.__name__, (cls,), members)
        return named(driver)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Refuse, because only a trial makes a recorder.

        :raises errors.ConfigError: always
        """
        raise errors.ConfigError(f'a trial makes this driver, not {conf}')

    def clear(self) -> None:
        """Forget the descriptions, facts and exceptions."""
        self.said.clear()
        self.described.clear()
        self.facts_of.clear()
        self.raised.clear()

    @property
    def authority(self) -> Sequence[str]:
        """The driver's."""
        with self._recording('authority'):
            return self.driver.authority

    def subscribe(self, wake: Callable[[], object]) -> None:
        """Pass it on."""
        with self._recording('subscribe'):
            self.driver.subscribe(wake)

    def reload(self) -> None:
        """Pass it on."""
        with self._recording('reload'):
            self.driver.reload()

    def close(self) -> None:
        """Pass it on."""
        with self._recording('close'):
            self.driver.close()

    def get_available_nodes(self) -> Sequence[str]:
        """Pass it on."""
        with self._recording('get_available_nodes()'):
            return self.driver.get_available_nodes()

    def changes(self, since: Any) -> changes.Changes | None:
        """Pass it on."""
        with self._recording(question(since)):
            return self.driver.changes(since)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Pass it on."""
        with self._recording('get_nodenames_by_uuid()'):
            return self.driver.get_nodenames_by_uuid()

    def get_titles(self) -> Mapping[str, str]:
        """Pass it on."""
        with self._recording('get_titles()'):
            return self.driver.get_titles()

    def get_hypervisor_hostnames(self) -> Mapping[str, str]:
        """Pass it on."""
        with self._recording('get_hypervisor_hostnames()'):
            return self.driver.get_hypervisor_hostnames()

    def node_exists(self, nodename: str) -> virt.Existence:
        """Pass it on."""
        with self._recording(f'node_exists({nodename!r})'):
            return self.driver.node_exists(nodename)

    def facts(self, nodename: str) -> object:
        """Pass the call on, or return None in place of the answer."""
        with self._recording(f'facts({nodename!r})'):
            found = self.driver.facts(nodename)
        self.facts_of[nodename] = found
        return found if self.gives_facts else None

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, Any] | None = None,
    ) -> None:
        """Pass the call on, and record the description."""
        given = () if allocations is None else (allocations,)
        with self._recording(f'update_provider_tree(…, {nodename!r})'):
            self.driver.update_provider_tree(provider_tree, nodename, *given)
        self.described.append((nodename, provider_tree))
        self.said[nodename] = Said.from_tree(provider_tree)
        self.counted_as |= provider_tree.counted_as

    def get_inventory(
        self, nodename: str
    ) -> Mapping[str, inventory.InventoryRecord]:
        """Pass it on."""
        with self._recording(f'get_inventory({nodename!r})'):
            return self.driver.get_inventory(nodename)

    def get_traits(self, nodename: str) -> Sequence[str]:
        """Pass it on."""
        with self._recording(f'get_traits({nodename!r})'):
            return self.driver.get_traits(nodename)

    def get_available_resource(self, nodename: str) -> Mapping[str, Any]:
        """Pass it on."""
        with self._recording(f'get_available_resource({nodename!r})'):
            return self.driver.get_available_resource(nodename)

    @contextlib.contextmanager
    def _recording(self, call: str) -> Iterator[None]:
        try:
            with watch.driver_runs():
                yield
        except (NotImplementedError, errors.ReshapeNeeded):
            raise
        except Exception as exc:
            self.raised.append((call, exc))
            raise
