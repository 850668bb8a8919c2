# SPDX-License-Identifier: Apache-2.0
"""Read an operator's YAML file, check it by a schema, and find its lines.

Every mistake, from a missing file to a misspelt key, is a ``FileError``: one
line that begins with the file and the line number and says what to write
instead. This module knows no particular file. The caller passes the schema,
whose descriptions become that advice, and asks the ``Document`` for lines if
one of its own checks fails. Nothing is logged, kept or merged here.
"""

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import yaml

from . import errors, file_trust, yaml_problems

if TYPE_CHECKING:
    import jsonschema

Step = yaml_problems.Step
Schema = yaml_problems.Schema

# Far above the depth and size of real files, and far below the limits of
# memory and stack (libyaml's composer recurses, so a deep file crashes the
# process).
MAX_DEPTH = 100
MAX_REPEATED = 1_000_000
LARGEST = 16_000_000  # bytes

# A larger whole number fits into no integer of another program, and one of
# more than 4,300 digits is an error wherever Python prints it.
_WHOLE = range(-(1 << 63), 1 << 64)

_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_NULL = 'tag:yaml.org,2002:null'
_STRING = 'tag:yaml.org,2002:str'
_MERGE = 'tag:yaml.org,2002:merge'
_UNPRINTABLE = re.compile(
    '[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]'
)


class FileError(errors.ConfigError):
    """A mistake on one line of a file, and what to write instead.

    Line 0 stands for the whole file.
    """

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(path, line, problem)
        self.path = path
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        at = f':{self.line}' if self.line else ''
        return f'{self.path}{at}: {self.problem}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """A checked file: ``data`` as plain Python values, and their lines.

    A place in the file is a path of keys and indexes. If a place does not
    exist, the line is that of the nearest place around it.
    """

    path: str
    data: Any
    root: yaml.Node = dataclasses.field(repr=False)

    def line(self, *path: Step) -> int:
        """Return the line on which the value at this place begins."""
        return _line(self._find(path)[1])

    def key_line(self, *path: Step) -> int:
        """Return the line of this place's key, or of the item of a list."""
        return _line(self._find(path)[0])

    def error(self, problem: str, *path: Step) -> FileError:
        """Return an error to raise about the value at this place."""
        return FileError(self.path, self.line(*path), problem)

    def key_error(self, problem: str, *path: Step) -> FileError:
        """Return an error to raise about the key of this place."""
        return FileError(self.path, self.key_line(*path), problem)

    def _find(self, path: tuple[Step, ...]) -> tuple[yaml.Node, yaml.Node]:
        key = value = self.root
        for step in path:
            entry = _child(value, step)
            if entry is None:
                break
            key, value = entry
        return key, value


def read(path: str, schema: Schema, *, named: bool = False) -> Document:
    """Return the file's content, checked.

    :param schema: a JSON schema (2020-12); the ``description`` of a part
        completes the sentence "write ..." and should name everything that may
        be written there
    :param named: as for ``file_trust.read``
    :raises FileError: the file cannot be read, is not YAML, or violates the
        schema
    """
    return parse(read_text(path, named=named), path, schema)


def read_text(path: str, *, named: bool = False) -> str:
    """Return the file's text.

    :param named: as for ``file_trust.read``
    :raises FileError: the file cannot be read, is not trusted, or is not UTF-8
    """
    try:
        content = file_trust.read(path, LARGEST, named=named)
    except file_trust.Refused as exc:
        raise FileError(path, 0, exc.strerror) from exc
    except OSError as exc:
        raise FileError(path, 0, yaml_problems.reading_problem(exc)) from exc
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as exc:
        line = content.count(b'\n', 0, exc.start) + 1
        problem = f'byte 0x{content[exc.start]:02x} is not UTF-8'
        raise FileError(path, line, f'{problem}; save it as UTF-8') from exc


def parse(text: str, path: str, schema: Schema) -> Document:
    """Return this text's content, checked; ``path`` is for the messages.

    :raises FileError: the text is not YAML, or violates the schema
    """
    try:
        document = _compose(text, path)
    except yaml.YAMLError as exc:
        raise FileError(path, *yaml_problems.parser_problem(exc)) from exc
    if document.data is None:
        advice = yaml_problems.advice_of(schema)
        raise FileError(path, 1, f'the file is empty{advice}')
    violation = _violation(document, schema)
    if violation is not None:
        raise violation
    return document


# --- reading -----------------------------------------------------------------


def _compose(text: str, path: str) -> Document:
    _refuse_unprintable(text, path)
    _refuse_deep(text, path)
    loader = _LOADER(text)
    try:
        root = loader.get_single_node() or yaml.ScalarNode(_NULL, '')
        _Inspection(path, loader).visit(root)
        data = loader.construct_document(root)
    finally:
        loader.dispose()
    return Document(path=path, data=data, root=root)


