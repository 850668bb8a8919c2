# SPDX-License-Identifier: Apache-2.0
"""Small clouds as values, for the tests of the audit's judgement."""

import typing
import uuid as uuidlib

from compute_agent.audit import audit, cloud, finding

LONG_AGO = 1_000_000.0  # seconds


def uuid_of(name: str) -> str:
    """Return the uuid that a name always has in these tests."""
    return str(uuidlib.uuid5(uuidlib.NAMESPACE_DNS, name))


class Cloud:
    """A cloud to which a test adds what it is about.

    At first nova and Ironic answer completely and have nothing.
    """

    def __init__(self) -> None:
        self.providers: dict[str, cloud.ListedProvider] = {}
        self.contents: dict[str, cloud.Contents] = {}
        self.marked: set[str] = set()
        self.sharing: set[str] = set()
        self.traitless: set[str] = set()
        self.placement: dict[str, typing.Any] = {}
        self.nova: dict[str, typing.Any] = {}
        self.ironic: dict[str, typing.Any] = {}
        self.hypervisors: dict[str, str] = {}
        self.nodes: dict[str, str | None] = {}
        self.agent = cloud.Agent()
        self.choices = cloud.Choices()

    def root(
        self,
        name: str,
        uuid: str | None = None,
        *,
        marked: bool = True,
        age: float = LONG_AGO,
        **contents: typing.Any,
    ) -> str:
        """Add a root without contents; return its uuid."""
        uuid = uuid or uuid_of(name)
        if marked:
            self.marked.add(uuid)
            contents['traits'] = ['COMPUTE_NODE', *contents.get('traits', ())]
        row = cloud.ListedProvider(
            uuid=uuid,
            name=name,
            generation=1,
            parent_uuid=None,
            root_uuid=uuid,
        )
        return self._add(row, age, contents)

    def child(
        self,
        name: str,
        parent: str,
        **contents: typing.Any,
    ) -> str:
        """Add a child; return its uuid."""
        root = self.providers[parent].root_uuid
        row = cloud.ListedProvider(
            uuid=uuid_of(name),
            name=name,
            generation=1,
            parent_uuid=parent,
            root_uuid=root,
        )
        return self._add(row, None, contents)

    def hypervisor(self, name: str, uuid: str | None = None) -> None:
        """Add a hypervisor of nova."""
        self.hypervisors[uuid or uuid_of(name)] = name

    def node(self, uuid: str, instance: str | None = None) -> None:
        """Add a node of Ironic."""
        self.nodes[uuid] = instance

    def _add(
        self,
        row: cloud.ListedProvider,
        age: float | None,
        contents: dict[str, typing.Any],
    ) -> str:
        uuid = row.uuid
        self.providers[uuid] = row
        traits = frozenset(contents.pop('traits', ()))
        if not traits:
            self.traitless.add(uuid)
        self.contents[uuid] = cloud.Contents(
            inventories={
                rc: cloud.Inventory(**record)
                for rc, record in contents.pop('inventories', {}).items()
            },
            allocations=contents.pop('allocations', {}),
            aggregates=frozenset(contents.pop('aggregates', ())),
            traits=traits,
            age=age,
        )
        assert not contents
        return uuid

    @property
    def value(self) -> cloud.Cloud:
        """The cloud as the audit gets it."""
        return cloud.Cloud(
            placement=cloud.Placement(
                providers=self.providers,
                compute_nodes=frozenset(self.marked),
                sharing=frozenset(self.sharing),
                traitless=frozenset(self.traitless),
                contents=self.contents,
                **self.placement,
            ),
            nova=cloud.Nova(hypervisors=self.hypervisors, **self.nova),
            ironic=cloud.Ironic(instances=self.nodes, **self.ironic),
            agent=self.agent,
            choices=self.choices,
        )

    def found(
        self,
        kind: finding.Kind | None = None,
        level: finding.Level | None = None,
    ) -> list[finding.Finding]:
        """Return the results, of one kind and level if these are given."""
        return [
            one
            for one in audit.findings(self.value)
            if kind in (None, one.kind) and level in (None, one.level)
        ]

    def one(self, kind: finding.Kind) -> finding.Finding:
        """Return the only result, which must be of this kind."""
        (only,) = self.found()
        assert only.kind is kind, only
        return only

    @property
    def repairs(self) -> list[str]:
        """The planned repairs as text."""
        return [str(one) for one in audit.planned(self.found())]


Kind, Level = finding.Kind, finding.Level
