# SPDX-License-Identifier: Apache-2.0
"""Counts the code: lines, modules, imports inside functions, contract lines.

``python -m benchmarks.code_size [DIRECTORY]`` prints a row per count. A line of
code is a line with a token on it that is no comment and no docstring.
"""

import ast
import io
import pathlib
import sys
import tokenize
import tomllib
from collections.abc import Iterator

PRODUCT = ('compute_agent', 'drivers', 'report_client', 'nova_reporting')
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Return the number of lines that have code."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - _docstring_lines(ast.parse(text)))


def _docstring_lines(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(
            node,
            ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
        ):
            match node.body:
                case [ast.Expr(ast.Constant(str())) as text, *_]:
                    found.update(range(text.lineno, _last(text) + 1))
    return found


def _last(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


def imports_in_functions(text: str) -> int:
    """Return the number of import statements inside functions."""
    found: set[ast.AST] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(
                inner
                for inner in ast.walk(node)
                if isinstance(inner, ast.Import | ast.ImportFrom)
            )
    return len(found)


def contract_entries(root: pathlib.Path) -> int:
    """Return the number of modules that the import contracts name.

    The contracts on packages as a whole, such as the layers, count as well.
    """
    text = (root / 'pyproject.toml').read_text()
    linter = tomllib.loads(text)['tool']['importlinter']
    return sum(
        len(contract.get(key, ()))
        for contract in linter['contracts']
        for key in (
            'modules',
            'source_modules',
            'forbidden_modules',
            'layers',
            'ignore_imports',
        )
    )


def _texts(root: pathlib.Path, *folders: str) -> Iterator[str]:
    for folder in folders:
        for file in sorted((root / folder).rglob('*.py')):
            yield file.read_text()


def main(root: pathlib.Path) -> None:
    """Print the counts of a checkout."""
    product = list(_texts(root, *PRODUCT))
    tests = list(_texts(root, 'tests'))
    rows = {
        'product, lines of code': sum(map(code_lines, product)),
        'product, modules': len(product),
        'product, imports inside functions': sum(
            map(imports_in_functions, product)
        ),
        'product, lines with Op, Op_co': sum(
            'Op]' in line or 'Op_co' in line or 'Op,' in line
            for text in product
            for line in text.splitlines()
        ),
        'modules in import contracts': contract_entries(root),
        'tests, lines of code': sum(map(code_lines, tests)),
        'tests, modules': len(tests),
    }
    for name, count in rows.items():
        sys.stdout.write(f'{name:36}{count:>8}\n')


if __name__ == '__main__':
    main(pathlib.Path(*sys.argv[1:2]))
