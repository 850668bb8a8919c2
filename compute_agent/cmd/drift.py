# SPDX-License-Identifier: Apache-2.0
"""``compute-agent drift``: other writers' changes, and their fate.

The command asks no driver and writes nothing. It reads placement and the state
database at the same point: a daemon may write to placement meanwhile, so the
state is copied after placement was read. If the copy has a newer generation of
a provider, or a write to it without an answer, the two do not fit, and both are
read again. ``ownership/explanations/drift.py`` decides.

The marks are those of a plan, from the agreed state to that in placement:
+ added, - removed, ~ changed.
"""

import argparse
import contextlib
import dataclasses
import time
import typing
from collections.abc import Callable, Mapping, Sequence

from oslo_config import cfg

from report_client.plan import render

from .. import errors
from ..fleet.values import mark
from ..limits import contention
from ..ownership import policy
from ..ownership.explanations import drift
from ..plan.change import Change
from ..plan.observation import Observation
from ..state.state import State
from ..tree import inventory, provider
from ..tree import node as node_module
from ..tree.node import Node
from .app import command, configuration
from .wiring import placement
from .wiring.agent import Agent
from .wiring.opening import open_agent, state_copy

TRIES = 4
PAUSE = 0.5  # seconds between two tries

_BUSY = (
    'the agent writes to {} now: run the command again when its cycle is over'
)

_ELSEWHERE = (
    'only the agent that reports it knows what it last wrote and found there: '
    'run the command on its machine, which "compute-agent status" names'
)

# What is known of a node, or why it is unknown.
Answer = drift.Known | errors.AgentError
_NONE = 'no drift'


class Drift(command.Report):
    """Compare placement with what the agent last wrote or found there.

    For each provider of this agent's nodes, the command prints what another
    writer added, removed or changed since the agent last wrote to it, and if
    the next cycle restores it, removes it or leaves it alone. It asks no
    driver (that is the difference from "plan"), writes nothing, and works
    beside a daemon. Exit code 0: no drift, 2: drift, 1: an error, or nodes
    whose state is unknown.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes."""
        command.add_nodes(parser, 'Compare only these nodes.')

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the drift of each node."""
        conf = self.conf()
        with open_agent(conf, read_only=True, describes=False) as agent:
            nodes = node_module.selected(
                agent.state.nodes.all(), parsed_args.nodes
            )
            known = (
                Reading(conf, agent, _authority(conf)).nodes(nodes)
                if nodes
                else {}
            )
        found = {}
        for node in nodes:
            answer = known[node.uuid]
            if isinstance(answer, errors.AgentError):
                self.say(node.line(str(answer)))
            else:
                found[node] = drift.drift(answer)
        data = [_data(*pair) for pair in found.items()]
        text = (
            _total(found)
            if len(nodes) > 1
            else '\n'.join(_text(*pair) for pair in found.items())
        )
        drifts = 2 if any(found.values()) else 0
        return (
            data,
            text if nodes else 'no node is recorded',
            1 if len(found) < len(nodes) else drifts,
        )


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
        conf, agent = self._conf, self._agent
        site = placement.site(conf)
        with state_copy(conf, site, agent.drivers) as copy:
            memory = contention.Contention(time.time)
            memory.load(copy.undos.load())
            rules = policy.Policy(
                authority=self._authority,
                ratios=agent.current.value.ratios,
                contended=memory.contended(),
                mode=agent.current.value.part,
                mark=None
                if agent.current.value.is_companion
                else mark.Mark.of(agent.share, copy.agent_id),
            )
            orders = agent.current.orders()
            found = {
                node.uuid: _known(
                    node.uuid,
                    seen[node.uuid],
                    copy,
                    dataclasses.replace(rules, orders=orders(node)),
                )
                for node in nodes
            }
            if conf.compute_agent.state_connection:
                found |= {
                    node.uuid: errors.UnknownState(_ELSEWHERE)
                    for node in nodes
                    if not _is_read(node, copy)
                }
            return found


def _authority(conf: cfg.ConfigOpts) -> Mapping[str, Sequence[str]]:
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
    node: str,
    seen: Observation | errors.AgentError,
    copy: State,
    rules: policy.Policy,
) -> Answer:
    if isinstance(seen, errors.AgentError):
        return seen
    live = seen.providers
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
        node_uuid=node,
        agreed=agreed,
        # A sharing provider that no cycle has read yet is no change.
        live={u: p for u, p in live.items() if u in last or u in seen.home},
        seen=last,
        record=record,
        policy=rules,
    )


def _is_read(node: Node, copy: State) -> bool:
    """Return True if the agent here has read a node, or lost it."""
    return (
        node.uuid in copy.snapshot.readings([node.uuid])
        or node.uuid in copy.snapshot.lost_roots()
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


def _total(found: Mapping[Node, Sequence[drift.Drift]]) -> str:
    """Return the drift of many nodes, and their number."""
    drifted = {node: drifts for node, drifts in found.items() if drifts}
    lines = [_text(*pair) for pair in drifted.items()]
    count = f'{len(drifted)} of {len(found)} nodes'
    lines.append(f'{len(found)} nodes: {_NONE}' if not drifted else count)
    return '\n'.join(lines)


def _text(node: Node, found: Sequence[drift.Drift]) -> str:
    """Return a node's drift as lines, by provider."""
    if not found:
        return f'{node}: {_NONE}'
    lines, last = [str(node)], ''
    for one in found:
        title = str(one.provider)
        if title != last:
            lines.append(f'  {title}')
            last = title
        lines.append(f'    {_mark(one)}: {one.fate}, {one.why}')
    return '\n'.join(lines)


def _data(node: Node, found: Sequence[drift.Drift]) -> dict[str, typing.Any]:
    """Return a node's drift as data."""
    return {
        'node': node.called,
        'uuid': node.uuid,
        'drift': [
            {
                'provider': one.provider.name,
                'uuid': one.provider.uuid,
                'kind': 'provider'
                if one.change.kind is None
                else one.change.kind.value,
                'name': one.change.name,
                'change': _verb(one.change),
                'agreed': _record(one.change.before),
                'placement': _record(one.change.after),
                'next_cycle': one.fate.value,
                'why': one.why,
            }
            for one in found
        ],
    }


def _mark(one: drift.Drift) -> str:
    change = one.change
    if change.kind is None:
        if change.existed and change.exists:
            return f'the provider is {one.text}'
        return f'the provider is {"new" if change.exists else "deleted"}'
    return render.mark(change)


def _verb(change: Change) -> str:
    if not change.exists:
        return 'removed'
    return 'changed' if change.existed else 'added'


def _record(
    record: inventory.Inventory | None,
) -> dict[str, typing.Any] | None:
    return None if record is None else dict(record.to_record())
