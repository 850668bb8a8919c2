# SPDX-License-Identifier: Apache-2.0
"""What "why not" says is what placement does, whatever there is and is asked.

A cloud and a request are generated: nested trees, providers that share with
them, traits, amounts, what is used of them, aggregates; groups, conditions on
traits, aggregates and trees. Placement is real, and it alone is believed.
"""

import dataclasses
import os
import re
import time

import pytest
from examples import examples
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st
from small_cloud import SHARES, Made, build

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.api.values.provider_query import MemberOf
from report_client.candidates import candidates
from report_client.candidates.values import requirements
from report_client.candidates.values.query import (
    Group,
    Request,
    TraitQuery,
    merge_groups,
)
from report_client.candidates.values.requirements import Kind
from report_client.candidates.why_not import search, why_not
from report_client.http.messages import codec, paths

pytestmark = pytest.mark.long

CLASSES = ('DISK_GB', 'MEMORY_MB', 'VCPU')
TRAITS = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
AGGREGATES = tuple(f'aaaaaaaa-0000-4000-8000-00000000000{n}' for n in '12')
NAMES = ('cn1', 'cn1-1', 'cn1-2', 'cn2', 'cn2-1', 'ss1', 'ss1-1', 'ss2')


def uuid_of(name):
    return f'{NAMES.index(name):08}-0000-4000-8000-000000000000'


def root_of(one):
    return one.name.partition('-')[0]


# --- clouds -------------------------------------------------------------------


def records():
    """What there is of a class: mostly plain, and odd in each way at times."""
    return st.fixed_dictionaries(
        {
            'total': st.sampled_from((2, 4, 8, 16)),
            'reserved': st.sampled_from((0, 0, 0, 1)),
            'min_unit': st.sampled_from((1, 1, 1, 2)),
            'max_unit': st.sampled_from((2, 16, 16, 16)),
            'step_size': st.sampled_from((1, 1, 1, 2)),
            'allocation_ratio': st.sampled_from((1.0, 1.0, 2.0)),
        }
    )


def rarely():
    """Whether a child shares, of whatever tree it is."""
    return st.sampled_from((False, False, False, True))


@st.composite
def providers(draw, name, parent):
    classes = draw(st.sets(st.sampled_from(CLASSES)))
    if parent is None and name.startswith('cn'):
        classes |= {'VCPU'}
    traits = draw(st.frozensets(st.sampled_from(TRAITS)))
    shares = name.startswith('ss') if parent is None else draw(rarely())
    if shares:
        traits |= {SHARES}
    share = st.sampled_from((0, 0, 0, 1, 4))
    used = {rc: draw(share) for rc in sorted(classes)}
    return Made(
        name=name,
        uuid=uuid_of(name),
        parent=parent,
        inventories={rc: draw(records()) for rc in sorted(classes)},
        used={rc: n for rc, n in used.items() if n},
        traits=traits,
        aggregates=draw(st.frozensets(st.sampled_from(AGGREGATES))),
    )


@st.composite
def clouds(draw):
    """Providers, parents before children; a grandchild now and then."""
    found = []
    for name in NAMES:
        root = name.partition('-')[0]
        if name == root:
            wanted = draw(st.booleans()) or root == 'cn1'
            above = [None] if wanted else []
        else:
            above = [one.name for one in found if root_of(one) == root]
            if not draw(st.booleans()):
                above = []
        if above:
            found.append(draw(providers(name, draw(st.sampled_from(above)))))
    return found


# --- requests -----------------------------------------------------------------


@st.composite
def conditions(draw):
    """Required, forbidden, any of: few of them, and no contradiction."""
    signs = st.sampled_from('+-')
    terms = draw(st.dictionaries(st.sampled_from(TRAITS), signs, max_size=2))
    few = st.sampled_from(((), (), (TRAITS[:2],), (TRAITS[1:],)))
    forbidden = tuple(t for t, sign in sorted(terms.items()) if sign == '-')
    return TraitQuery(
        required=tuple(t for t, sign in sorted(terms.items()) if sign == '+'),
        any_of=tuple(g for g in draw(few) if not set(g) <= set(forbidden)),
        forbidden=forbidden,
    )


