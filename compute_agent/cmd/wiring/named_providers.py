# SPDX-License-Identifier: Apache-2.0
"""Providers by the words of people, also by the names of a driver's nodes.

The provider of an Ironic node has the node's uuid as its name; people call the
node by its name in Ironic. The state database knows the names of this agent's
nodes. The drivers are asked only for a word that neither placement nor the
state knows.
"""

import contextlib
import functools
from collections.abc import Collection, Mapping

from oslo_config import cfg

from report_client import errors as placement_errors
from report_client.api import providers
from report_client.http import placement
from report_client.http.messages import codec

from ... import error_text, errors
from ...tree import names
from ...tree import node as node_module
from ...virt.driver import ComputeDriver
from ...virt.drivers import NamedDriver
from ..app import configuration
from . import placement as placement_wiring
from .opening import state_copy

_HINT = '; did you mean '


class NamedProviders(providers.Providers):
    """The providers of one placement, found by the names of nodes, too."""

    def __init__(
        self, service: placement.Placement, conf: cfg.ConfigOpts
    ) -> None:
        super().__init__(service)
        self._conf = conf
        self._doubts: list[str] = []

    def find(self, name_or_uuid: str) -> codec.ListedProvider:
        """Return the provider with this uuid or name, or that of such a node.

        :raises placement_errors.DoesNotExist: there is no such provider
        :raises placement_errors.Ambiguous: several providers or nodes have
            this name
        """
        found = self.find_all([name_or_uuid])[name_or_uuid]
        if isinstance(found, errors.AgentError):
            raise found
        return found

    def find_all(self, words: Collection[str]) -> dict[str, providers.Found]:
        """Return the provider of each name or uuid, or why it has none."""
        return self._settled(self.find_in_placement(words))

    def title(self, uuid: str) -> str:
        """Return the title of a recorded node, '' if none has this uuid."""
        return next((n.title for n in self._recorded if n.uuid == uuid), '')

    def _settled(
        self, found: Mapping[str, providers.Found]
    ) -> dict[str, providers.Found]:
        """Return the outcomes, with the providers of nodes of these names."""
        nodes = {word: self._nodes(word, one) for word, one in found.items()}
        uuids = {node.uuid for called in nodes.values() for node in called}
        known = self.find_in_placement(sorted(uuids)) if uuids else {}
        return {
            word: self._chosen(word, one, nodes[word], known)
            for word, one in found.items()
        }

    def _nodes(
        self, word: str, found: providers.Found
    ) -> list[node_module.Node]:
        """Return the nodes that people call so."""
        if names.is_uuid(word) or _is_settled(found):
            return []
        called = [node for node in self._recorded if node.title == word]
        if not called and isinstance(found, errors.AgentError):
            called = [node for node in self._listed if node.title == word]
        return called

    def _chosen(
        self,
        word: str,
        found: providers.Found,
        nodes: Collection[node_module.Node],
        known: Mapping[str, providers.Found],
    ) -> providers.Found:
        """Return the one provider that a word means, or an error."""
        rows = [found, *(known[node.uuid] for node in nodes)]
        existing = {
            row.uuid: row
            for row in rows
            if isinstance(row, codec.ListedProvider)
        }
        if len(existing) == 1:
            return next(iter(existing.values()))
        if existing:
            return placement_errors.Ambiguous(
                f'{word} is the name of several providers and nodes: give the '
                f'uuid of one, {" or ".join(sorted(existing))}'
            )
        if nodes:
            return placement_errors.DoesNotExist(
                f'node {next(iter(nodes))} has no provider in placement yet'
            )
        if _is_settled(found) or isinstance(found, codec.ListedProvider):
            return found
        said = [str(found), *self._doubts]
        hint = '' if _HINT in said[0] else self.hint(word)
        return placement_errors.DoesNotExist('; '.join(said) + hint)

    def hint(self, word: str) -> str:
        """Return "; did you mean …?", or empty if no name is similar.

        Only a person's mistake costs this request for all providers.
        """
        if names.is_uuid(word):
            return ''
        near = error_text.similar_hosts(word, self._names)
        return f'{_HINT}{near[0]}?' if near else ''

    @functools.cached_property
    def _names(self) -> list[str]:
        """The names of all providers; none if they cannot be read."""
        try:
            found = self.list_providers()
        except errors.AgentError:
            return []
        return [row.name for row in found if not names.is_uuid(row.name)]

    @functools.cached_property
    def _recorded(self) -> list[node_module.Node]:
        """The nodes in the state of this host; none if it cannot be read."""
        try:
            with state_copy(self._conf) as state:
                return state.nodes.all()
        except errors.AgentError:
            return []

    @functools.cached_property
    def _listed(self) -> list[node_module.Node]:
        """The nodes of the drivers whose nodes have names of their own."""
        found: list[node_module.Node] = []
        try:
            drivers = configuration.load_drivers(self._conf)
        except errors.AgentError:
            return found  # this host has no such driver
        for one in drivers:
            with contextlib.closing(one):
                if type(one.driver).get_titles is ComputeDriver.get_titles:
                    continue
                try:
                    found += _nodes_of(one)
                except errors.AgentError as exc:
                    self._doubts.append(
                        f'{one.title} could not be asked for a node of that '
                        f'name: {exc}'
                    )
        return found


def providers_of(conf: cfg.ConfigOpts) -> NamedProviders:
    """Return the API for providers; it sends no request yet."""
    return NamedProviders(placement_wiring.placement_service(conf), conf)


def _is_settled(found: providers.Found) -> bool:
    """Return True for an error that no node of that name could mend."""
    return isinstance(found, errors.AgentError) and (
        isinstance(found, placement_errors.Ambiguous)
        or not isinstance(found, placement_errors.DoesNotExist)
    )


def _nodes_of(one: NamedDriver) -> list[node_module.Node]:
    """Return a driver's nodes that have names of their own."""
    one.driver.get_available_nodes()
    titles = one.titles()
    return [
        node_module.Node(uuid=uuid, name=name, title=titles[name])
        for uuid, name in one.nodenames_by_uuid().items()
        if name in titles
    ]
