# SPDX-License-Identifier: Apache-2.0
"""A check is used twice: the agent passes it, and a weak agent is found out.

Each check of the gauntlet is about one weakness that agents of this kind are
known to have. A ``Variant`` is this agent with just that weakness planted, by
a substitute for one of its parts. So the check is known to be able to fail,
and to fail for that reason: what it looks at stands in ``verdict()``, and only
what fails there counts, not any other accident.
"""

import collections.abc
import contextlib
import dataclasses
import logging
import typing

import agents
import pytest
from variants import Constant, Plant, Variant

__all__ = [
    'Bench',
    'Constant',
    'Plant',
    'Variant',
    'Weakness',
    'against',
    'bench',
    'verdict',
]

PATIENCE = 20.0  # seconds until what should come counts as never coming
IMPATIENCE = 0.5  # the same, where it is known never to come


class Weakness(AssertionError):
    """A check found what it looks for."""


@contextlib.contextmanager
def verdict() -> collections.abc.Iterator[None]:
    """What fails to hold in here is the weakness."""
    try:
        yield
    except AssertionError as exc:
        raise Weakness(str(exc)) from exc


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a check works with.

    :ivar agent: makes an agent; see ``agents.AgentFactory``
    :ivar operator: somebody else who works on the same placement
    :ivar patience: seconds to wait for what should come
    """

    agent: agents.AgentFactory
    operator: agents.Operator
    placement: typing.Any
    monkeypatch: pytest.MonkeyPatch
    request: pytest.FixtureRequest
    patience: float = PATIENCE

    def fixture(self, name: str) -> typing.Any:
        """Return another fixture."""
        return self.request.getfixturevalue(name)


Check: typing.TypeAlias = collections.abc.Callable[[Bench], None]


@pytest.fixture
def bench(
    agent_factory: agents.AgentFactory,
    operator: agents.Operator,
    placement: typing.Any,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Bench:
    """What a check of this test works with."""
    return Bench(
        agent=agent_factory,
        operator=operator,
        placement=placement,
        monkeypatch=monkeypatch,
        request=request,
    )


def against(
    *variants: Variant,
) -> collections.abc.Callable[[Check], typing.Any]:
    """Make a check a test of this agent and of these weak ones."""

    def test_of(check: Check) -> typing.Any:
        @pytest.mark.parametrize(
            'variant',
            [
                pytest.param(None, id='agent'),
                *(
                    pytest.param(
                        v, id=f'weak: {v.says}', marks=pytest.mark.long
                    )
                    for v in variants
                ),
            ],
        )
        def test(
            bench: Bench,
            variant: Variant | None,
            monkeypatch: pytest.MonkeyPatch,
            caplog: pytest.LogCaptureFixture,
        ) -> None:
            caplog.set_level(logging.DEBUG, 'compute_agent')
            if variant is None:
                check(bench)
            else:
                variant.plant(monkeypatch)
                with pytest.raises(Weakness):
                    check(dataclasses.replace(bench, patience=IMPATIENCE))
            # A part that breaks would end a node's cycle as well.
            broken = [r for r in caplog.records if r.exc_info]
            assert not broken, broken[0].getMessage()

        test.__name__ = test.__qualname__ = check.__name__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        return test

    return test_of
