# SPDX-License-Identifier: Apache-2.0
"""``compute-agent explain``: why a node has a trait, or has it not."""

import argparse
import dataclasses
import re
import typing
from collections.abc import Sequence

from ..tree import node as node_module
from .app import command

if typing.TYPE_CHECKING:
    from ..cycle import resource_tracker
    from ..ownership import explain
    from ..virt import finding
    from .wiring import agent as wiring


class Explain(command.Report):
    """Explain a trait: who has it, who added it, and what it stands on.

    For each provider of a node: whether placement has the trait there, whether
    this agent added it, and what the next sync would do; then what the driver
    found that speaks for the trait or against it, and which line of an
    operator's file gives it.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the trait and the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument('trait', metavar='TRAIT', help='Its name.')
        parser.add_argument(
            '--node',
            metavar='NODE',
            help="A node's name or uuid (default: all of this agent's).",
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the explanation for each node; exit 1 if one has none."""
        from report_client.api import trait_names  # noqa: PLC0415 (quick --help)

        from .wiring import agent as wiring  # noqa: PLC0415

        trait = trait_names.check(parsed_args.trait)
        with wiring.agent(self.conf(), looking=True) as agent:
            results = agent.tracker.plan()
            chosen = node_module.chosen(
                [r.node for r in results], parsed_args.node
            )
            told = [
                _told(agent, result, trait)
                for result in results
                if result.node in chosen
            ]
        _check_known(trait, told)
        return (
            [_data(trait, one) for one in told],
            '\n'.join(_text(trait, one) for one in told) or 'no nodes',
            1 if any(one.is_unknown for one in told) else 0,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What there is to say of one node.

    :ivar providers: None if the node could not be planned
    :ivar findings: None if the driver gives no evidence, or cannot now
    :ivar lines: those of the operator's files
    :ivar failure: why the driver cannot give evidence
    """

    result: 'resource_tracker.NodeResult'
    providers: 'Sequence[explain.Explanation] | None'
    findings: 'Sequence[finding.Finding] | None'
    lines: 'Sequence[finding.Finding]'
    notes: Sequence[str]
    failure: str = ''

    @property
    def is_the_agents(self) -> bool:
        """Whether the agent gives the trait, whatever the driver says."""
        from ..tree import assertion  # noqa: PLC0415 (quick --help)

        every = self.providers or ()
        return any(assertion.AGENT in one.claimed_by for one in every)

    @property
    def is_unknown(self) -> bool:
        """Whether part of the answer could not be had."""
        return self.providers is None or bool(self.failure)


def _told(
    agent: 'wiring.Agent', result: 'resource_tracker.NodeResult', trait: str
) -> _Told:
    from ..ownership import explain  # noqa: PLC0415

    found, failure = _findings(agent, result.node.name, trait)
    plan = typing.cast(typing.Any, result.plan)
    providers = None
    if plan is not None:
        after, changes = plan.before, []
        for operation in plan.operations:
            after = operation.apply_to(after)
            changes += operation.changes()
        record = agent.state.records.record(
            {*plan.before, *after}, result.node.uuid
        )
        record = dataclasses.replace(
            record, claims={**record.claims, **plan.claims}
        )
        providers = explain.explain(trait, plan.before, after, record, changes)
    return _Told(
        result=result,
        providers=providers,
        findings=found,
        lines=[
            one
            for one in agent.files.evidence(result.node.uuid)
            if one.trait == trait
        ],
        notes=[note for note in result.notes if _names(note, trait)],
        failure=failure,
    )


def _findings(
    agent: 'wiring.Agent', node: str, trait: str
) -> 'tuple[Sequence[finding.Finding] | None, str]':
    """Return what the driver found of a trait, or why it cannot say."""
    from .. import errors  # noqa: PLC0415
    from ..virt import finding  # noqa: PLC0415

    if not isinstance(agent.driver, finding.Evidence):
        return None, ''
    try:
        every = agent.driver.evidence(node)
    except errors.AgentError as exc:
        return None, str(exc)
    return [one for one in every if one.trait == trait], ''


def _names(note: str, trait: str) -> bool:
    """Whether a note is about this trait, and not a longer name."""
    return bool(re.search(rf'(?<![A-Z0-9_]){trait}(?![A-Z0-9_])', note))


def _check_known(trait: str, told: Sequence[_Told]) -> None:
    """Refuse a name of which nobody here knows anything.

    :raises errors.InvalidName: with the name that may be meant
    """
    from report_client.api import trait_names  # noqa: PLC0415

    from .. import errors  # noqa: PLC0415
    from ..ownership import explain  # noqa: PLC0415

    absent = explain.State.ABSENT
    if (
        trait_names.is_known_here(trait)
        or any(
            one.is_unknown or one.findings or one.lines or one.notes
            for one in told
        )
        or any(p.state is not absent for t in told for p in t.providers or ())
    ):
        return
    raise errors.InvalidName(
        f'no provider has {trait}, and the os-traits here do not know it'
        f'{trait_names.did_you_mean(trait)}'
    )


def _text(trait: str, told: _Told) -> str:
    lines = [f'{trait} on {told.result.node}']
    if told.providers is None:
        lines.append(f'  unknown: {told.result.reason}')
    for one in told.providers or ():
        claims = (
            f'; held by {", ".join(one.claimed_by)}' if one.claimed_by else ''
        )
        why = f': {one.why}' if one.why else ''
        lines.append(f'  {one.provider}: {one.state.value}{why}{claims}')
    for found in told.findings or ():
        seen = f' [{", ".join(found.sources)}]' if found.sources else ''
        why = f': {found.reason}' if found.reason else ''
        lines.append(
            f'  driver: {found.found.value} by {found.fact}{seen}{why}'
        )
    if told.failure:
        lines.append(f'  driver: unknown: {told.failure}')
    elif told.findings is None:
        lines.append('  driver: it gives no evidence')
    elif not told.findings and not told.is_the_agents:
        lines.append('  driver: it found nothing that speaks for it')
    if told.is_the_agents:
        lines.append('  agent: it gives this trait by itself')
    lines += [
        f'  file: given to {one.fact} at {", ".join(one.sources)}'
        for one in told.lines
    ]
    lines += [f'  note: {note}' for note in told.notes]
    return '\n'.join(lines)


def _data(trait: str, told: _Told) -> dict[str, typing.Any]:
    from . import probe  # noqa: PLC0415

    return {
        'trait': trait,
        'node': told.result.node.called,
        'uuid': told.result.node.uuid,
        'reason': told.result.reason,
        'providers': [
            {
                'provider': one.provider.name,
                'uuid': one.provider.uuid,
                'state': one.state.name.lower(),
                'held_by': list(one.claimed_by),
                'cause': None if one.cause is None else one.cause.data(),
            }
            for one in told.providers or ()
        ],
        'findings': None
        if told.findings is None
        else [probe.finding_data(one) for one in told.findings],
        'files': [probe.finding_data(one) for one in told.lines],
        'failure': told.failure,
        'notes': list(told.notes),
    }
