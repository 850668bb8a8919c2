# SPDX-License-Identifier: Apache-2.0
"""The source of each trait of a node, and the facts behind its inventory.

Pure: no I/O, configuration, logging or clock. ``compute-agent probe`` shows
these.
"""

from collections.abc import Iterator, Mapping

from compute_agent import error_text
from compute_agent.virt.values import finding

from . import describe
from . import node as ironic

IRONIC = 'Ironic'
DRIVER = 'this driver'

_PRESENT = finding.Found.PRESENT


def findings(
    node: ironic.Node,
    problems: Mapping[str, describe.Problem],
    manner: describe.Manner,
) -> tuple[finding.Finding, ...]:
    """Return a finding for each trait, then the facts without a trait."""
    decided = sorted(
        (*_present(node), *_left_out(node)),
        key=lambda f: (f.found is not _PRESENT, f.trait or ''),
    )
    return (
        *decided,
        *_inventory(node, problems, manner),
        *(_fact(name, getattr(node, name)) for name in _FACTS),
    )


_FACTS = (
    'name',
    'resource_class',
    'maintenance',
    'power_state',
    'provision_state',
    'instance_uuid',
)


def _present(node: ironic.Node) -> Iterator[finding.Finding]:
    for trait in ironic.reported(node):
        sources = (IRONIC,) if trait in node.traits else ()
        if trait in ironic.CAPABILITIES:
            sources = (*sources, DRIVER)
        yield finding.Finding(
            trait=trait,
            found=_PRESENT,
            fact='node trait' if IRONIC in sources else 'capability',
            sources=sources,
        )


def _left_out(node: ironic.Node) -> Iterator[finding.Finding]:
    for trait, why in ironic.left_out(node).items():
        yield finding.Finding(
            trait=error_text.printable(trait),
            found=finding.Found.UNKNOWN,
            fact='node trait',
            sources=(IRONIC,),
            reason=f'left out: {why}',
        )


def _inventory(
    node: ironic.Node,
    problems: Mapping[str, describe.Problem],
    manner: describe.Manner,
) -> Iterator[finding.Finding]:
    """Yield the node's inventory, or why it has no inventory."""
    rc = node.resource_class
    if not rc or rc in problems:
        why = (
            problems[rc].for_node(node.called)
            if rc
            else 'it has no resource class'
        )
        yield _fact('inventory', None, why)
        return
    skip = manner.skip_in_use
    why_reserved = ironic.why_reserved(node, skip_in_use=skip)
    (name,) = ironic.records(node, skip_in_use=skip)
    yield _fact('inventory', name)
    yield _fact('reserved', why_reserved is not None, why_reserved or '')


def _fact(name: str, value: object, reason: str = '') -> finding.Finding:
    shown = 'none' if value is None else str(value)
    is_word = shown and shown.isprintable() and ' ' not in shown
    return finding.Finding(
        trait=None,
        found=_PRESENT,
        fact=f'{name}={shown}' if is_word else f'{name}={shown!r}',
        sources=(IRONIC,),
        reason=reason,
    )
