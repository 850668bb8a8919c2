# SPDX-License-Identifier: Apache-2.0
"""Edits a provider tree until it is what the fake driver's file says.

Pure: it works on the tree it is given and nothing else. First it finds what
the file describes among what is there and refuses what cannot be done; only
then it removes, creates and fills, so a refused tree is an untouched one.
"""

from compute_agent import errors, names, provider_tree

from . import tree_file


def describe(
    tree: provider_tree.ProviderTree, file: tree_file.TreeFile, nodename: str
) -> None:
    """Make the node's own tree match the file; with the first node, sharers.

    :raises DriverError: the file describes no such node, or something that
        would move or rename a provider
    """
    edit = _Edit(tree, file)
    node = file.nodes[nodename]
    edit.find_root(node)
    sharers = file.shared_with(nodename)
    for sharer in sharers:
        edit.find(sharer, None)
    edit.remove_undescribed(node)
    edit.write(node, None)
    for sharer in sharers:
        edit.write(sharer, None)
        edit.share(sharer)


class _Edit:
    """One node's edit: the tree, the file, and the uuids found by name."""

    def __init__(
        self, tree: provider_tree.ProviderTree, file: tree_file.TreeFile
    ) -> None:
        self._tree = tree
        self._file = file
        self._found: dict[str, str] = {}
