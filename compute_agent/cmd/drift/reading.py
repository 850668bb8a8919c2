# SPDX-License-Identifier: Apache-2.0
"""Placement and the state database, read at the same point.

A daemon may write to placement while the command reads. So the state is copied
after placement was read; if the copy has a newer generation of a provider, or a
write to it without an answer, the two do not fit, and both are read again.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence

from oslo_config import cfg

from ... import errors
from ...limits import contention
from ...ownership import policy
from ...ownership.explanations import drift
from ...plan.observation import Observation
from ...state.state import State
from ...tree import provider
from ...tree.node import Node
from ..app import configuration
from ..wiring import agent_settings, placement
from ..wiring.agent import Agent

TRIES = 4
PAUSE = 0.5  # seconds between two tries

_BUSY = (
    'the agent writes to {} now: run the command again when its cycle is over'
)

# What is known of a node, or why it is unknown.
Answer = drift.Known | errors.AgentError


class Reading:
    """Reads nodes from placement, and what was agreed from the state.

    :param authority: the traits that each driver alone decides
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        agent: Agent,
        authority: Mapping[str, Sequence[str]],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._conf = conf
        self._agent = agent
        self._authority = authority
        self._sleep = sleep

    def nodes(self, nodes: Sequence[Node]) -> dict[str, Answer]:
        """Return what is known of each node, by uuid.

        :raises errors.AgentError: placement or the state cannot be read
        """
        found: dict[str, Answer] = {}
        left = list(nodes)
        for number in range(TRIES):
            if number:
                self._sleep(PAUSE)
            found |= self._once(left)
            left = [n for n in left if found[n.uuid] is _UNFIT]
            if not left:
                break
        for node in left:
            found[node.uuid] = errors.UnknownState(_BUSY.format(node))
        return found

    def _once(self, nodes: Sequence[Node]) -> dict[str, Answer]:
        seen = self._agent.client.observe([node.uuid for node in nodes])
        conf = self._conf
        path, site = agent_settings.state_path(conf), placement.site(conf)
        with contextlib.closing(State.open_copy(path, site)) as copy:
            memory = contention.Contention(time.time)
            memory.load(copy.undos.load())
            rules = policy.Policy(
                node_uuid='',
                authority=self._authority,
                ratios=self._agent.current.value.ratios,
                contended=memory.contended(),
                mode=self._agent.current.value.part,
            )
            orders = self._agent.current.orders()
            return {
                node.uuid: _known(
                    seen[node.uuid],
                    copy,
                    dataclasses.replace(
                        rules, node_uuid=node.uuid, orders=orders(node)
                    ),
                )
                for node in nodes
            }


def authority(conf: cfg.ConfigOpts) -> Mapping[str, Sequence[str]]:
    """Return the traits that each driver alone decides, if they can be loaded.

    No driver is asked about a node.
    """
    found = {}
    with contextlib.suppress(errors.AgentError):
        drivers = configuration.load_drivers(conf)
        for one in drivers:
            with contextlib.closing(one):
                found[one.source] = tuple(one.driver.authority)
    return found


# Placement and the state do not belong together.
_UNFIT = errors.UnknownState('')


def _known(
    seen: Observation | errors.AgentError, copy: State, rules: policy.Policy
) -> Answer:
    if isinstance(seen, errors.AgentError):
        return seen
    node, live = rules.node_uuid, seen.providers
    created = copy.records.created_for([node]).get(node, [])
    members = copy.snapshot.members([node]).get(node, set())
    uuids = {*members, *created, *live, node}
    readings = copy.snapshot.readings(uuids)
    if copy.journal.intents_on(uuids) or any(
        readings[uuid].is_above(one.generation or 0)
        for uuid, one in live.items()
        if uuid in readings
    ):
        return _UNFIT
    record = copy.records.record(uuids, node)
    last = {uuid: reading.provider for uuid, reading in readings.items()}
    agreed = {
        uuid: _agreed(one, record.was.get(uuid)) for uuid, one in last.items()
    }
    if node in copy.snapshot.lost_roots():
        agreed[node] = provider.Provider(uuid=node, name=node)
    return drift.Known(
        agreed=agreed,
        # A sharing provider that no cycle has read yet is no change.
        live={u: p for u, p in live.items() if u in last or u in seen.home},
        seen=last,
        record=record,
        policy=rules,
    )


def _agreed(
    last: provider.Provider, was: provider.Provider | None
) -> provider.Provider:
    """Return a provider as it was before other writers changed it."""
    if was is None:
        return last
    return dataclasses.replace(
        was, name=last.name, parent_uuid=last.parent_uuid
    )
