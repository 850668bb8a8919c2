# SPDX-License-Identifier: Apache-2.0
"""Why names and providers go: each rule is told apart, with its sources."""

import pytest

from compute_agent.ownership import leaving, policy
from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.plan.removal import NO_CAUSES, Cause, Reason
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind
from compute_agent.tree.node import Node

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
AGG = '00000000-0000-0000-0000-0000000000a1'
FILE = 'file:/etc/nova/provider_config/a.yaml'
IT = 'CUSTOM_IT'
TRAITS = (ROOT, Kind.TRAIT)

OURS = Record(ours={TRAITS: frozenset({IT})})
LAST = Record(
    ours=OURS.ours,
    claims={TRAITS: {'driver': frozenset({IT}), FILE: frozenset({IT})}},
)


def resolve(edit, record=OURS, authority=(), **orders):
    """Return what is resolved for a root with a trait, and a child."""
    tree = provider_tree.ProviderTree.from_providers(
        [
            provider.Provider(
                uuid=ROOT,
                name='root',
                traits=frozenset({IT}),
                aggregates=frozenset({AGG}),
                inventories={'CUSTOM_GPU': inventory.Inventory(total=1)},
            ),
            provider.Provider(uuid=CHILD, name='child', parent_uuid=ROOT),
        ]
    )
    edit(tree)
    decides = Policy(
        authority={'driver': authority},
        orders=policy.Orders(**orders),
    )
    return ownership.resolve(tree, ROOT, record, decides)


def silent(_tree):
    pass


def report(*names):
    return lambda tree: tree.declare_traits(ROOT, *names)


def no_more(tree):
    """The driver and the file visit, and neither asserts it."""
    tree.declare_traits(ROOT)
    with tree.asserting(FILE):
        tree.declare_traits(ROOT)


def take(tree):
    with tree.asserting(FILE):
        tree.remove_traits(ROOT, IT)


def complete(tree):
    tree.update_traits(ROOT, ['HW_GPU'])


CASES = {
    'no source claimed it lately': (
        {'edit': silent},
        Cause(reason=Reason.UNCLAIMED),
        'no source claims it any more',
    ),
    'its claims ended': (
        {'edit': no_more, 'record': LAST},
        Cause(reason=Reason.UNCLAIMED, sources=('driver', FILE)),
        f'the driver and {FILE} no longer report it',
    ),
    'a source removed it': (
        {'edit': take, 'record': Record()},
        Cause(reason=Reason.REMOVED, sources=(FILE,)),
        f'removed by {FILE}',
    ),
    'the driver decides it': (
        {'edit': report(), 'record': Record(), 'authority': ['CUSTOM_*']},
        Cause(reason=Reason.AUTHORITY, sources=('driver',)),
        'the driver decides it and does not report it',
    ),
    'a complete list lacks it': (
        {'edit': complete, 'record': Record()},
        Cause(reason=Reason.COMPLETE_LIST, sources=('driver',)),
        'not in the complete list of the driver',
    ),
    'it is masked': (
        {'edit': report(IT), 'masked': [IT]},
        Cause(reason=Reason.MASKED),
        'masked by masked_traits',
    ),
    'it is pruned': (
        {'edit': silent, 'record': Record(), 'prune': [IT]},
        Cause(reason=Reason.PRUNED),
        'removed by --prune',
    ),
    'it is ours and pruned': (
        {'edit': silent, 'prune': [IT]},
        Cause(reason=Reason.UNCLAIMED),
        'no source claims it any more',
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_each_rule_is_told_apart(case):
    given, cause, words = CASES[case]
    found = resolve(**given)
    assert found.causes.by_name(*TRAITS) == {IT: cause}
    assert IT not in found.after[ROOT].traits
    assert str(cause) == words


def test_what_stays_has_no_cause():
    assert resolve(report(IT)).causes == NO_CAUSES
    assert resolve(report('HW_GPU'), Record()).causes == NO_CAUSES


def test_classes_and_aggregates_have_causes_too():
    def edit(tree):
        tree.declare_traits(ROOT, IT)
        tree.update_inventory(ROOT, {})
        tree.remove_aggregates(ROOT, AGG)

    causes = resolve(edit).causes
    assert causes.names == {
        (ROOT, Kind.INVENTORY): {
            'CUSTOM_GPU': Cause(
                reason=Reason.COMPLETE_LIST, sources=('driver',)
            )
        },
        (ROOT, Kind.AGGREGATE): {
            AGG: Cause(reason=Reason.REMOVED, sources=('driver',))
        },
    }


CREATED = Record(created=frozenset({ROOT, CHILD}))


def test_a_provider_that_the_driver_removed_says_so():
    causes = resolve(lambda tree: tree.remove(CHILD), CREATED).causes
    assert causes.providers == {
        CHILD: Cause(reason=Reason.REMOVED, sources=('driver',))
    }


def test_the_providers_of_a_departed_node_say_so():
    def edit(tree):
        node = Node(uuid=ROOT, name='root')
        leaving.describe_gone(tree, node, CREATED.created)

    causes = resolve(edit, CREATED).causes
    gone = Cause(reason=Reason.NODE_GONE)
    assert causes.providers == {ROOT: gone, CHILD: gone}
    assert str(gone) == 'its node is gone'


def test_a_provider_that_may_not_be_deleted_has_no_cause():
    assert resolve(lambda tree: tree.remove(CHILD)).causes.providers == {}


def test_a_second_attempt_keeps_the_sources_that_the_first_one_knew():
    """The first attempt has ended the recorded claims before it failed."""
    first = resolve(no_more, LAST).causes
    second = resolve(no_more, OURS).causes
    assert second.names[TRAITS][IT] == Cause(reason=Reason.UNCLAIMED)
    assert second.with_earlier(first) == first
    assert second.with_earlier(NO_CAUSES) == second


def test_a_cause_with_sources_is_not_replaced_by_an_earlier_one():
    def remove(tree):
        tree.remove_traits(ROOT, IT)

    earlier = resolve(no_more, LAST).causes
    causes = resolve(remove, OURS).causes
    assert causes.with_earlier(earlier) == causes


def test_what_is_resolved_can_be_hashed():
    resolved = resolve(no_more, LAST)
    assert hash(resolved.after[ROOT].traits) == hash(frozenset())
