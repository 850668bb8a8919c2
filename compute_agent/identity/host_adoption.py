# SPDX-License-Identifier: Apache-2.0
"""A reinstalled host takes back the uuid that it had before.

Placement has the host's name under the old uuid. The host takes that uuid only
if its own file gives its uuid, and only while placement has no provider under
the new one. ``resource provider adopt`` shows a ``HostAdoption`` and carries it out. In
a cycle, ``cycle/node/node_cycle.py`` does so when a person approved it.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence

from .. import errors
from ..limits import approval
from ..ownership import adoption
from ..state.handover import Handover
from ..tree.node import Node
from . import compute_id, identity


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostAdoption:
    """A host, and the provider whose uuid it will take.

    :ivar directories: where the host's uuid is kept: the agent's directory
        first, then those where nova may have written it
    """

    node: Node
    provider: adoption.ListedProvider
    directories: Sequence[pathlib.Path]

    def __str__(self) -> str:
        """Return the message for the operator."""
        return (
            f'the name {self.provider.name} belongs to provider '
            f'{self.provider.uuid} in placement, but this host is '
            f'{self.node.uuid}: if the host was reinstalled, it takes that '
            f'uuid back and reports that provider, which waits for approval; '
            'else rename the other provider ("compute-agent resource provider rename '
            f'{self.provider.uuid} NEW_NAME") or delete it'
        )

    def brief(self) -> str:
        """Return the adoption as a line for a list, without advice."""
        return (
            f'this host, {self.node}, takes the uuid of '
            f'{adoption.title(self.provider)}, and makes that provider what '
            'the driver describes'
        )

    def subject(self) -> approval.Subject:
        """Return the adoption as the subject of an approval."""
        return approval.subject(
            approval.Kind.ADOPTION, (self.node.uuid, self.provider.uuid)
        )

    def apply(self, handover: Handover) -> list[pathlib.Path]:
        """Give the host its old uuid; return the copies of the old files.

        The record of the new uuid is dropped first. If the agent is killed in
        between, the host still has its new uuid and can be adopted again. In
        the other order, the record would keep a node that no driver has.
        """
        handover.forget_with_record(self.node.uuid)
        own, *others = self.directories
        return compute_id.adopt(self.provider.uuid, own, others)


class HostUuid:
    """Gives this host the uuid under which placement has its name.

    :param listed: returns the providers that placement has under a uuid
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        handover: Handover,
        listed: Callable[[str], Sequence[adoption.ListedProvider]],
    ) -> None:
        self._directories = directories
        self._handover = handover
        self._listed = listed
        # Node uuid → the provider that has the node's name.
        self._holders: dict[str, adoption.ListedProvider] = {}

    def adoption(self, node: Node, holder: str) -> HostAdoption | None:
        """Return how this host takes the uuid of the holder of its name.

        The result is None if no file gives the node its uuid, or if the holder
        was deleted meanwhile. Placement is asked once for each holder.

        :raises errors.Refused: the holder is not a root
        """
        if node.uuid not in compute_id.uuid_files(self._directories):
            return None
        if holder not in self._holders:
            for provider in self._listed(holder):
                _check_root(provider)
                self._holders[holder] = provider
        found = self._holders.get(holder)
        if found is None:
            return None
        return HostAdoption(
            node=node, provider=found, directories=self._directories
        )

    def take(self, adopted: HostAdoption) -> None:
        """Carry an adoption out.

        :raises errors.ConfigError: a file cannot be written
        """
        adopted.apply(self._handover)


def host_adoption(
    provider: adoption.ListedProvider,
    nodes: Sequence[Node],
    by_uuid: Callable[[], Mapping[str, str]],
    listed: Callable[[str], Sequence[adoption.ListedProvider]],
    directories: Sequence[pathlib.Path],
) -> HostAdoption | None:
    """Return how a host takes the provider's uuid.

    The result is None unless the provider has the name of a node, but another
    uuid.

    :param by_uuid: returns uuid → name, as far as the driver gives uuids;
        called only if a node has the provider's name
    :param listed: returns the providers that placement has under a uuid
    :raises errors.Refused: the host must not take the uuid
    """
    for node in nodes:
        if node.name == provider.name and node.uuid != provider.uuid:
            names = [each.name for each in nodes]
            if not identity.has_host_uuid(names, by_uuid()):
                raise errors.Refused(_given_by_driver(node, provider))
            _check_root(provider)
            _check_unused(node, provider, listed(node.uuid))
            return HostAdoption(
                node=node, provider=provider, directories=directories
            )
    return None


def _given_by_driver(node: Node, provider: adoption.ListedProvider) -> str:
    return (
        f'the driver gives the uuid of node {node}, so no file of this host '
        f'can change it: set {provider.uuid} in the driver, or rename or '
        f'delete provider {adoption.title(provider)}'
    )


def _check_root(provider: adoption.ListedProvider) -> None:
    if provider.parent_uuid is not None:
        raise errors.Refused(
            f'{adoption.title(provider)} is a child of '
            f'{provider.parent_uuid}, but a compute node must be a root '
            'provider: rename or delete it'
        )


def _check_unused(
    node: Node,
    provider: adoption.ListedProvider,
    listed: Sequence[adoption.ListedProvider],
) -> None:
    """Refuse to leave behind a provider under the uuid that the host has."""
    for own in listed:
        raise errors.Refused(
            f'this host, {node}, is already in placement, as '
            f'{adoption.title(own)}: to keep {adoption.title(provider)} '
            'instead, delete that provider first ("compute-agent resource '
            f'provider delete {own.uuid}")'
        )
