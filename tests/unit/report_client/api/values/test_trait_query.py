# SPDX-License-Identifier: Apache-2.0
"""Conditions on traits: read, checked, and written as placement takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from report_client.api.values import trait_query

TraitQuery = trait_query.TraitQuery
NAMES = ('A', 'B', 'CUSTOM_C', 'HW_CPU_X86_AVX2', 'X1')


def queries():
    """Queries that contradict nothing."""
    some = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)
    groups = st.lists(
        st.lists(
            st.sampled_from(NAMES), unique=True, min_size=1, max_size=3
        ).map(tuple),
        unique=True,
        max_size=2,
    )

    def fits(parts):
        required, any_of, forbidden = map(tuple, parts)
        try:
            return TraitQuery(
                required=required, any_of=any_of, forbidden=forbidden
            )
        except errors.InvalidName:
            return None

    return st.tuples(some, groups, some).map(fits).filter(bool)


@pytest.mark.parametrize(
    ('texts', 'required', 'any_of', 'forbidden'),
    [
        ([], (), (), ()),
        (['A'], ('A',), (), ()),
        (['A,B', 'X1,A'], ('A', 'B', 'X1'), (), ()),
        (['A,!B'], ('A',), (), ('B',)),
        (['!B', '!B,!A'], (), (), ('B', 'A')),
        ([' A , !B '], ('A',), (), ('B',)),
        (['in:A,B'], (), (('A', 'B'),), ()),
        ([' in: A , B,A '], (), (('A', 'B'),), ()),
        (['in:A', 'in:A', 'in:B'], (), (('A',), ('B',)), ()),
        (['in:A,B', '!A', 'X1'], ('X1',), (('A', 'B'),), ('A',)),
    ],
)
def test_what_is_written_is_what_is_asked(texts, required, any_of, forbidden):
    query = TraitQuery.parse(texts)
    assert query.required == required
    assert query.any_of == any_of
    assert query.forbidden == forbidden


@pytest.mark.parametrize(
    ('texts', 'said'),
    [
        ([''], "a trait is missing in '': write NAME,!NAME"),
        (['A,'], "a trait is missing in 'A,'"),
        (['A,,B'], 'a trait is missing'),
        (['!'], 'a trait is missing'),
        (['in:'], "a trait is missing in 'in:': write in:NAME,NAME"),
        (['in:A,'], 'write in:NAME,NAME'),
        (['! A'], 'a space after "!" in \'! A\': write !A'),
        (['!!A'], 'more than one "!" in \'!!A\': write !A'),
        (['in:A,!B'], '!B cannot follow "in:"'),
        (['!in:A'], '"in:" is in the middle'),
        (['A,in:B'], 'give in:B a separate option'),
        (['a'], "trait 'a' is not a name placement takes"),
        (['hw_cpu_x86_avx2'], 'did you mean HW_CPU_X86_AVX2?'),
        (['A B'], 'not a name placement takes'),
        (['A-B'], 'not a name placement takes'),
        (['A' * 256], 'not a name placement takes'),
        (['IN:A,B'], 'not a name placement takes'),
        (['A,!A'], 'A cannot be required and forbidden at once'),
        (['A', 'B', '!A'], 'A cannot be required and forbidden at once'),
        (['in:A', '!A'], 'A cannot be required and forbidden at once'),
        (['in:A,B', '!A,!B'], 'A and B cannot be required and forbidden'),
    ],
)
def test_what_is_malformed_or_impossible_is_refused_in_one_line(texts, said):
    with pytest.raises(errors.InvalidName) as raised:
        TraitQuery.parse(texts)
    assert said in str(raised.value)
    assert '\n' not in str(raised.value)


@pytest.mark.parametrize(
    ('texts', 'values', 'version'),
    [
        (['A', 'B'], ['A,B'], (1, 18)),
        (['A', '!B'], ['A,!B'], (1, 22)),
        (['!B'], ['!B'], (1, 22)),
        (['in:A,B'], ['in:A,B'], (1, 39)),
        (['in:A,B', '!X1', 'in:X1,A'], ['!X1', 'in:A,B', 'in:X1,A'], (1, 39)),
        ([], [], (1, 18)),
    ],
)
def test_a_query_is_repeated_only_where_placement_needs_it(
    texts, values, version
):
    query = TraitQuery.parse(texts)
    assert query.parameters() == values
    assert query.least_version == version


@given(queries())
def test_what_is_sent_reads_back_as_the_same_query(query):
    assert TraitQuery.parse(query.parameters()) == query


@given(queries())
def test_only_a_query_of_nothing_is_false(query):
    assert bool(query) is bool(query.traits)


def test_each_trait_is_named_once():
    query = TraitQuery.parse(['in:A,B', 'A', 'in:B,X1', '!CUSTOM_C'])
    assert query.traits == ('A', 'B', 'X1', 'CUSTOM_C')


def test_a_query_is_checked_however_it_is_made():
    with pytest.raises(errors.InvalidName, match='not a name'):
        TraitQuery(required=('!A',))
    with pytest.raises(errors.InvalidName, match='names no trait'):
        TraitQuery(any_of=((),))


@pytest.mark.parametrize(
    'make',
    [
        lambda: TraitQuery.parse('A'),
        lambda: TraitQuery(required='A'),
        lambda: TraitQuery(any_of=('AB',)),
        lambda: TraitQuery(forbidden='A'),
    ],
)
def test_a_bare_string_is_no_collection(make):
    with pytest.raises(errors.InvalidName, match='is one string where'):
        make()
