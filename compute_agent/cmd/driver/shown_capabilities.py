# SPDX-License-Identifier: Apache-2.0
"""The capabilities of an installed driver, read without importing it.

The source shows them: the methods of the driver's class, and the set
``capabilities`` of the contract class that its package names.
"""

import ast
import importlib.metadata
from collections.abc import Iterator

from ...testing.contract import capability
from ...virt import loader
from . import source

CONTRACTS = 'compute_agent.driver_contracts'
_CONTRACT = 'ComputeDriver'


def read(entry: loader.Installed) -> list[str] | None:
    """Return the names of the capabilities; None if there is no source."""
    classes = list(source.definitions(entry.target))
    if not classes:
        return None
    shown = {
        name: found.name for name, found in capability.METHODS.items()
    } | {'evidence': capability.Capability.EVIDENCE.name}
    own = {
        name
        for one in classes
        if one.name != _CONTRACT
        for statement in one.body
        for name in _methods(statement)
    }
    declared = set(_declared(entry.name))
    return sorted({shown[name] for name in own & shown.keys()} | declared)


def _methods(statement: ast.stmt) -> list[str]:
    """Return the names that a statement in a class gives to methods."""
    match statement:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name]
        case _:
            return []


def _declared(name: str) -> Iterator[str]:
    """Yield the capabilities in the contract class of a driver, if any."""
    for point in importlib.metadata.entry_points(group=CONTRACTS, name=name):
        for one in source.definitions(point.value):
            values = [v for v in map(_capabilities, one.body) if v is not None]
            if values:
                yield from _named(values[-1])
                return


def _capabilities(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id='capabilities')], value=value):
            return value
        case ast.AnnAssign(target=ast.Name(id='capabilities'), value=value):
            return value
        case _:
            return None


def _named(value: ast.expr) -> Iterator[str]:
    """Yield NAME of each ``Capability.NAME`` in an expression."""
    for node in ast.walk(value):
        match node:
            case ast.Attribute(
                attr=name,
                value=ast.Name(id='Capability')
                | ast.Attribute(attr='Capability'),
            ):
                yield name
