# SPDX-License-Identifier: Apache-2.0
"""The driver of programs: ``exec:PATH`` runs a program for each question.

The program may be written in any language. It answers ``describe`` with the
wanted tree of a node, and may answer ``info``, ``list`` and ``exists``; without
``list`` it describes the host that the agent runs on. ``docs/exec-driver.md``
is its manual. An answer is used as a whole or not at all.
"""

import functools
import os
import pathlib
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from oslo_config import cfg

from compute_agent import errors, yaml_file
from compute_agent.tree import provider_tree
from compute_agent.virt import driver
from compute_agent.virt.values import finding

from .. import one_host
from ..tree_file import describe, tree_file
from . import answers, program
from . import conf as options

Answer = TypeVar('Answer')

# A program that ignores the name of the call fails at the first call.
_WITHOUT = (
    ' (a program that does not have the call info ends with status '
    f'{program.UNSUPPORTED} and prints nothing)'
)


class ExecDriver(driver.ComputeDriver):
    """Describes the nodes of one program.

    :cvar target: the path of the program
    :param host: the name of the node of a program that lists none
    :raises errors.DriverError: on construction, if ``info`` fails
    """

    target = ''

    def __init__(self, run: program.Program, host: str) -> None:
        self._program = run
        self._host = host
        self._nodes: Mapping[str, answers.Node] = {}
        self._answered = set[str]()  # the calls that the program has
        self._info = self._read_info()

    @classmethod
    def for_target(cls, target: str) -> type[typing.Self]:
        """Return the class that runs the program with this path.

        :raises errors.ConfigError: the target is no absolute path
        """
        if not pathlib.PurePath(target).is_absolute():
            raise errors.ConfigError(
                'write exec: and the absolute path of a program, such as '
                'exec:/usr/local/libexec/gpus'
            )
        found = _class_for(cls, os.path.normpath(target))
        return typing.cast(type[typing.Self], found)

    @classmethod
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register the group ``[exec]``."""
        options.register_opts(conf)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver of the program.

        :raises errors.ConfigError: the program is missing or not trusted, an
            option is wrong, or ``info`` fails
        """
        section = conf[options.GROUP]
        run = program.Program(
            cls.target,
            timeout=section.timeout,
            account=program.account(section.user),
            environment=section.environment,
        )
        run.check()
        try:
            return cls(run, conf.host or one_host.canonical())
        except errors.DriverError as exc:
            raise errors.ConfigError(str(exc)) from exc

    @property
    def authority(self) -> Sequence[str]:
        """The names and prefixes in the answer to ``info``."""
        return self._info.authority

    @property
    def node_filter(self) -> Mapping[str, str] | None:
        """The mapping in the answer to ``info``, if it has one."""
        return self._info.node_filter

    def reload(self) -> None:
        """Ask ``info`` again.

        :raises errors.ConfigError: the program fails
        """
        try:
            self._info = self._read_info()
        except errors.DriverError as exc:
            raise errors.ConfigError(str(exc)) from exc

    def close(self) -> None:
        """End the calls that are running."""
        self._program.close()

    def get_available_nodes(self) -> Sequence[str]:
        """Return the nodes in the answer to ``list``, or this host."""
        try:
            self._nodes = self._asked('list', answers.read_list)
        except program.Unsupported:
            self._nodes = {self._host: answers.Node(name=self._host)}
        return list(self._nodes)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return uuid → name of the nodes that were listed with a uuid."""
        nodes = self._nodes.values()
        return {node.uuid: node.name for node in nodes if node.uuid}

    def get_titles(self) -> Mapping[str, str]:
        """Return name → title of the nodes that were listed with a title."""
        nodes = self._nodes.values()
        return {node.name: node.title for node in nodes if node.title}

    def facts(self, nodename: str) -> object:
        """Return the facts with which the node was listed, if any."""
        node = self._nodes.get(nodename)
        return None if node is None else node.facts

    def node_exists(self, nodename: str) -> driver.Existence:
        """Ask ``exists``; without it, only a node of the list exists."""
        try:
            found = self._asked(
                'exists',
                answers.read_existence,
                node={'name': nodename, 'uuid': self._uuid(nodename)},
            )
        except program.Unsupported:
            return super().node_exists(nodename)
        return driver.Existence(found)

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the tree match the answer to ``describe``.

        :raises errors.ReshapeNeeded: the program asks for the allocations
        """
        uuid = provider_tree.data(nodename).uuid
        tree = answers.providers(provider_tree)
        found = self._describe(nodename, uuid, tree, allocations)
        if found.file is None:
            if allocations is not None:
                raise errors.DriverError(
                    f'{self.target} describe: it asks for allocations that '
                    'it was given; print the description'
                )
            raise errors.ReshapeNeeded(f'{self.target} moves inventory')
        self._check_root(found.file, nodename, uuid)
        describe.describe(provider_tree, found.file, nodename)
        for line in found.notes:
            provider_tree.note(line)
        for line in found.faults:
            provider_tree.fault(line)
        if found.allocations is not None:
            self._move(allocations, found.allocations)

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return the line of the answer behind each trait of the node."""
        uuid = self._uuid(nodename)
        found = self._describe(nodename, uuid, [], None)
        if found.file is None:
            raise errors.DriverError(
                f'{self.target} describe: it needs the allocations of '
                f'{nodename} first; the next cycle gives them'
            )
        return found.file.evidence(nodename)

    # --- the calls ------------------------------------------------------------

    def _read_info(self) -> answers.Info:
        try:
            return self._asked('info', answers.read_info)
        except program.Unsupported:
            return answers.Info()

    def _uuid(self, nodename: str) -> str | None:
        node = self._nodes.get(nodename)
        return None if node is None else node.uuid

    def _describe(
        self,
        nodename: str,
        uuid: str | None,
        tree: Sequence[Mapping[str, Any]],
        allocations: Mapping[str, Any] | None,
    ) -> answers.Description:
        try:
            return self._asked(
                'describe',
                lambda text, place: answers.read_description(
                    text, place, nodename
                ),
                node={'name': nodename, 'uuid': uuid},
                tree=tree,
                allocations=allocations,
            )
        except program.Unsupported as exc:
            raise errors.DriverError(
                f'{self.target} describe: it ended with status '
                f'{program.UNSUPPORTED}, but each program has this call'
            ) from exc

    def _asked(
        self, call: str, read: Callable[[str, str], Answer], **parts: object
    ) -> Answer:
        """Return the answer to a question.

        :raises program.Unsupported: the program does not have the call
        :raises errors.DriverError: the program gives no answer, or a wrong one
        """
        try:
            text = self._program.run(call, answers.question(call, **parts))
            found = read(text, f'{self.target} {call}')
        except program.Unsupported as exc:
            if call not in self._answered:
                raise
            raise errors.DriverError(
                f'{self.target} {call}: it ended with status '
                f'{program.UNSUPPORTED}, as a program that does not have this '
                'call, but it answered before; give a failure another status'
            ) from exc
        except (errors.DriverError, yaml_file.FileError) as exc:
            hint = _WITHOUT if call == 'info' else ''
            raise errors.DriverError(f'{exc}{hint}') from exc
        self._answered.add(call)
        return found

    def _check_root(
        self, file: tree_file.TreeFile, nodename: str, uuid: str
    ) -> None:
        given = file.nodes[nodename].uuid
        if given not in {None, uuid}:
            raise errors.DriverError(
                f'{self.target} describe: it gives {nodename} the uuid '
                f'{given}, but the question has {uuid}; print that one, or '
                'list the node with its uuid'
            )

    def _move(
        self,
        given: Mapping[str, Any] | None,
        wanted: Mapping[str, Any],
    ) -> None:
        """Change the agent's allocations into those of the answer."""
        if given is None or given.keys() != wanted.keys():
            raise errors.DriverError(
                f'{self.target} describe: its allocations are not of the '
                'consumers of the question; print each of them, and no other'
            )
        for consumer, one in wanted.items():
            found = one.get('allocations') if isinstance(one, dict) else None
            if not isinstance(found, dict):
                raise errors.DriverError(
                    f'{self.target} describe: consumer {consumer} has no '
                    'allocations; print them as the question has them'
                )
            given[consumer]['allocations'] = found


@functools.cache
def _class_for(base: type[ExecDriver], path: str) -> type[ExecDriver]:
    """Return the class of a program; it is one class, however often asked.

    Its name identifies the program in the state of the agent.
    """
    namespace = {'__module__': base.__module__, 'target': path}
    return type(f'{base.__name__}:{path}', (base,), namespace)
