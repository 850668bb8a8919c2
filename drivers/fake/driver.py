# SPDX-License-Identifier: Apache-2.0
"""The fake driver: describes the nodes and trees that are in a YAML file.

It is meant for development, documentation and tests, and reads its file but no
host. Every cycle works on one reading of the file. A new reading replaces it
as a whole, so methods may run in parallel. While the file is wrong, the last
good reading stays and no node counts as departed.
"""

import dataclasses
import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from compute_agent import errors, yaml_file
from compute_agent.tree import provider_tree
from compute_agent.virt import driver
from compute_agent.virt.values import changes, finding

from ..tree_file import describe, moving, tree_file
from . import conf as options


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """The file's text and its parsed content."""

    text: str
    file: tree_file.TreeFile


class FakeDriver(driver.ComputeDriver):
    """Describes the nodes in the file at ``path``; each cycle reads it again.

    :raises errors.ConfigError: on construction, if the file is wrong
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._reading = self._parsed(yaml_file.read_text(path, named=True))

    @classmethod
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the group ``[fake]``."""
        options.register_opts(conf)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver of the file that ``[fake] file`` names."""
        path = conf.fake.file
        if not path:
            raise errors.ConfigError(
                '[fake] file is not set; write the path of the YAML file '
                'that describes the nodes'
            )
        return cls(path)

    @property
    def authority(self) -> Sequence[str]:
        """The trait names and prefixes under ``authority`` in the file."""
        return self._reading.file.authority

    @property
    def node_filter(self) -> Mapping[str, str] | None:
        """The mapping under ``node_filter`` in the file, or None."""
        return self._reading.file.node_filter

    def get_available_nodes(self) -> Sequence[str]:
        """Read the file again, because a cycle begins; return its nodes."""
        try:
            self._reading = self._read()
        except errors.ConfigError as exc:
            raise errors.DriverError(str(exc)) from exc
        return list(self._reading.file.nodes)

    def changes(self, since: typing.Any) -> changes.Changes | None:
        """Tell that any node may have changed if the file has another text.

        :param since: the text of the file
        :raises errors.DriverError: the file is wrong
        """
        try:
            text = self._read().text
        except errors.ConfigError as exc:
            raise errors.DriverError(str(exc)) from exc
        if since is not None and text != since:
            return None
        return changes.Changes(names=(), since=text)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return root uuid → name of every node in the file."""
        nodes = self._reading.file.nodes.values()
        return {node.root_uuid: node.name for node in nodes}

    def node_exists(self, nodename: str) -> driver.Existence:
        """Tell if the file has the node; unknown while the file is wrong."""
        try:
            file = self._read().file
        except errors.ConfigError:
            return driver.Existence.UNKNOWN
        if nodename in file.nodes:
            return driver.Existence.YES
        return driver.Existence.NO

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,
    ) -> None:
        """Edit the tree until it matches the file for this node.

        If a class under ``moves`` leaves a provider, its allocations move with
        it.

        :raises errors.ReshapeNeeded: such a class leaves a provider, and the
            allocations were not given
        """
        file = self._reading.file
        self._check_known(file, nodename)
        describe.describe(provider_tree, file, nodename)
        moves = [
            rc
            for rc in file.nodes[nodename].moves
            if moving.leaves(provider_tree, nodename, rc)
        ]
        if not moves:
            return
        if allocations is None:
            raise errors.ReshapeNeeded(f'{", ".join(moves)} moves')
        moving.move(provider_tree, nodename, moves, allocations)

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return the line of the file behind each trait of the node's tree."""
        file = self._reading.file
        self._check_known(file, nodename)
        return file.evidence(nodename)

    def _read(self) -> _Reading:
        """Return the file's current reading; parse only a changed text."""
        reading = self._reading
        text = yaml_file.read_text(self._path, named=True)
        return reading if text == reading.text else self._parsed(text)

    def _parsed(self, text: str) -> _Reading:
        document = yaml_file.parse(text, self._path, tree_file.SCHEMA)
        return _Reading(text=text, file=tree_file.parse(document))

    def _check_known(self, file: tree_file.TreeFile, nodename: str) -> None:
        if nodename not in file.nodes:
            raise errors.DriverError(
                f'{file.at(1)}: there is no node {nodename!r} in this file; '
                'write it under nodes'
            )
