# SPDX-License-Identifier: Apache-2.0
"""Keeps ``resource provider adopt`` and ``resource provider rename`` from a root of nova's."""

from ... import errors
from ...ownership import adoption
from ..wiring.agent import Agent


def refuse(agent: Agent, provider: adoption.ListedProvider) -> None:
    """Refuse to take over or rename a root that nova-compute reports.

    :raises errors.Refused: this is a node of an agent beside nova-compute
    """
    mode = agent.current.value.part
    if not mode.is_beside_nova or provider.parent_uuid:
        return
    for node in agent.tracker.nodes():
        if provider.uuid == node.uuid or provider.name == node.name:
            raise errors.Refused(
                f"the root of {node} is nova-compute's with [compute_agent] "
                f'mode = {mode.value}, and is neither adopted nor renamed; '
                'set mode = owner first if no nova-compute has it'
            )
