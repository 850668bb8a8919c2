# SPDX-License-Identifier: Apache-2.0
"""Edits a provider tree until it matches a document of nodes.

Pure: it works on the given tree only. First it finds the described providers
in the tree, and refuses to move or rename any. Then it removes the providers
that the file lacks, creates those that the tree lacks, and fills them.
"""

from compute_agent import errors
from compute_agent.tree import inventory, names, provider_tree

from . import tree_file


def describe(
    tree: provider_tree.ProviderTree, file: tree_file.TreeFile, nodename: str
) -> None:
    """Make the tree match the file for this node.

    :param nodename: a node of the file
    :raises errors.DriverError: the tree lacks the node's root, or a provider
        would have to be moved or renamed
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
        edit.share(edit.write(sharer, None))


class _Edit:
    """One node's edit: the tree, the file, and the uuids found so far."""

    def __init__(
        self, tree: provider_tree.ProviderTree, file: tree_file.TreeFile
    ) -> None:
        self._tree = tree
        self._file = file
        self._found: dict[str, str] = {}

    def find_root(self, node: tree_file.Described) -> None:
        """Find the root, which the agent has created, and its children."""
        self.find(node, None)
        if node.name in self._found:
            return
        problem = f'the tree has no root {node.name} ({node.root_uuid})'
        if self._tree.exists(node.name):
            other = self._tree.data(node.name).uuid
            problem = (
                f'the tree has {node.name} under uuid {other}; write that uuid'
            )
        raise self._error(node, problem)

    def find(
        self,
        described: tree_file.Described,
        parent: tree_file.Described | None,
    ) -> None:
        """Record the uuids of this provider and those below it that exist."""
        current = self._existing(described)
        if current is not None:
            self._check_place(described, current, parent)
            self._found[described.name] = current.uuid
        for child in described.children:
            self.find(child, described)

    def remove_undescribed(self, node: tree_file.Described) -> None:
        """Remove children that the file lacks, unless it lets them stay."""
        root = self._found[node.name]
        below: dict[str | None, list[str]] = {}
        for uuid in self._tree.get_provider_uuids(root):
            below.setdefault(self._tree.data(uuid).parent_uuid, []).append(
                uuid
            )
        described = set(self._found.values())
        for parent in node.walk():
            if parent.keeps_children:
                continue
            for uuid in below.get(self._found.get(parent.name, ''), ()):
                is_foreign = parent.leaves_foreign and (
                    not self._tree.is_created_here(uuid)
                    or self._tree.is_of_others(uuid)
                )
                if uuid not in described and not is_foreign:
                    self._tree.remove(uuid)

    def write(self, described: tree_file.Described, above: str | None) -> str:
        """Create and fill the provider and those below it; return its uuid."""
        uuid = self._found.get(described.name)
        if uuid is None:
            uuid = self._create(described, above)
        self._fill(uuid, described)
        if described.drained is not None:
            self._tree.drained(uuid, described.drained)
        if described.unhealthy is not None:
            self._tree.unhealthy(uuid, described.unhealthy)
        for child in described.children:
            self.write(child, uuid)
        return uuid

    def share(self, uuid: str) -> None:
        """Make the provider share, even if the file omits the trait."""
        self._tree.add_traits(uuid, names.MISC_SHARES_VIA_AGGREGATE)

    def _existing(
        self, described: tree_file.Described
    ) -> provider_tree.ProviderData | None:
        key = described.uuid or described.name
        if not self._tree.exists(key):
            return None
        current = self._tree.data(key)
        if current.name != described.name:
            raise self._error(
                described,
                f'provider {current.uuid} is named {current.name} in the tree; '
                'this driver renames no provider: write that name or another '
                'uuid',
            )
        return current

    def _check_place(
        self,
        described: tree_file.Described,
        current: provider_tree.ProviderData,
        parent: tree_file.Described | None,
    ) -> None:
        wanted = self._found.get(parent.name, '') if parent else None
        if current.parent_uuid == wanted:
            return
        now = 'a root'
        if current.parent_uuid is not None:
            now = f'below {self._tree.data(current.parent_uuid).name}'
        here = f'below {parent.name}' if parent else 'a root'
        raise self._error(
            described,
            f'provider {current.name} ({current.uuid}) is {now} in the tree and '
            f'{here} here; this driver moves no provider: write it '
            'there or give it another uuid',
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
            found, _, _ = str(exc).partition(': ')
            problem = f'{found} and stays; write another name or uuid'
            raise self._error(described, problem) from exc

    def _fill(self, uuid: str, described: tree_file.Described) -> None:
        tree = self._tree
        match described.inventories:
            case tree_file.NoNames.KEEP:
                tree.keep_inventory(uuid)
            case tree_file.NoNames.OMITTED:
                pass
            case records:
                tree.update_inventory(uuid, inventory.as_given(records))
        match described.traits:
            case tree_file.NoNames.KEEP:
                tree.keep_traits(uuid)
            case tree_file.NoNames.OMITTED:
                pass
            case traits if described.exclusive:
                tree.update_traits(uuid, list(traits))
            case traits:
                tree.declare_traits(uuid, *traits)
        match described.aggregates:
            case tree_file.NoNames.KEEP:
                tree.keep_aggregates(uuid)
            case tree_file.NoNames.OMITTED:
                pass
            case aggregates if described.exclusive:
                tree.update_aggregates(uuid, aggregates)
            case aggregates:
                tree.declare_aggregates(uuid, *aggregates)

    def _error(
        self, described: tree_file.Described, problem: str
    ) -> errors.DriverError:
        return errors.DriverError(
            f'{self._file.at(described.line)}: {problem}'
        )
