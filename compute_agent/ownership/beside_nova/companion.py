# SPDX-License-Identifier: Apache-2.0
"""Keep a companion's assertions away from everything that is nova's.

Pure: no I/O, configuration, logging or clock. With ``mode = companion``, the
root of a node is nova-compute's. The agent adds to it only traits that nova
does not decide, and aggregates, and never its complete list of anything. Below
the root, it writes only to children of its own. Outside the node's tree, it
writes to no provider that has a trait of nova's providers. ``confine`` applies
these rules to what all sources asserted. ``cycle/describing/descriptions.py``
calls it, after the sources edited the tree and before ownership is resolved.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from ... import error_text, errors
from ...tree import assertion, provider, provider_tree
from ...tree.assertion import Assertion, Key, Kind
from .. import nova_traits
from ..record import Record
from ..undeletable import is_derived
from . import given_up


def is_own(
    tree: provider_tree.ProviderTree, record: Record, uuid: str
) -> bool:
    """Return True if this agent created a provider, or creates it now.

    A child that nova-compute took over is not the agent's any more.
    """
    before = tree.baseline
    if uuid not in before:
        return True
    if given_up.novas_children(record, {uuid: before[uuid]}):
        return False
    return uuid in record.created or is_derived(before, uuid)


def confine(
    tree: provider_tree.ProviderTree, node_uuid: str, record: Record
) -> None:
    """Drop the assertions that a companion must not make, and note it.

    :raises errors.DriverError: the driver asserts inventory of the root
    """
    _Confinement(tree, record).confine(node_uuid)


@dataclasses.dataclass(slots=True)
class _Confinement:
    """The work of ``confine`` on one tree."""

    tree: provider_tree.ProviderTree
    record: Record

    def confine(self, root: str) -> None:
        """Confine the assertions about the root and all other providers."""
        self._refuse_inventory(root)
        for kind in (Kind.TRAIT, Kind.AGGREGATE):
            self._confine_root(root, kind)
        below = set(self.tree.get_provider_uuids(root))
        for uuid in self.tree.get_provider_uuids():
            if uuid == root:
                continue
            if is_own(self.tree, self.record, uuid):
                self._confine_own(uuid)
            elif uuid in below or any(
                map(nova_traits.says_nova, self.tree.baseline[uuid].traits)
            ):
                self._leave(uuid)
            else:
                self._confine_own(uuid)

    def _refuse_inventory(self, root: str) -> None:
        """Drop the empty assertions; the files' others were faults before."""
        for source, asserted in self._assertions(root, Kind.INVENTORY).items():
            if _says(asserted) and not assertion.is_file(source):
                raise errors.DriverError(
                    f'{assertion.title(source)} sets the inventory of '
                    f'{self._title(root)}, '
                    "which is nova-compute's alone with [compute_agent] mode "
                    '= companion: configure a driver that gives inventory to '
                    'children only, or set mode = owner where nova-compute '
                    'does not report the node'
                )
            self._replace((root, Kind.INVENTORY), source, assertion.NOTHING)

    def _confine_root(self, root: str, kind: Kind) -> None:
        key = (root, kind)
        left: set[str] = set()
        for source, asserted in self._assertions(*key).items():
            novas = (
                _novas(asserted.names) if kind is Kind.TRAIT else set[str]()
            )
            left |= novas
            allowed = dataclasses.replace(
                asserted,
                names=asserted.names - novas,
                removed=asserted.removed & self._ours(key),
                declared=asserted.declared or asserted.exclusive,
                exclusive=False,
            )
            self._replace(key, source, allowed)
        self._note(
            root, left, 'left to nova-compute, which decides these traits'
        )

    def _confine_own(self, uuid: str) -> None:
        """Take the traits away by which nova knows its own providers.

        The agent itself asserted OWNER_NOVA on its children while it was an
        owner. This claim ends.
        """
        key = (uuid, Kind.TRAIT)
        left: set[str] = set()
        for source, asserted in self._assertions(*key).items():
            novas = frozenset(filter(nova_traits.says_nova, asserted.names))
            left |= novas
            self._replace(
                key,
                source,
                dataclasses.replace(asserted, names=asserted.names - novas),
            )
        self._note(
            uuid,
            left,
            'not reported, because these traits say that a '
            "provider is nova-compute's",
        )
        if self.record.claims.get(key, {}).get(assertion.AGENT):
            with self.tree.asserting(assertion.AGENT):
                self.tree.declare_traits(uuid)

    def _leave(self, uuid: str) -> None:
        """Drop every assertion about a child that another writer created."""
        asserted = [
            kind
            for kind in Kind
            if any(map(_says, self._assertions(uuid, kind).values()))
        ]
        self.tree.withdraw_assertions(uuid)
        if asserted:
            self.tree.note(
                f'{self._title(uuid)}: left as it is, because this agent did '
                'not create it, or nova-compute has taken it over, and a '
                "companion does not write to nova's providers; a driver or a "
                f'file asserted its {", ".join(asserted)}'
            )

    def _assertions(self, uuid: str, kind: Kind) -> Mapping[str, Assertion]:
        return dict(self.tree.assertions.get((uuid, kind), {}))

    def _ours(self, key: Key) -> frozenset[str]:
        return self.record.ours.get(key, frozenset())

    def _replace(self, key: Key, source: str, asserted: Assertion) -> None:
        self.tree.replace_assertion(*key, source, asserted)

    def _note(self, uuid: str, names: Collection[str], what: str) -> None:
        if not names:
            return
        listed = error_text.listed(names)
        self.tree.note(f'{self._title(uuid)}: {what}: {listed}')

    def _title(self, uuid: str) -> str:
        return provider.title(self.tree.data(uuid).name, uuid)


def _says(asserted: Assertion) -> bool:
    """Return True if an assertion could change something."""
    return bool(asserted.names or asserted.removed or asserted.exclusive)


def _novas(names: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_novas, names))
