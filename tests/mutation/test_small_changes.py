# SPDX-License-Identifier: Apache-2.0
"""The settings of mutmut name files that exist."""

import pathlib
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool'][
    'mutmut'
]


@pytest.mark.parametrize(
    'pattern',
    [
        *SETTINGS['only_mutate'],
        *SETTINGS['pytest_add_cli_args_test_selection'],
    ],
)
def test_what_is_named_is_there(pattern):
    assert list(ROOT.glob(pattern))