def groups(name):
    some = st.sampled_from((AGGREGATES[:1], AGGREGATES[1:], AGGREGATES))
    member = st.builds(MemberOf, aggregates=some, forbidden=st.booleans())
    return st.builds(
        Group,
        name=st.just(name),
        resources=st.dictionaries(
            st.sampled_from(CLASSES),
            st.sampled_from((1, 1, 1, 2, 2, 9)),
            min_size=1,
            max_size=2,
        ),
        traits=st.just(TraitQuery()) | conditions(),
        member_of=st.just(()) | st.tuples(member),
        in_tree=st.sampled_from((None, None, None, None, uuid_of('cn1'))),
    )


@st.composite
def requests(draw):
    names = draw(
        st.sampled_from(([''], [''], ['', '1'], ['1', '_TWO'], ['', '1', '2']))
    )
    some = [draw(groups(name)) for name in names]
    suffixes = tuple(name for name in names if name)
    subtrees = ()
    if suffixes and draw(st.booleans()):
        subtrees = (suffixes,)
        if draw(st.booleans()):
            # A provider that gives nothing, and stands with the others.
            some.append(Group(name='_TOP', traits=draw(conditions())))
            some = [group for group in some if group.parameters()]
            beside = tuple(group.name for group in some if group.name)
            subtrees = (beside,)
    several = sum(bool(group.name) for group in some) > 1
    roots = st.sampled_from(
        (
            TraitQuery(),
            TraitQuery(),
            TraitQuery(),
            TraitQuery(required=('CUSTOM_A',)),
            TraitQuery(forbidden=('CUSTOM_B',)),
        )
    )
    policies = ('none', 'isolate') if several else (None, 'none', 'isolate')
    return Request(
        groups=merge_groups(some),
        group_policy=draw(st.sampled_from(policies)),
        limit=draw(st.sampled_from((None, None, 1))),
        root_required=draw(roots),
        same_subtree=subtrees,
    )


# --- what is believed besides placement's answers ----------------------------


def reaches(cloud, share, root):
    """Whether a sharing provider and a tree are in one aggregate."""
    tree = [one for one in cloud if root_of(one) == root]
    return share.shares and any(
        share.aggregates & one.aggregates for one in tree
    )


def could_join(cloud, target, answer):
    """Whether in one of the ways there are only those it can be together with.

    It itself is in none, for nothing is asked any more that only it has.
    """
    by_uuid = {one.uuid: one for one in cloud}
    own = root_of(target)
    tree = [one for one in cloud if root_of(one) == own]
    for way in answer.allocations:
        users = [by_uuid[uuid] for uuid in way.resources]
        others = {
            root_of(one) for one in users if not reaches(cloud, one, own)
        }
        if not others:
            return True
        if len(others) == 1:
            (other,) = others
            if any(reaches(cloud, one, other) for one in tree):
                return True
    return False


