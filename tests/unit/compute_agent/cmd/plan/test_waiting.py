# SPDX-License-Identifier: Apache-2.0
"""The list of what waits is short for a fleet, and exact by its digests."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.cmd.plan import waiting
from compute_agent.cycle.node.node_result import HeldChange
from compute_agent.limits import approval
from compute_agent.tree.node import Node

Kind = approval.Kind


def uuid(number):
    return f'{number:08}-1111-4111-8111-111111111111'


def change(number, kind, text, *thing):
    """One change of a node; its text names the node."""
    node = Node(uuid=uuid(number), name=f'node-{number}')
    return waiting.Waiting(
        node=node,
        change=HeldChange(
            subject=approval.subject(kind, (node.uuid, *thing)),
            text=text.format(node),
        ),
    )


FLEET = [
    *(
        change(n, Kind.FIRST_WRITE, 'the first write to {}')
        for n in range(600)
    ),
    change(7, Kind.CAPACITY, 'lower VCPU of {} from 64 to 8', 'VCPU', '8'),
]


def test_six_hundred_nodes_are_one_line_with_one_digest():
    head, kind, alike, *_, last = waiting.lines(waiting.data(FLEET))
    assert head == '601 changes of 600 nodes wait for approval:'
    writes = waiting.digest(FLEET[:600])
    assert kind == (
        f"  {writes}  first writes to others' providers: 600 changes of 600 "
        'nodes'
    )
    assert alike == (
        f'    {writes}  the first write to node-0 ({uuid(0)}) (the same for '
        '599 other nodes)'
    )
    assert last.endswith(f'compute-agent approve {waiting.digest(FLEET)}')
    assert waiting.chosen(FLEET, [writes]) == FLEET[:600]


@pytest.mark.catches('only the digest of all that waits is known')
def test_each_part_is_chosen_by_its_digest():
    data = waiting.data(FLEET)
    seventh = data['nodes'][7]
    assert [c['kind'] for c in seventh['changes']] == [
        'first_write',
        'capacity',
    ]
    both = [FLEET[7], FLEET[600]]
    assert waiting.chosen(FLEET, [seventh['digest']]) == both
    each = [c['digest'] for c in seventh['changes']]
    assert waiting.chosen(FLEET, each) == both
    assert waiting.chosen(FLEET, each[1:]) == both[1:]
    assert waiting.chosen(FLEET, [data['digest']]) == FLEET


def test_many_different_changes_are_cut_and_printed_for_a_node():
    some = [
        change(1, Kind.NAMES, f'remove trait T{n} from {{}}', f'T{n}')
        for n in range(60)
    ]
    data = waiting.data(some)
    lines = [*waiting.lines(data)]
    assert sum('remove trait' in line for line in lines) == 10
    assert '50 more; "compute-agent approve NODE" lists each' in lines[-2]
    whole = [*waiting.lines(data, ['node-1'])]
    assert sum('remove trait' in line for line in whole) == 60
    assert whole[-1].endswith(f'approve node-1 {data["digest"]}')


def test_nothing_is_chosen_if_one_digest_is_of_other_changes():
    good = waiting.digest(FLEET)
    with pytest.raises(errors.Refused, match=f'digest than {"a" * 16};'):
        waiting.chosen(FLEET, [good, 'a' * 16])
    with pytest.raises(errors.Refused, match='no change waits for approval'):
        waiting.chosen([], [good])


def test_a_digest_covers_the_names_that_go_and_no_amount():
    def first_write(*includes):
        one = FLEET[0]
        held = dataclasses.replace(one.change, includes=frozenset(includes))
        return waiting.digest([dataclasses.replace(one, change=held)])

    falls = [approval.capacity_fall((uuid(0), 'DISK_GB'), n) for n in (1, 2)]
    name = approval.subject(Kind.NAMES, (uuid(0), 'trait', 'HW_A'))
    assert first_write(falls[0]) == first_write(falls[1]) == first_write()
    assert first_write(name) != first_write()


def test_an_empty_list_has_no_line():
    assert [*waiting.lines(waiting.data([]))] == []
