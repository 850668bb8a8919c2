# SPDX-License-Identifier: Apache-2.0
"""The recorded hosts that the drivers of hosts are tried on."""

import pathlib

import pytest


@pytest.fixture
def hosts() -> pathlib.Path:
    """The folder of fake host roots."""
    return pathlib.Path(__file__).parents[2] / 'hosts'
