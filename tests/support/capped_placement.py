# SPDX-License-Identifier: Apache-2.0
"""The real placement, told to stop after so many allocation candidates.

A pytest plugin. The configuration is one object in the middle of placement's
application; ``capped`` finds it there, and puts back what it changed.
"""

import collections.abc
import typing

import pytest

_LAYERS = ('_application', 'application')


class Cap:
    """Sets what limits the answers of a placement; None is nothing."""

    def __init__(self, conf: typing.Any) -> None:
        self._conf = conf

    def __call__(
        self, ways: int | None, *, breadth_first: bool = False
    ) -> None:
        """Let it stop after so many ways, one tree after another or in turns."""
        self.lift()
        strategy = 'breadth-first' if breadth_first else 'depth-first'
        if ways is not None:
            self._set('max_allocation_candidates', ways)
            self._set('allocation_candidates_generation_strategy', strategy)

    def lift(self) -> None:
        """Set no limit."""
        for name in (
            'max_allocation_candidates',
            'allocation_candidates_generation_strategy',
        ):
            self._conf.clear_override(name, 'placement')

    def _set(self, name: str, value: int | str) -> None:
        self._conf.set_override(name, value, 'placement')


@pytest.fixture
def capped(placement: typing.Any) -> collections.abc.Iterator[Cap]:
    """Cap this test's placement: ``capped(2)``."""
    cap = Cap(_configuration(placement._application._app))
    yield cap
    cap.lift()


def _configuration(application: typing.Any) -> typing.Any:
    """Return what the innermost application was configured with."""
    while not hasattr(application, 'config'):
        application = next(
            found
            for name in _LAYERS
            if (found := getattr(application, name, None)) is not None
        )
    return application.config