def _refuse_unprintable(text: str, path: str) -> None:
    found = _UNPRINTABLE.search(text)
    if found is not None:
        line = text.count('\n', 0, found.start()) + 1
        problem = f'YAML does not allow the character U+{ord(found[0]):04X}'
        raise FileError(path, line, f'{problem}; remove it')


def _refuse_deep(text: str, path: str) -> None:
    """Refuse deep nesting; reading the parser's events does not recurse."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _too_deep(path, _line(event))


def _too_deep(path: str, line: int) -> FileError:
    problem = f'this is nested deeper than {MAX_DEPTH} levels'
    return FileError(path, line, f'{problem}; write it flatter')


class _Inspection:
    """One walk over all nodes, with aliases unfolded, before any is used.

    It refuses mistakes that the loader accepts silently: duplicate keys, keys
    that are not text, and aliases that never end or multiply without limit.
    """

    def __init__(self, path: str, loader: Any) -> None:
        self._path = path
        self._loader = loader
        self._above: set[int] = set()
        self._seen: set[int] = set()
        self._repeated = 0

    def visit(self, node: yaml.Node) -> None:
        """Check this node and all nodes below it.

        :raises FileError: a node has a mistake
        """
        self._count(node)
        if isinstance(node, yaml.ScalarNode):
            self._scalar(node)
            return
        self._above.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._keys(node)
            below = [value for _, value in node.value]
        else:
            below = node.value
        for value in below:
            self.visit(value)
        self._above.remove(id(node))

    def _count(self, node: yaml.Node) -> None:
        if id(node) in self._above:
            problem = 'an alias in this value refers to the value itself'
            raise self._error(node, f'{problem}; write the content out')
        if len(self._above) > MAX_DEPTH:
            raise _too_deep(self._path, _line(node))
        if id(node) in self._seen:
            is_text = isinstance(node, yaml.ScalarNode)
            self._repeated += max(1, len(node.value) if is_text else 0)
        if self._repeated > MAX_REPEATED:
            problem = (
                f'aliases repeat more than {MAX_REPEATED} values or characters '
                'so far'
            )
            raise self._error(node, f'{problem}; use fewer aliases')
        self._seen.add(id(node))

    def _scalar(self, node: yaml.ScalarNode) -> None:
        """Construct the value here, where an error still has its line."""
        try:
            value = self._loader.construct_object(node)
        except (AttributeError, TypeError, ValueError) as exc:
            kind = node.tag.rpartition(':')[2]
            shown = yaml_problems.shown(node.value)
            problem = f'{shown} looks like {kind} and is not valid'
            raise self._error(node, f'{problem}; quote it') from exc
        if isinstance(value, int) and value not in _WHOLE:
            raise self._error(
                node,
                f'the number {yaml_problems.shown(node.value)} is too large; '
                f'write one from {_WHOLE[0]} to {_WHOLE[-1]}',
            )

    def _keys(self, node: yaml.MappingNode) -> None:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            text = isinstance(key, yaml.ScalarNode)
            if not text or key.tag not in (_STRING, _MERGE):
                shown = yaml_problems.shown(key.value)
                raise self._error(
                    key, f'the key {shown} is not text; quote it'
                )
            if key.value in lines:
                shown = yaml_problems.shown(key.value)
                first = f'first on line {lines[key.value]}'
                problem = f'the key {shown} is given twice, {first}'
                raise self._error(key, f'{problem}; keep one of them')
            lines[key.value] = _line(key)

    def _error(self, node: yaml.Node, problem: str) -> FileError:
        return FileError(self._path, _line(node), problem)


def _violation(document: Document, schema: Schema) -> FileError | None:
    """Return the most relevant violation; the first of equal relevance."""

    def rank(error: 'jsonschema.ValidationError') -> tuple[Any, ...]:
        # Among equals, the library puts the last one first.
        path = error.absolute_path
        return (-len(path), -document.line(*path))

    worst, count = yaml_problems.worst_violation(document.data, schema, rank)
    return None if worst is None else _error_of(document, worst, count - 1)


def _error_of(
    document: Document, error: 'jsonschema.ValidationError', others: int
) -> FileError:
    path = tuple(error.absolute_path)
    key, problem = yaml_problems.schema_problem(error)
    more = f' (and {others} more error{"s"[: others - 1]})' if others else ''
    text = yaml_problems.place(path) + problem + more
    if key is not None:
        return document.key_error(text, *path, key)
    return document.error(text, *path)


def _line(place: yaml.Node | yaml.Event) -> int:
    """Return the line on which a node or an event begins."""
    return place.start_mark.line + 1 if place.start_mark is not None else 1


def _child(
    node: yaml.Node, step: yaml_problems.Step
) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key and value nodes of one step; an item is its own key."""
    if isinstance(node, yaml.MappingNode):
        # Merged pairs (<<) come before the mapping's own pairs, which win.
        for key, value in reversed(node.value):
            if key.value == step:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and step in range(
        len(node.value)
    ):
        return node.value[step], node.value[step]
    return None