def bound(parts):
    amounts = sum(part.kind is Kind.RESOURCE for part in parts)
    others = len(parts) - amounts
    return 3 + sum((n + 1) * (n + 2) // 2 for n in (amounts, others))


# How many examples; more of them are drawn at random.
EXAMPLES = int(os.environ.get('CANDIDATES_EXAMPLES', '25'))
RANDOM = EXAMPLES > 25
# Of which provider it is asked.
WHICH = st.integers(0, len(NAMES) - 1)
NOTHING = why_not.Explanation()
LENIENT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def build_anew(placement, cloud):
    placement.reset()
    for trait in TRAITS:
        placement.put(f'/traits/{trait}')
    build(placement.others, cloud)


def rows_of(service):
    return {
        row.name: row
        for row in codec.listed_providers(service.get(paths.PROVIDERS))
    }


def explained(service, request_, row):
    """Return the explanation; nothing where none could be given, and why."""
    try:
        found = why_not.WhyNot(service, time.time).explain(request_, row)
    except agent_errors.UnknownState as exc:
        return None, str(exc)
    return found, '; '.join(found.doubts)


def check_failures(ask, request_, one, failures):
    """Whether placement lets the provider out for what is named, and alone."""
    every = requirements.split(request_)
    amounts = [part for part in every if part.kind is Kind.RESOURCE]
    named = [part for f in failures for part in f.requirements]
    assert len(set(named)) == len(named)
    for failure in failures:
        assert failure.why
        some = failure.requirements
        if set(named).isdisjoint(amounts):
            some = [*amounts, *some]
        if set(some) & set(amounts):
            alone = ask(requirements.restricted_to(request_, some))
            assert one.uuid not in alone.summaries


def check_rest(ask, request_, cloud, one, failures):
    """Whether nothing else keeps it out."""
    named = [part for f in failures for part in f.requirements]
    rest = requirements.without(request_, named)
    if rest is not None:
        left = ask(rest)
        assert one.uuid in left.summaries or could_join(cloud, one, left)


def asked_for(placement, cloud):
    """Return how often candidates were asked for, for a verdict or to count."""
    asked = [r for r in placement.requests if '/allocation_c' in r.path]
    counts = [r for r in asked if 'same_subtree=_MORE' in r.path]
    assert not counts or any(one.shares for one in cloud)
    return len(asked) - len(counts), len(counts)


@settings(
    deadline=None,
    max_examples=examples(EXAMPLES),
    derandomize=not RANDOM,  # the same clouds in every run
    suppress_health_check=LENIENT,
)
@given(cloud=clouds(), request_=requests(), which=WHICH)
def test_it_is_silent_for_candidates_and_right_for_all_others(
    placement, service, cloud, request_, which
):
    build_anew(placement, cloud)
    ask = candidates.Candidates(service).ask
    every = requirements.split(request_)
    note(request_.path())
    try:
        answer = ask(requirements.restricted_to(request_, every))
    except errors.ServerFault:
        event('placement fails inside')
        return
    one = cloud[which % len(cloud)]
    rows = rows_of(service)
    placement.clear()
    found, doubts = explained(service, request_, rows[one.name])
    note(f'{one.name}: {found} {doubts}')
    event(f'doubts: {re.sub("[0-9]+|:.*", "", doubts)}')
    asked, counts = asked_for(placement, cloud)
    assert asked <= (bound(every) if found != NOTHING else 1)
    assert counts <= 5 * asked
    if found is None:
        assert one.uuid not in answer.summaries
        assert 'not known' in doubts
        return
    assert (found == NOTHING) is (one.uuid in answer.summaries)
    assert {f.nearest for f in found.failures} <= set(rows)
    check_failures(ask, request_, one, found.failures)
    if found.failures and not doubts:
        check_rest(ask, request_, cloud, one, found.failures)


@settings(
    deadline=None,
    max_examples=examples(EXAMPLES // 2),
    derandomize=not RANDOM,
    suppress_health_check=LENIENT,
)
@given(
    cloud=clouds(),
    request_=requests(),
    which=WHICH,
    cap=st.integers(1, 3),
    breadth_first=st.booleans(),
)
def test_an_answer_that_is_cut_short_is_held_against_nothing(
    placement, service, capped, cloud, request_, which, cap, breadth_first
):
    build_anew(placement, cloud)
    ask = candidates.Candidates(service).ask
    note(request_.path())
    one = cloud[which % len(cloud)]
    row = rows_of(service)[one.name]
    whole, unsure = explained(service, request_, row)
    capped(cap, breadth_first=breadth_first)
    found, doubts = explained(service, request_, row)
    capped(None)
    note(f'{one.name}: {found} {doubts}; without a cap {whole} {unsure}')
    event(f'capped: {found is None} {re.sub("[0-9]+|:.*", "", doubts)}')
    if not doubts and not unsure:
        assert found == whole
    if found is None:
        assert 'max_allocation_candidates' in doubts or unsure
    elif found.failures:
        assert whole != NOTHING
        check_failures(ask, request_, one, found.failures)


def is_candidate(service, request_, row):
    """Whether it is; it is not for what placement fails at."""
    try:
        answer = candidates.Candidates(service).ask(request_)
    except errors.ServerFault:
        return False
    return row.uuid in answer.summaries


@settings(
    deadline=None,
    max_examples=examples(EXAMPLES // 2),
    derandomize=not RANDOM,
    suppress_health_check=LENIENT,
)
@given(cloud=clouds(), request_=requests())
def test_what_is_certain_fails_however_much_there_is(
    placement, service, cloud, request_
):
    plenty = [
        dataclasses.replace(
            one, inventories=dict.fromkeys(one.inventories, 1000), used={}
        )
        for one in cloud
    ]
    build_anew(placement, plenty)
    around = why_not.NeighbourhoodReader(service, time.time)
    every = requirements.split(request_)
    amounts = [part for part in every if part.kind is Kind.RESOURCE]
    note(request_.path())
    for row in codec.listed_providers(service.get(paths.PROVIDERS)):
        near = around.read(row)
        for part in every:
            asked = request_.amounts.get(part.group, {})
            if search.certainly_fails(part, near, asked):
                note(f'{row.name}: {part.text}')
                request = requirements.restricted_to(
                    request_, [*amounts, part]
                )
                assert not is_candidate(service, request, row)
