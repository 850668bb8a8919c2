# SPDX-License-Identifier: Apache-2.0
"""Files that a reader refuses, and what it says: ``tests/wrong_files/*.yaml``.

Each case has ``file``, the text, and ``said``, the line for the operator or its
beginning. The key of the case says what is wrong.
"""

import pathlib

import pytest
import yaml

FOLDER = pathlib.Path(__file__).parents[1] / 'wrong_files'


def cases(name: str) -> pytest.MarkDecorator:
    """Run a test with ``text`` and ``expected`` of each case of a file."""
    found = yaml.safe_load((FOLDER / f'{name}.yaml').read_text('utf-8'))
    return pytest.mark.parametrize(
        ('text', 'expected'),
        [
            pytest.param(one['file'], one['said'], id=what)
            for what, one in found.items()
        ],
    )
