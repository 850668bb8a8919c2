# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient: the agent for programs that edit a tree themselves.

Its two methods are what seed 004 has around a driver: the tree as placement has
it, and ``update_from_provider_tree`` for the edited one. Each update is a cycle
of the agent of one node: it observes, resolves the ownership, plans and
applies, and does so again after a conflict. The tree remembers its edits, so
that the cycle can repeat them on the tree as placement has it by then; in place
of a driver, ``EditedTrees`` does that.
"""

import contextlib
import copy
import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence

from oslo_config import cfg

from . import errors
from .cmd.app import configuration, main
from .cmd.wiring import agent_settings, opening
from .cycle.node.node_result import NodeResult
from .state.database import lock
from .tree import assertion, names, provider_tree
from .virt import driver as virt
from .virt import drivers

_Edit: typing.TypeAlias = Callable[..., typing.Any]

# The edits of a whole collection: names that the editor has not seen would go.
_WHOLE = {
    'update_inventory': assertion.Kind.INVENTORY,
    'update_traits': assertion.Kind.TRAIT,
    'update_aggregates': assertion.Kind.AGGREGATE,
}
_EDITS = (
    *('new_root', 'new_child', 'remove', 'populate_from_iterable'),
    *_WHOLE,
    *('declare_inventory', 'declare_traits', 'declare_aggregates'),
    *('keep_inventory', 'keep_traits', 'keep_aggregates'),
    *('add_traits', 'remove_traits', 'add_aggregates', 'remove_aggregates'),
    *('update_resources', 'note', 'fault'),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """An edit that was done; a new provider has a uuid."""

    name: str
    args: tuple[typing.Any, ...]
    result: typing.Any


class EditedTree(provider_tree.ProviderTree):
    """A ProviderTree of one node that remembers its edits.

    :ivar node_uuid: the node's root provider
    :ivar edits: in their order
    """

    def __init__(self) -> None:
        super().__init__()
        self.node_uuid = ''
        self.edits: list[_Done] = []

    def repeat_on(self, tree: provider_tree.ProviderTree) -> None:
        """Do all edits again, on the tree as placement has it now.

        :raises errors.AgentError: another writer's change stands in the way
        """
        for done in self.edits:
            if done.name in {'new_root', 'new_child'}:
                if tree.exists(done.result):
                    continue
            elif done.name == 'remove' and not tree.exists(done.args[0]):
                continue
            elif done.name in _WHOLE:
                self._check_seen(tree, done)
            getattr(tree, done.name)(*copy.deepcopy(done.args))

    def _check_seen(
        self, tree: provider_tree.ProviderTree, done: _Done
    ) -> None:
        """Refuse to replace names that were not there when the tree was read.

        :raises errors.DriverError: another writer added some since
        """
        kind = _WHOLE[done.name]
        uuid = tree.data(done.args[0]).uuid
        now, then = tree.baseline.get(uuid), self.baseline.get(uuid)
        if now is None:
            return
        known = then.names_of(kind) if then else frozenset()
        wanted = frozenset(done.args[1])
        unseen = now.names_of(kind) - known - wanted - names.AGENT_TRAITS
        if unseen:
            raise errors.DriverError(
                f'{now} has {", ".join(sorted(unseen))} since its tree was '
                f'read, and {done.name} would remove that unseen: get the '
                'tree again, and edit that one'
            )


def _remembering(name: str) -> _Edit:
    """Return an edit of a ProviderTree that the tree remembers."""
    edit: _Edit = getattr(provider_tree.ProviderTree, name)
    signature = inspect.signature(edit)

    @functools.wraps(edit)
    def edited(
        tree: EditedTree, *args: typing.Any, **named: typing.Any
    ) -> typing.Any:
        bound = signature.bind(tree, *args, **named)
        kept = tuple(
            tuple(one) if isinstance(one, Iterator) else copy.deepcopy(one)
            for one in bound.args[1:]
        )
        result = edit(tree, *kept)
        tree.edits.append(_Done(name=name, args=kept, result=result))
        return result

    return edited


for _name in _EDITS:
    setattr(EditedTree, _name, _remembering(_name))


class EditedTrees(virt.ComputeDriver):
    """Stands in for the driver: it repeats the edits of the given trees."""

    def __init__(self) -> None:
        self.trees: dict[str, EditedTree] = {}
        self.nodes: dict[str, str] = {}

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:  # noqa: ARG003
        """Return a driver without trees."""
        return cls()

    def get_available_nodes(self) -> Sequence[str]:
        """Return the names of the nodes whose trees were asked for."""
        return list(self.nodes.values())

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return their uuids and names."""
        return self.nodes

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,  # noqa: ARG002
    ) -> None:
        """Repeat the edits of the node's tree on this tree."""
        (uuid,) = (u for u, name in self.nodes.items() if name == nodename)
        if uuid in self.trees:
            self.trees[uuid].repeat_on(provider_tree)


class SchedulerReportClient:
    """Makes placement match a tree that a program has edited.

    It is an agent without a driver, a context manager, and for one thread. The
    configuration files give the account for placement and the state directory,
    which no other agent uses at the same time. The record there says what this
    program added, so it removes nothing else.
    """

    def __init__(self, config_files: Sequence[str]) -> None:
        """Read the configuration; send nothing yet.

        :raises errors.ConfigError: an option is wrong
        """
        self._conf = configuration.load(
            main.GlobalOptions(
                config_files=list(config_files), config_dirs=[], debug=False
            )
        )
        self._edits = EditedTrees()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> typing.Self:
        """Open the state database.

        :raises errors.StateInUse: another agent uses the state directory
        :raises errors.ConfigError: the database cannot be used
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock.hold(agent_settings.state_path(self._conf))
            )
            self._agent = stack.enter_context(
                opening.open_agent(
                    self._conf,
                    read_only=False,
                    by='a program',
                    instead=drivers.Drivers.only(self._edits),
                )
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    def get_provider_tree(self, uuid: str, name: str) -> EditedTree:
        """Return a node's providers as placement has them, to be edited.

        If placement lacks the root, the tree has it nevertheless.

        :param uuid: of the node's root provider
        :param name: of the node's root provider
        :raises errors.AgentError: placement could not be read
        """
        self._edits.nodes[names.check_uuid(uuid, 'provider')] = name
        seen = self._agent.client.observe([uuid])[uuid]
        if isinstance(seen, errors.AgentError):
            raise seen
        read = seen.tree()
        tree = EditedTree.from_snapshot(read.baseline, read.detached)
        if not tree.exists(uuid):
            tree.new_root(name, uuid)
        tree.node_uuid = uuid
        return tree

    def update_from_provider_tree(
        self, new_tree: EditedTree, *, confirmed: bool = False
    ) -> NodeResult:
        """Make placement match an edited tree, as the agent does for a driver.

        Names and providers that others added stay. After a conflict the edits
        are repeated on the tree as placement has it then.

        :param confirmed: True to allow what otherwise waits for a person: large
            removals, and the first write to another writer's provider
        :return: the result of the node's cycle, with its status and, unless
            that is DONE, the reason
        :raises errors.AgentError: placement could not be read at all
        """
        self._edits.trees[new_tree.node_uuid] = new_tree
        self._agent.current.value = agent_settings.from_conf(
            self._conf, unlimited=confirmed
        )
        (result,) = self._agent.tracker.sync(only=[new_tree.node_uuid])
        return result
