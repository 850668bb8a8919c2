# SPDX-License-Identifier: Apache-2.0
"""Stations whose states are closed at the end of a test."""

import collections.abc
import contextlib
import typing

import looking
import pytest


@pytest.fixture
def new_station() -> collections.abc.Iterator[
    collections.abc.Callable[..., looking.Station]
]:
    """Make a station, with the arguments of ``looking.Station``."""
    with contextlib.ExitStack() as stack:

        def made(**fields: typing.Any) -> looking.Station:
            station = looking.Station(**fields)
            stack.callback(station.close)
            return station

        yield made
