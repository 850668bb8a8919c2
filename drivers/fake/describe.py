# SPDX-License-Identifier: Apache-2.0
"""Edits a provider tree until it is what the fake driver's file says.

Pure: it works on the tree it is given and nothing else. First it finds what
the file describes among what is there, and refuses to move or rename; then it
removes what the file lacks, creates what the tree lacks, and fills both.
"""

from compute_agent import errors
from compute_agent.tree import names, provider_tree

from . import tree_file


def describe(
    tree: provider_tree.ProviderTree, file: tree_file.TreeFile, nodename: str
) -> None:
    """Make the tree match the file for this node, one that the file has.

    :raises DriverError: the tree has no such root, or something in it would
        have to be moved or renamed
    """
    edit = _Edit(tree, file)
    node = file.nodes[nodename]
    sharers = file.shared_with(nodename)
    edit.find_root(node)
    for sharer in sharers:
        edit.find(sharer, None)
    edit.remove_undescribed(node)
    edit.write(node, None)
    for sharer in sharers:
        edit.share(edit.write(sharer, None), sharer)


class _Edit:
    """One node's edit: the tree, the file, and the uuids found so far."""

    def __init__(
        self, tree: provider_tree.ProviderTree, file: tree_file.TreeFile
    ) -> None:
        self._tree = tree
        self._file = file
        self._found: dict[str, str] = {}

    def find_root(self, node: tree_file.Described) -> None:
        """Find the root, which the agent put there, and its children."""
        self.find(node, None)
        if node.name in self._found:
            return
        problem = f'the tree has no root {node.name} ({node.root_uuid})'
        if self._tree.exists(node.name):
            other = self._tree.data(node.name).uuid
            problem = f'the tree has {node.name} under uuid {other}; write it'
        raise self._error(node, problem)

    def find(
        self,
        described: tree_file.Described,
        parent: tree_file.Described | None,
    ) -> None:
        """Note the uuids of this provider and those below that are there."""
        there = self._existing(described)
        if there is not None:
            self._check_place(described, there, parent)
            self._found[described.name] = there.uuid
        for child in described.children:
            self.find(child, described)

    def remove_undescribed(self, node: tree_file.Described) -> None:
        """Remove children that the file lacks, unless it spares them."""
        root = self._found[node.name]
        below: dict[str | None, list[str]] = {}
        for uuid in self._tree.get_provider_uuids(root):
            below.setdefault(self._tree.data(uuid).parent_uuid, []).append(
                uuid
            )
        described = set(self._found.values())
        for parent in node.walk():
            if not parent.leaves_foreign:
                for uuid in below.get(self._found.get(parent.name, ''), ()):
                    if uuid not in described:
                        self._tree.remove(uuid)

    def write(self, described: tree_file.Described, above: str | None) -> str:
        """Create what is missing and fill it, top down; return its uuid."""
        uuid = self._found.get(described.name)
        if uuid is None:
            uuid = self._create(described, above)
        self._fill(uuid, described)
        for child in described.children:
            self.write(child, uuid)
        return uuid

    def share(self, uuid: str, described: tree_file.Described) -> None:
        """Make the provider a sharing one, whatever else is said of traits."""
        if described.traits is tree_file.Unsaid.ABSENT:
            # To say one trait is a visit: without this the others would go.
            self._tree.keep_traits(uuid)
        self._tree.add_traits(uuid, names.MISC_SHARES_VIA_AGGREGATE)

    def _existing(
        self, described: tree_file.Described
    ) -> provider_tree.ProviderData | None:
        key = described.uuid or described.name
        if not self._tree.exists(key):
            return None
        there = self._tree.data(key)
        if there.name != described.name:
            raise self._error(
                described,
                f'provider {there.uuid} is named {there.name} in the tree; '
                'it is not renamed: write that name, or another uuid',
            )
        return there

    def _check_place(
        self,
        described: tree_file.Described,
        there: provider_tree.ProviderData,
        parent: tree_file.Described | None,
    ) -> None:
        wanted = self._found.get(parent.name, '') if parent else None
        if there.parent_uuid == wanted:
            return
        now = 'a root'
        if there.parent_uuid is not None:
            now = f'below {self._tree.data(there.parent_uuid).name}'
        here = f'below {parent.name}' if parent else 'a root'
        raise self._error(
            described,
            f'provider {there.name} ({there.uuid}) is {now} in the tree and '
            f'{here} in this file; it is not moved: write it there, or give '
            'it another uuid',
        )

    def _create(
        self, described: tree_file.Described, above: str | None
    ) -> str:
        try:
            if above is None:
                return self._tree.new_root(described.name, described.root_uuid)
            return self._tree.new_child(
                described.name, above, uuid=described.uuid
            )
        except errors.TreeError as exc:
            problem = f'{exc} and stays; write another name or uuid'
            raise self._error(described, problem) from exc

    def _fill(self, uuid: str, described: tree_file.Described) -> None:
        self._fill_inventory(uuid, described)
        self._fill_traits(uuid, described)
        self._fill_aggregates(uuid, described)

    def _fill_inventory(
        self, uuid: str, described: tree_file.Described
    ) -> None:
        match described.inventories:
            case tree_file.Unsaid.ABSENT:
                return
            case tree_file.Unsaid.KEEP:
                self._tree.keep_inventory(uuid)
            case records:
                self._tree.update_inventory(uuid, records)

    def _fill_traits(self, uuid: str, described: tree_file.Described) -> None:
        match described.traits:
            case tree_file.Unsaid.ABSENT:
                return
            case tree_file.Unsaid.KEEP:
                self._tree.keep_traits(uuid)
            case traits if described.exclusive:
                self._tree.update_traits(uuid, traits)
            case traits:
                self._tree.add_traits(uuid, *traits)

    def _fill_aggregates(
        self, uuid: str, described: tree_file.Described
    ) -> None:
        match described.aggregates:
            case tree_file.Unsaid.ABSENT:
                return
            case tree_file.Unsaid.KEEP:
                self._tree.keep_aggregates(uuid)
            case aggregates if described.exclusive:
                self._tree.update_aggregates(uuid, aggregates)
            case aggregates:
                self._tree.add_aggregates(uuid, *aggregates)

    def _error(
        self, described: tree_file.Described, problem: str
    ) -> errors.DriverError:
        return errors.DriverError(
            f'{self._file.at(described.line)}: {problem}'
        )
