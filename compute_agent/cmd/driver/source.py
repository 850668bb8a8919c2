# SPDX-License-Identifier: Apache-2.0
"""The source of installed classes, found and parsed without importing it.

An import would run a driver's package, which may need a library or a host that
is not there. The finders of this process tell where a module's file is.
"""

import ast
import contextlib
import importlib.machinery
import importlib.util
import pathlib
import sys
from collections.abc import Iterator, Sequence


def file_of(module: str) -> pathlib.Path | None:
    """Return the file of a module; None if it has none in Python."""
    path: Sequence[str] | None = None
    spec = None
    above = ''
    for part in module.split('.'):
        above = f'{above}.{part}' if above else part
        spec = _spec(above, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    if spec is None or not (spec.origin or '').endswith('.py'):
        return None
    return pathlib.Path(str(spec.origin))


def definitions(target: str) -> Iterator[ast.ClassDef]:
    """Yield the definition of a class, then those of its base classes.

    Bases that cannot be found, or are another package's, are left out.

    :param target: ``module:Class``
    """
    module, _, name = target.partition(':')
    pending, seen = [(module, name)], set()
    while pending:
        one = pending.pop(0)
        if one in seen:
            continue
        seen.add(one)
        tree = _parsed(one[0])
        found = _class(tree, one[1])
        if tree is None or found is None:
            continue
        yield found
        pending += _bases(tree, found, one[0])


def _spec(
    module: str, path: Sequence[str] | None
) -> importlib.machinery.ModuleSpec | None:
    """Return where a module is; its package need not be imported."""
    for finder in sys.meta_path:
        with contextlib.suppress(Exception):  # another package's finder
            spec = finder.find_spec(module, path)
            if spec is not None:
                return spec
    return None


def _parsed(module: str) -> ast.Module | None:
    file = file_of(module)
    if file is None:
        return None
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _class(tree: ast.Module | None, name: str) -> ast.ClassDef | None:
    for statement in tree.body if tree else ():
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return statement
    return None


def _bases(
    tree: ast.Module, found: ast.ClassDef, module: str
) -> Iterator[tuple[str, str]]:
    """Yield module and name of the base classes."""
    imported = _imports(tree, module)
    for base in found.bases:
        match base:
            case ast.Name(id=name):
                home, _, plain = imported.get(
                    name, f'{module}.{name}'
                ).rpartition('.')
                yield home, plain
            case ast.Attribute(value=ast.Name(id=alias), attr=name):
                yield imported.get(alias, alias), name


def _imports(tree: ast.Module, module: str) -> dict[str, str]:
    """Return name → path of what a module imports."""
    file = file_of(module)
    is_package = file is not None and file.name == '__init__.py'
    package = module if is_package else module.rpartition('.')[0]
    found = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                found[one.asname or one.name] = one.name
        elif isinstance(statement, ast.ImportFrom):
            base = _absolute(statement, package)
            for one in statement.names:
                found[one.asname or one.name] = f'{base}.{one.name}'
    return found


def _absolute(statement: ast.ImportFrom, package: str) -> str:
    if not statement.level:
        return statement.module or ''
    relative = '.' * statement.level + (statement.module or '')
    with contextlib.suppress(ImportError):
        return importlib.util.resolve_name(relative, package)
    return ''
