# SPDX-License-Identifier: Apache-2.0
"""The placeholders in SQL are ``?`` or ``:name``.

Since Python 3.12, SQLite's numbered ones (``?1``) are deprecated for values
that are a sequence. The versions before accept them without a word.
"""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PRODUCT = ('compute_agent', 'drivers', 'report_client', 'demo', 'benchmarks')
NUMBERED = re.compile(r'\?[0-9]')
# A statement is also found by one of its parts, as f-strings are in parts.
SQL = re.compile(
    r'\b(select|insert|replace|update|delete|from|where|values|set|limit)\b',
    re.IGNORECASE,
)


def numbered(source):
    """Return the lines of the statements with numbered placeholders."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and SQL.search(node.value)
        and NUMBERED.search(node.value)
    ]


@pytest.mark.parametrize('package', PRODUCT)
def test_no_statement_has_numbered_placeholders(package):
    found = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / package).rglob('*.py')
        if (lines := numbered(path.read_text('utf-8')))
    }
    assert found == {}


@pytest.mark.parametrize(
    ('source', 'lines'),
    [
        ("db.execute('select a from b where c = ?1', (1,))", [1]),
        ("x = (\n'delete from a where b in'\n' (?1, ?2)')", [2]),
        ("q = f'select {a} from b where c = ?1'", [1]),
        ("q = 'select a from b' + ' where c = ?1'", [1]),
        ("db.execute('select a from b where c = ?', (1,))", []),
        ("raise ValueError('which of ?1 and ?2')", []),
    ],
)
def test_they_are_found(source, lines):
    assert numbered(source) == lines
