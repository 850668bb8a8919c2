# SPDX-License-Identifier: Apache-2.0
"""The names, signatures and fields that a driver's author may use, as text.

``docs/drivers.md`` lists the modules and names. Each line is one name, or one
method, field or attribute of a class, as its source writes it; so the text is
the same with each version of Python. The rules of the contract follow.
``make surface`` records it in
``tests/unit/compute_agent/testing/public_surface.txt``. The first line there
has the version of the contract, and tells if that version was released.
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import textwrap
import types
import typing

from compute_agent import testing
from compute_agent.testing.contract.rules import catalogue

TOP = pathlib.Path(__file__).parents[2]
RECORDED = TOP / 'tests/unit/compute_agent/testing/public_surface.txt'
SECTION = (
    (TOP / 'docs/drivers.md')
    .read_text('utf-8')
    .partition('## What a driver imports')[2]
    .partition('\n## ')[0]
)
TABLE = re.findall(
    r'^\| `(compute_agent\S*)` \| ([^|]*) \|', SECTION, re.MULTILINE
)
STABLE: dict[str, list[str]] = {
    module: re.findall(r'`(\w+)`', listed) for module, listed in TABLE
}
OPEN = 'not released'
RELEASED = 'released'
_RULE = 'rule.'
_FOR_ALL = ' for all drivers '
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Refused(Exception):
    """The surface cannot be recorded; the message says what to do first."""


def surface() -> list[str]:
    """Return the lines of today's surface, sorted by module and name."""
    lines = []
    for module, names in sorted(STABLE.items()):
        found = importlib.import_module(module)
        for name in sorted(names):
            lines += _described(f'{module}.{name}', getattr(found, name))
    return [*lines, *map(_rule, catalogue.RULES)]


def head(state: str = OPEN) -> str:
    """Return the first line of the file."""
    return f'contract {testing.CONTRACT_VERSION}, {state}'


def recorded() -> tuple[str, list[str]]:
    """Return the first line of the file, and the lines of the surface."""
    first, *lines = RECORDED.read_text('utf-8').splitlines()
    return first, lines


def changes(old: list[str], new: list[str]) -> list[str]:
    """Return the lines that differ, - before and + now."""
    gone, come = set(old) - set(new), set(new) - set(old)
    marked = [*((line, '-') for line in gone), *((line, '+') for line in come)]
    return [f'{mark} {line}' for line, mark in sorted(marked)]


def check(first: str, old: list[str], new: list[str], version: str) -> None:
    """Refuse a change of a released surface without the version it needs.

    :param first: the first line of the recorded surface
    :param version: the version of the contract now
    :raises Refused: the change needs a higher version, or a deprecation first
    """
    before, state = first.removeprefix('contract ').split(', ')
    if state == OPEN or old == new:
        return
    names = {_name(line) for line in old if not line.startswith(_RULE)}
    gone = names - {_name(line) for line in new}
    marked = {_name(line) for line in old if 'deprecated(' in line}
    if gone - marked:
        raise Refused(
            f'{", ".join(sorted(gone - marked))}: release a version in which '
            'this is deprecated (compute_agent/deprecation.py) before you '
            'remove it'
        )
    major, minor = map(int, before.split('.'))
    harder = {line for line in set(new) - set(old) if _FOR_ALL in line}
    needed = (major + 1, 0) if gone or harder else (major, minor + 1)
    if tuple(map(int, version.split('.'))) < needed:
        why = (
            'it removes names'
            if gone
            else 'it has a rule more for all drivers'
            if harder
            else 'it adds or changes names'
        )
        raise Refused(
            f'set CONTRACT_VERSION in compute_agent/deprecation.py to '
            f'{needed[0]}.{needed[1]}: {before} was released, and {why}'
        )


def record() -> None:
    """Write the file.

    :raises Refused: see ``check``
    """
    new, state = surface(), OPEN
    if RECORDED.exists():
        first, old = recorded()
        check(first, old, new, testing.CONTRACT_VERSION)
        if old == new:
            state = first.partition(', ')[2]
    RECORDED.write_text('\n'.join([head(state), *new, '']), 'utf-8')


def _rule(one: catalogue.Rule) -> str:
    """Return the line of a rule of the contract."""
    needs = _FOR_ALL if one.needs is None else f' for {one.needs.name} '
    return f'{_RULE}{one.number}{needs}since {one.since}'


def _name(line: str) -> str:
    """Return the name that a line is about."""
    return re.split(r'[(:= ]', line, maxsplit=1)[0]


def _described(path: str, value: object) -> list[str]:
    if isinstance(value, type):
        return [f'{path} {_kind(value)}', *_members(path, value)]
    if isinstance(value, types.FunctionType):
        return [f'{path}{_signature(_parsed(value))}']
    return [f'{path} = {value!r}']


def _kind(value: type) -> str:
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    return f'class({", ".join(bases)})'


def _members(path: str, value: type) -> list[str]:
    """Return a line for each public member, also of the agent's base classes."""
    found: dict[str, str] = {}
    for base in reversed(value.__mro__):
        if base.__module__.partition('.')[0] == 'compute_agent':
            for statement in _parsed(base).body:
                found |= _of_statement(statement)
    return [f'{path}.{text}' for _, text in sorted(found.items())]


def _of_statement(statement: ast.stmt) -> dict[str, str]:
    """Return name → text of what a statement in a class defines."""
    if isinstance(statement, _Function):
        found = {}
        if _is_public(statement.name):
            text = f'{statement.name}{_signature(statement)}'
            found[statement.name] = text
        if statement.name == '__init__':
            found |= _attributes(statement)
        return found
    return _assigned(statement)


def _assigned(statement: ast.stmt) -> dict[str, str]:
    match statement:
        case (
            ast.AnnAssign(target=ast.Name(id=name))
            | ast.Assign(targets=[ast.Name(id=name)])
        ) if _is_public(name):
            return {name: ' '.join(ast.unparse(statement).split())}
        case _:
            return {}


def _attributes(function: typing.Any) -> dict[str, str]:
    """Return the public attributes that a constructor sets, with their types."""
    found = {}
    for statement in ast.walk(function):
        match statement:
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id='self'), attr=name)
            ) if _is_public(name):
                found[name] = f'{name}: {ast.unparse(statement.annotation)}'
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id='self'), attr=name)]
            ) if _is_public(name):
                found[name] = f'{name}:'
    return found


def _is_public(name: str) -> bool:
    return name == '__init__' or not name.startswith('_')


def _signature(function: typing.Any) -> str:
    returns = ast.unparse(function.returns) if function.returns else 'None'
    decorators = [ast.unparse(d) for d in function.decorator_list]
    marks = [f' @{d}' for d in decorators if not d.startswith('pytest.')]
    return f'({ast.unparse(function.args)}) -> {returns}{"".join(marks)}'


def _parsed(value: typing.Any) -> typing.Any:
    """Return the definition of a class or function."""
    source = textwrap.dedent(inspect.getsource(value))
    return ast.parse(source).body[0]


if __name__ == '__main__':
    try:
        record()
    except Refused as exc:
        sys.exit(str(exc))
