# SPDX-License-Identifier: Apache-2.0
"""All rules of the contract, by number.

A new rule gets the next number, and the version of the contract that has it
first. The number of a rule stays with it for ever; a rule that is dropped
leaves its number unused. ``docs/driver-contract.md`` has the same table; a test compares them.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence

from ...values.seam import Fault
from ..capability import Capability
from ..trial import Trial
from . import (
    after_changes,
    changes,
    claims,
    guests,
    lifetime,
    many_nodes,
    other_writers,
    repeatable,
    syncing,
    transports,
    unknown,
    words,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    :ivar number: CA and three digits
    :ivar title: the rule as a sentence without its full stop
    :ivar check: raises ``Broken``, ``DoesNotApply`` or ``NotTried``
    :ivar needs: the capability of the drivers that the rule is for; None if it
        is for all drivers
    :ivar since: the version of the contract that has it first
    """

    number: str
    title: str
    check: Callable[[Trial], None]
    needs: Capability | None = None
    since: str = '1.0'

    @property
    def slug(self) -> str:
        """The number and the title, as a name of a test."""
        words = re.findall(r'[a-z0-9_]+', self.title.lower())
        return '-'.join([self.number, *words])

    def __str__(self) -> str:
        return f'{self.number} ({self.title})'


RULES: Sequence[Rule] = (
    Rule(
        number='CA001',
        title='The driver is made from its options, without remote calls',
        check=lifetime.made_from_options,
    ),
    Rule(
        number='CA002',
        title='Names, uuids and titles of the nodes are valid and unique',
        check=lifetime.nodes_have_names,
    ),
    Rule(
        number='CA003',
        title='One cycle brings all that the driver says to placement',
        check=syncing.converges,
    ),
    Rule(
        number='CA004',
        title='The second cycle writes nothing',
        check=syncing.second_cycle_is_quiet,
    ),
    Rule(
        number='CA005',
        title='The first cycle after a restart writes nothing',
        check=syncing.restart_is_quiet,
    ),
    Rule(
        number='CA006',
        title='The names of other writers stay',
        check=other_writers.names_stay,
    ),
    Rule(
        number='CA007',
        title='The providers of other writers stay as they are',
        check=other_writers.providers_stay,
    ),
    Rule(
        number='CA008',
        title='A name that another writer removes comes back',
        check=syncing.repairs,
    ),
    Rule(
        number='CA009',
        title='A call that takes too long removes nothing',
        check=unknown.matrix(Fault.TIMEOUT),
    ),
    Rule(
        number='CA010',
        title='A call that fails removes nothing',
        check=unknown.matrix(Fault.EXCEPTION),
    ),
    Rule(
        number='CA011',
        title='Half of an answer removes nothing',
        check=unknown.matrix(Fault.HALF),
    ),
    Rule(
        number='CA012',
        title='An empty answer removes nothing',
        check=unknown.matrix(Fault.EMPTY),
    ),
    Rule(
        number='CA013',
        title='Garbage removes nothing',
        check=unknown.matrix(Fault.GARBAGE),
    ),
    Rule(
        number='CA014',
        title='An outage of a source is reported',
        check=unknown.failure_is_told,
    ),
    Rule(
        number='CA015',
        title='A node that the source has is never denied',
        check=unknown.not_denied,
    ),
    Rule(
        number='CA016',
        title='Equal worlds have equal descriptions',
        check=repeatable.deterministic,
    ),
    Rule(
        number='CA017',
        title='A change of the source is reported in the next cycle',
        check=repeatable.change_is_seen,
    ),
    Rule(
        number='CA018',
        title='Errors and notes are lines for the operator',
        check=words.messages_are_lines,
    ),
    Rule(
        number='CA019',
        title='Traits and resource classes are standard or custom',
        check=words.names_are_known,
    ),
    Rule(
        number='CA020',
        title='The name of a child has the name of its root',
        check=words.children_are_named_after_roots,
    ),
    Rule(
        number='CA021',
        title='No thread of the driver outlives close',
        check=lifetime.close_ends_threads,
    ),
    Rule(
        number='CA022',
        title='Events wake the agent until close',
        check=lifetime.events_wake,
        needs=Capability.EVENTS,
    ),
    Rule(
        number='CA023',
        title='Equal facts have equal descriptions',
        check=repeatable.facts_are_honest,
        needs=Capability.FACTS,
    ),
    Rule(
        number='CA024',
        title='The authority covers only what the driver decides',
        check=claims.authority_is_narrow,
        needs=Capability.AUTHORITY,
    ),
    Rule(
        number='CA025',
        title='Each trait has evidence',
        check=claims.evidence_of_each_trait,
        needs=Capability.EVIDENCE,
    ),
    Rule(
        number='CA026',
        title='Options are documented and in the sample',
        check=words.options_are_documented,
        needs=Capability.OPTIONS,
    ),
    Rule(
        number='CA027',
        title='A wrong option is refused when the driver is made',
        check=words.wrong_options_are_refused,
        needs=Capability.OPTIONS,
    ),
    Rule(
        number='CA028',
        title='The calls of a cycle grow in step with the nodes',
        check=many_nodes.cost_is_linear,
        needs=Capability.SEVERAL_NODES,
    ),
    Rule(
        number='CA029',
        title='A node that left its source is not said to exist',
        check=many_nodes.departed_nodes,
        needs=Capability.SEVERAL_NODES,
    ),
    Rule(
        number='CA030',
        title='Nodes described side by side are described the same',
        check=many_nodes.parallel_is_equal,
        needs=Capability.SEVERAL_NODES,
    ),
    Rule(
        number='CA031',
        title='A reshape keeps every allocation',
        check=claims.reshape_keeps_allocations,
        needs=Capability.RESHAPE,
    ),
    Rule(
        number='CA032',
        title='In an unchanged world, changes names no node and costs little',
        check=changes.unchanged_world,
        needs=Capability.CHANGES,
    ),
    Rule(
        number='CA033',
        title='Nodes that changes names are described as it read them',
        check=changes.named_nodes_are_described,
        needs=Capability.CHANGES,
    ),
    Rule(
        number='CA034',
        title='The next list is right, whatever changes told',
        check=changes.next_list_is_right,
        needs=Capability.CHANGES,
    ),
    Rule(
        number='CA035',
        title='A node that left its source is not named by changes',
        check=changes.departed_node_is_not_named,
        needs=Capability.CHANGES,
    ),
    Rule(
        number='CA036',
        title='A failure in changes is told, and no change is lost',
        check=changes.failure_is_raised,
        needs=Capability.CHANGES,
    ),
    Rule(
        number='CA037',
        title='After a change, placement has what a fresh driver gives it',
        check=after_changes.world_changes,
    ),
    Rule(
        number='CA038',
        title='A value that changes in an answer leaves nothing behind',
        check=after_changes.answers_change,
    ),
    Rule(
        number='CA039',
        title='A failing server removes nothing, and no call waits for ever',
        check=transports.servers_fail,
    ),
    Rule(
        number='CA040',
        title='The time of day decides nothing of a description',
        check=guests.time_passes,
    ),
    Rule(
        number='CA041',
        title='Twenty cycles leave nothing behind in the process',
        check=guests.cycles_leave_nothing,
    ),
    Rule(
        number='CA042',
        title='The driver leaves the process as it is',
        check=guests.process_stays,
    ),
    Rule(
        number='CA043',
        title='A description ends with the call',
        check=guests.description_ends,
    ),
    Rule(
        number='CA044',
        title='Amounts are those that the author states',
        check=syncing.amounts_are_as_stated,
    ),
)

BY_NUMBER: Mapping[str, Rule] = {one.number: one for one in RULES}
