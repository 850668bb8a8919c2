# SPDX-License-Identifier: Apache-2.0
"""A mistake in a rule file, and its line and column in the YAML document.

Pure: no I/O, configuration, logging or clock. ``parse.py`` finds several mistakes at
once, and asks for the place of one in an expression, which is a part of a YAML
value. ``rule_files.py`` raises them together.
"""

import dataclasses
from collections.abc import Iterable

import yaml

from compute_agent import errors, yaml_file


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mistake:
    """One mistake; its text is one line."""

    path: str
    line: int
    column: int
    problem: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}:{self.column}: {self.problem}'


class WrongRules(errors.SeveralMistakes):
    """Rule files have mistakes; each is a line."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__(map(str, self.mistakes))


Step = yaml_file.Step


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Positions:
    """The positions in one document.

    :ivar text: the text that the document was read from
    """

    document: yaml_file.Document
    text: str

    def mistake(
        self, problem: str, *path: Step, offset: int = 0, key: bool = False
    ) -> Mistake:
        """Return a mistake at a value, or at a position inside a text value.

        :param offset: the number of characters of the text before the place
        :param key: the mistake is at the key of the value
        """
        line, column = self.place(*path, offset=offset, key=key)
        return Mistake(
            path=self.document.path, line=line, column=column, problem=problem
        )

    def place(
        self, *path: Step, offset: int = 0, key: bool = False
    ) -> tuple[int, int]:
        """Return line and column, both from 1."""
        node = _node(self.document.root, path, key=key)
        line, column = node.start_mark.line + 1, node.start_mark.column + 1
        if key or not isinstance(node, yaml.ScalarNode):
            return line, column
        before = node.value[:offset]
        if node.style == '|':
            return self._in_block(line, before)
        one_line = node.end_mark.line == node.start_mark.line
        if node.style == '>' or not one_line:
            return line, column
        if node.style == "'":
            before = before.replace("'", "''")
        return line, column + len(before) + (node.style in {"'", '"'})

    def _in_block(self, line: int, before: str) -> tuple[int, int]:
        """Return a place in a block after ``|``, whose lines stay as written."""
        written = self.text.splitlines()[line:]
        first = written[0] if written else ''
        indent = len(first) - len(first.lstrip(' '))
        lines = before.split('\n')
        return line + len(lines), indent + len(lines[-1]) + 1


def _node(root: yaml.Node, path: tuple[Step, ...], *, key: bool) -> yaml.Node:
    """Return the node at a path, or the nearest one around it."""
    found = root
    for number, step in enumerate(path):
        entry = _entry(found, step)
        if entry is None:
            break
        found = entry[0] if key and number == len(path) - 1 else entry[1]
    return found


def _entry(node: yaml.Node, step: Step) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        pairs = [(k, v) for k, v in node.value if k.value == step]
        return pairs[-1] if pairs else None
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        items = node.value[step : step + 1]
        return (items[0], items[0]) if items else None
    return None
