# SPDX-License-Identifier: Apache-2.0
"""A cloud as placement, nova, Ironic and this agent's state told it.

Pure: no I/O, configuration, logging or clock. Uuids are in lower case.
``problem`` is the reason why a service was not asked, or not completely; it
is empty if the answer is complete.
"""

import dataclasses
from collections.abc import Mapping

from ..fleet.values import mark
from ..tree import names, provider

Resources = Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """A provider as placement lists it."""

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None
    root_uuid: str

    def __str__(self) -> str:
        return provider.title(self.name, self.uuid)

    @property
    def is_root(self) -> bool:
        """True if the provider has no parent."""
        return self.parent_uuid is None

    @property
    def is_like_ironic(self) -> bool:
        """True if the name is a uuid, as that of an Ironic node's provider."""
        return names.is_uuid(self.name)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The amounts of one resource class in placement."""

    total: int
    reserved: int = 0
    allocation_ratio: float = 1.0

    @property
    def capacity(self) -> float:
        """The amount that can be allocated."""
        return (self.total - self.reserved) * self.allocation_ratio


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The contents of one provider, all read at one generation.

    :ivar allocations: consumer → resource class → amount
    :ivar traits: None if they were not read
    :ivar aggregates: None if they were not read
    :ivar age: the seconds since the last change; None if it was not read
    """

    inventories: Mapping[str, Inventory]
    allocations: Mapping[str, Resources]
    traits: frozenset[str] | None = None
    aggregates: frozenset[str] | None = None
    age: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Placement's answers.

    :ivar providers: the providers by uuid
    :ivar compute_nodes: the providers with the trait COMPUTE_NODE
    :ivar sharing: the providers with the trait MISC_SHARES_VIA_AGGREGATE
    :ivar traitless: the providers without any trait
    :ivar unused_traits: the custom traits that no provider has
    :ivar marks: the agents that share a share: the roots with the mark of each
    :ivar missing_traits: the traits of os-traits here that placement lacks
    :ivar custom_classes: the custom resource classes
    :ivar contents: the contents of the providers that were read
    :ivar changing: providers that changed whenever they were read
    :ivar is_complete: True if the contents of all providers were asked for
    """

    providers: Mapping[str, ListedProvider]
    compute_nodes: frozenset[str] = frozenset()
    sharing: frozenset[str] = frozenset()
    traitless: frozenset[str] = frozenset()
    unused_traits: frozenset[str] = frozenset()
    marks: Mapping[mark.Mark, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    missing_traits: frozenset[str] = frozenset()
    custom_classes: frozenset[str] = frozenset()
    contents: Mapping[str, Contents] = dataclasses.field(default_factory=dict)
    changing: frozenset[str] = frozenset()
    is_complete: bool = False

    def roots(self) -> list[ListedProvider]:
        """Return the roots, sorted by name."""
        found = (p for p in self.providers.values() if p.is_root)
        return sorted(found, key=lambda p: (p.name, p.uuid))

    def trees(self) -> dict[str, list[ListedProvider]]:
        """Return the providers of each tree, by the uuid of its root."""
        found: dict[str, list[ListedProvider]] = {}
        for one in self.providers.values():
            found.setdefault(one.root_uuid, []).append(one)
        return found

    def divided(self) -> dict[str, frozenset[str]]:
        """Return consumer → roots, for consumers on several compute nodes."""
        found: dict[str, set[str]] = {}
        for consumer, used in self.consumers().items():
            roots = {one.root_uuid for one in used} & self.compute_nodes
            if len(roots) > 1:
                found[consumer] = roots
        return {one: frozenset(roots) for one, roots in found.items()}

    def consumers(self) -> dict[str, list[ListedProvider]]:
        """Return the providers that each consumer uses, as far as read."""
        found: dict[str, list[ListedProvider]] = {}
        for uuid in sorted(self.contents):
            for consumer in self.contents[uuid].allocations:
                found.setdefault(consumer, []).append(self.providers[uuid])
        return found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The place where nova has a server.

    :ivar host: the name of its hypervisor
    :ivar is_settled: False while nova does something to the server
    :ivar evacuated: the hypervisors from which a finished evacuation took it
    """

    host: str
    is_settled: bool
    evacuated: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nova:
    """Nova's answers.

    :ivar is_failure: True if nova is configured and did not answer
    :ivar hypervisors: the host name of each hypervisor, by uuid
    :ivar services: the hosts of the nova-compute services
    :ivar known_consumers: the consumers in placement that are servers or
        migrations of nova
    :ivar flavors: the names of the flavors that require a trait
    :ivar forbidden: the traits that a flavor forbids
    :ivar wanted_classes: the names of the flavors that ask for a custom class
    :ivar homes: where nova has the servers that use several compute nodes
    """

    problem: str = ''
    is_failure: bool = False
    hypervisors: Mapping[str, str] = dataclasses.field(default_factory=dict)
    services: frozenset[str] = frozenset()
    known_consumers: frozenset[str] = frozenset()
    flavors: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=dict
    )
    forbidden: frozenset[str] = frozenset()
    wanted_classes: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=dict
    )
    homes: Mapping[str, Home] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ironic:
    """Ironic's answer.

    :ivar is_failure: True if Ironic is configured and did not answer
    :ivar instances: node uuid → its instance, or None
    """

    problem: str = ''
    is_failure: bool = False
    instances: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The state of this agent.

    :ivar roots: the roots of its nodes
    :ivar recorded: the providers that it created or wrote to
    """

    roots: frozenset[str] = frozenset()
    recorded: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The operator's choices for an audit.

    :ivar included: names and uuids of providers of other owners that may be
        judged, and deleted, like a compute node
    :ivar quiet: the seconds for which a dead host has not changed
    """

    included: frozenset[str] = frozenset()
    quiet: float = 3600

    def names(self, one: ListedProvider) -> bool:
        """Return True if the operator names this provider."""
        return bool(self.included & {one.uuid, one.name})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Everything that an audit judges."""

    placement: Placement
    nova: Nova
    ironic: Ironic
    agent: Agent = dataclasses.field(default_factory=Agent)
    choices: Choices = dataclasses.field(default_factory=Choices)
