# SPDX-License-Identifier: Apache-2.0
"""What a check of the gauntlet works with, and what of it counts.

Each check is about one weakness that agents of this kind are known to have.
What it looks at stands in ``verdict()``: where a weakness is planted, only what
fails there notices it, not any other accident.
"""

import collections.abc
import contextlib
import dataclasses
import logging
import typing

import agents
import pytest
import variants

from compute_agent.tree import names

NODE, NAME = agents.NODE, agents.NAME
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}  # the agent's own traits
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
SHARED = '55555555-5555-4555-8555-555555555555'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
PATIENCE = 20.0  # seconds until what should come counts as never coming
IMPATIENCE = 0.5  # the same, where it is known never to come


def host(tree: typing.Any, node: str) -> None:
    """Describe a node of eight processors."""
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def more(tree: typing.Any, node: str) -> None:
    """Describe one more processor, and one more feature."""
    tree.update_inventory(node, {'VCPU': {'total': 9}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2')


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
    patience: float

    def share(self) -> None:
        """Let somebody make a provider that shares disk in ``AGGREGATE``."""
        self.operator.create(SHARED, 'nfs')
        self.operator.set_inventories({'DISK_GB': {'total': 100}}, SHARED)
        self.operator.add_traits(names.MISC_SHARES_VIA_AGGREGATE, uuid=SHARED)
        self.operator.set_aggregates(AGGREGATE, uuid=SHARED)


@pytest.fixture(autouse=True)
def only_the_verdict_counts(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> collections.abc.Iterator[None]:
    """A part that breaks would end a node's cycle, and look like a weakness."""
    request.node.stash[variants.NOTICES_BY] = Weakness
    caplog.set_level(logging.DEBUG, 'compute_agent')
    yield
    broken = [r for r in caplog.get_records('call') if r.exc_info]
    assert not broken, broken[0].getMessage()


@pytest.fixture
def bench(
    agent_factory: agents.AgentFactory,
    operator: agents.Operator,
    placement: typing.Any,
    request: pytest.FixtureRequest,
) -> Bench:
    """What a check of this test works with."""
    case = getattr(request.node, 'callspec', None)
    is_weak = case is not None and case.params.get('planted_defect')
    return Bench(
        agent=agent_factory,
        operator=operator,
        placement=placement,
        patience=IMPATIENCE if is_weak else PATIENCE,
    )
