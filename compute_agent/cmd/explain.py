# SPDX-License-Identifier: Apache-2.0
"""``compute-agent explain``: the reason why a provider has a trait or not."""

import argparse
import dataclasses
import re
import typing
from collections.abc import Sequence

from report_client.api.values import trait_names

from .. import errors
from ..cycle.node.node_result import NodeResult
from ..ownership.explanations import explain
from ..ownership.record import Record
from ..plan.change import Change
from ..tree import alike, assertion, provider
from ..tree import node as node_module
from ..virt.drivers import NamedDriver
from ..virt.values import finding
from . import probe
from .app import command
from .plan import plan_view
from .wiring.agent import Agent
from .wiring.opening import open_agent

_HOW = '--node NODE prints that of a node, -f json of each'


class Explain(command.Report):
    """Explain a trait: which provider has it, who added it, and why.

    For each provider of a node, the command prints if placement has the trait
    there, if this agent added it, and what the next sync would do. It then
    prints what the driver knows about the trait, and the line of the
    operator's file that adds it. The answers for more than ten nodes are summed
    up.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the trait and the node."""
        parser.add_argument(
            'trait', metavar='TRAIT', help='The name of the trait.'
        )
        parser.add_argument(
            '--node',
            metavar='NODE',
            help='The name or uuid of a node (default: all nodes of this agent).',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the explanation for each node; exit 1 if one is incomplete."""
        trait = trait_names.check(parsed_args.trait)
        with open_agent(self.conf(), read_only=True) as agent:
            results = agent.tracker.plan()
            chosen = node_module.chosen(
                [r.node for r in results], parsed_args.node
            )
            answers = [
                answer(facts_of(agent, result), trait)
                for result in results
                if result.node in chosen
            ]
        _check_known(trait, answers, results)
        return (
            [data(trait, answer) for answer in answers],
            '\n'.join(_texts(trait, answers)) or 'no nodes',
            1 if any(answer.is_incomplete for answer in answers) else 0,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The knowledge of one driver about the trait, or about all of a node.

    :ivar title: the driver in the words of messages
    :ivar findings: None if the driver gives no evidence, or cannot give
        evidence now
    :ivar failure: the reason why it cannot give evidence now
    """

    title: str
    findings: Sequence[finding.Finding] | None
    failure: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The explanation for one node.

    :ivar providers: None if the node could not be planned
    :ivar evidence: what each driver knows about the trait
    :ivar lines: the lines of the operator's files that add the trait
    :ivar notes: those that name the trait, and why providers are set aside
    """

    result: NodeResult
    providers: Sequence[explain.Explanation] | None
    evidence: Sequence[_Evidence]
    lines: Sequence[finding.Finding]
    notes: Sequence[str]

    @property
    def is_the_agents(self) -> bool:
        """True if the agent itself claims the trait, besides the driver."""
        explanations = self.providers or ()
        return any(assertion.AGENT in e.claimed_by for e in explanations)

    @property
    def is_incomplete(self) -> bool:
        """True if part of the answer is unknown."""
        return self.providers is None or any(e.failure for e in self.evidence)

    @property
    def has_findings(self) -> bool:
        """True if a driver has a finding about the trait."""
        return any(e.findings for e in self.evidence)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that is known of the traits of one node.

    :ivar before: the providers in placement; None if it could not be planned
    :ivar after: the providers as the next sync would leave them
    :ivar evidence: what each driver knows of the node's traits
    :ivar lines: the lines of the operator's files
    """

    result: NodeResult
    before: provider.Snapshot | None
    after: provider.Snapshot
    record: Record
    changes: Sequence[Change]
    evidence: Sequence[_Evidence]
    lines: Sequence[finding.Finding]


def facts_of(agent: Agent, result: NodeResult) -> Facts:
    """Return evidence, plan and record for the traits of a planned node."""
    plan = result.plan
    before = after = plan.before if plan is not None else provider.snapshot([])
    changes: list[Change] = []
    for operation in plan.operations if plan is not None else ():
        after = operation.apply_to(after)
        changes += operation.changes()
    record = agent.state.records.record({*before, *after}, result.node.uuid)
    claims = plan.claims if plan is not None else {}
    files = agent.files.evidence(result.node.uuid) if agent.files else ()
    return Facts(
        result=result,
        before=None if plan is None else before,
        after=after,
        record=dataclasses.replace(record, claims={**record.claims, **claims}),
        changes=changes,
        evidence=[_evidence(one, result.node.name) for one in agent.drivers],
        lines=files,
    )


def answer(facts: Facts, trait: str) -> Answer:
    """Return the explanation of one trait on a node."""
    before, plan = facts.before, facts.result.plan
    aside = {str(one) for one in plan.set_aside.values()} if plan else set()
    return Answer(
        result=facts.result,
        providers=None
        if before is None
        else explain.explain(
            trait, before, facts.after, facts.record, facts.changes
        ),
        evidence=[
            dataclasses.replace(
                one,
                findings=one.findings
                and [f for f in one.findings if f.trait == trait],
            )
            for one in facts.evidence
        ],
        lines=[line for line in facts.lines if line.trait == trait],
        notes=[
            note
            for note in facts.result.notes
            if _names(note, trait) or note in aside
        ],
    )


def _evidence(one: NamedDriver, node: str) -> _Evidence:
    """Return a driver's findings about a node, or why it gave none."""
    title = one.title.removeprefix('the ')
    if not isinstance(one.driver, finding.Evidence):
        return _Evidence(title=title, findings=None)
    try:
        findings = one.driver.evidence(node)
    except errors.AgentError as exc:
        return _Evidence(title=title, findings=None, failure=str(exc))
    return _Evidence(title=title, findings=list(findings))


def _names(note: str, trait: str) -> bool:
    """Return True if a note names this trait, not only a longer name."""
    return bool(re.search(rf'(?<![A-Z0-9_]){trait}(?![A-Z0-9_])', note))


def _check_known(
    trait: str, answers: Sequence[Answer], results: Sequence[NodeResult]
) -> None:
    """Refuse a trait that neither os-traits nor any answer mentions.

    :raises errors.InvalidName: nothing mentions the trait; the message
        proposes a similar name
    """
    absent = explain.State.ABSENT
    if (
        trait_names.is_known_here(trait)
        or any(
            answer.is_incomplete
            or answer.has_findings
            or answer.lines
            or answer.notes
            for answer in answers
        )
        or any(
            explained.state is not absent
            for answer in answers
            for explained in answer.providers or ()
        )
    ):
        return
    there = {
        name
        for result in results
        for one in (result.plan.before if result.plan else {}).values()
        for name in one.traits
    }
    raise errors.InvalidName(
        f'no provider has {trait}, and the os-traits library installed here '
        f'does not know it{trait_names.did_you_mean(trait, there)}'
    )


def _texts(trait: str, answers: Sequence[Answer]) -> list[str]:
    """Return the text of each node; of many nodes, those alike are one."""
    told = [(a.result.node, _text(trait, a)) for a in answers]
    if len(told) > plan_view.MANY:
        return plan_view.summed_up(told, _HOW, same=alike.reason)
    return [text for _, text in told]


def _text(trait: str, answer: Answer) -> str:
    lines = [f'{trait} on {answer.result.node}']
    if answer.providers is None:
        lines.append(f'  unknown: {answer.result.reason}')
    for explained in answer.providers or ():
        line = f'  {explained.provider}: {explained.state.value}'
        if explained.why:
            line += f': {explained.why}'
        if explained.claimed_by:
            line += f'; claimed by {", ".join(explained.claimed_by)}'
        lines.append(line)
    for evidence in answer.evidence:
        lines += _driver_lines(evidence, told=answer.is_the_agents)
    if answer.is_the_agents:
        lines.append('  agent: it adds this trait itself')
    lines += [
        f'  file: added to {line.fact} at {", ".join(line.sources)}'
        for line in answer.lines
    ]
    lines += [f'  note: {note}' for note in answer.notes]
    return '\n'.join(lines)


def _driver_lines(evidence: _Evidence, *, told: bool) -> list[str]:
    """Return what a driver knows about the trait.

    :param told: omit the line that it knows nothing
    """
    lines, title = [], evidence.title
    for found in evidence.findings or ():
        seen = f' [{", ".join(found.sources)}]' if found.sources else ''
        why = f': {found.reason}' if found.reason else ''
        where = f' on {found.provider}' if found.provider else ''
        lines.append(
            f'  {title}: {found.found.value}{where} by {found.fact}{seen}{why}'
        )
    if evidence.failure:
        lines.append(f'  {title}: unknown: {evidence.failure}')
    elif evidence.findings is None:
        lines.append(f'  {title}: this driver gives no evidence')
    elif not evidence.findings and not told:
        lines.append(f'  {title}: it has no finding about this trait')
    return lines


def data(trait: str, answer: Answer) -> dict[str, typing.Any]:
    """Return the explanation of a trait on one node as data."""
    return {
        'trait': trait,
        'node': answer.result.node.called,
        'uuid': answer.result.node.uuid,
        'reason': answer.result.reason,
        'providers': [
            {
                'provider': explained.provider.name,
                'uuid': explained.provider.uuid,
                'state': explained.state.name.lower(),
                'claimed_by': list(explained.claimed_by),
                'cause': None
                if explained.cause is None
                else explained.cause.data(),
            }
            for explained in answer.providers or ()
        ],
        'findings': [
            {'driver': e.title, **probe.finding_data(found)}
            for e in answer.evidence
            for found in e.findings or ()
        ]
        if any(e.findings is not None for e in answer.evidence)
        else None,
        'files': [probe.finding_data(line) for line in answer.lines],
        'failure': '; '.join(e.failure for e in answer.evidence if e.failure),
        'notes': list(answer.notes),
    }
