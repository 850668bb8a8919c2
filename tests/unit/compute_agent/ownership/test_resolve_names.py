# SPDX-License-Identifier: Apache-2.0
"""Which traits and aggregates stay and which go: the rules as one table."""

import uuid as uuidlib

import pytest
from call_counts import calls_of

from compute_agent.ownership import claims, resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
MINE = '00000000-0000-0000-0000-000000000002'
THEIRS = '00000000-0000-0000-0000-000000000003'

# A name (IT) stands on a provider. A row says whose it is, a column what one
# source says of the provider in this cycle: nothing at all; add_* of nothing,
# of another name or of it; remove_* of another name or of it; declare_* of
# nothing, of another name or of it; update_* to another name or to it; keep_*;
# update_* or declare_* of another name and then keep_*. Then IT
#   stays;
#   goes;
#   taken: goes, and the plan marks it as another's;
#   clear: is taken from providers that are ours, stays on others'.
# add_* and remove_* of other names, and add_* of none, are as silence.
ONLY = """
                  silent add-none add-other add-it remove-other remove-it
ours-held         stays  stays    stays     stays  stays        goes
ours-elsewhere    stays  stays    stays     stays  stays        stays
ours-held-by-none goes   goes     goes      stays  goes         goes
others            stays  stays    stays     stays  stays        taken
others-held       stays  stays    stays     stays  stays        taken
"""
TABLE = """
                  none  other it    to-other to-it keep  but-keep so-keep
ours-held         goes  goes  stays goes     stays stays stays    stays
ours-elsewhere    stays stays stays stays    stays stays stays    stays
ours-held-by-none goes  goes  stays goes     stays goes  goes     goes
others            stays stays stays clear    stays stays stays    stays
others-held       stays stays stays clear    stays stays stays    stays
"""
# The same for traits that few may touch, or that the driver alone decides.
TRAITS_TABLE = """
               silent add-other none  other it    to-other to-it keep  but-keep
disabled       stays  stays     stays stays stays stays    stays stays stays
another-owner  stays  stays     stays stays stays stays    stays stays stays
our-owner-held stays  stays     goes  goes  stays goes     stays stays stays
"""
AUTHORITY_ONLY = """
                  silent add-none add-other add-it remove-other remove-it
decided           stays  stays    stays     stays  stays        goes
decided-held      stays  stays    stays     stays  stays        goes
decided-elsewhere stays  stays    stays     stays  stays        stays
"""
AUTHORITY_TABLE = """
                  none  other it    to-other to-it keep  but-keep so-keep
decided           goes  goes  stays goes     stays stays stays    stays
decided-held      goes  goes  stays goes     stays stays stays    stays
decided-elsewhere stays stays stays stays    stays stays stays    stays
"""
AUTHORITY = ('HW_CPU_*', 'COMPUTE_TRUSTED_CERTS')

NAMES = {
    Kind.TRAIT: ('CUSTOM_IT', 'CUSTOM_OTHER'),
    Kind.AGGREGATE: (
        '00000000-0000-0000-0000-0000000000a1',
        '00000000-0000-0000-0000-0000000000a2',
    ),
}
SPECIAL = {
    'disabled': 'COMPUTE_STATUS_DISABLED',
    'another-owner': 'OWNER_CYBORG',
    'our-owner-held': 'OWNER_NOVA',
    'decided': 'HW_CPU_X86_AVX2',
    'decided-held': 'COMPUTE_TRUSTED_CERTS',
    'decided-elsewhere': 'HW_CPU_X86_AVX2',
}
ADDS_OTHER = {'add-other', 'other', 'to-other', 'but-keep', 'so-keep'}
FILE = 'file:/etc/nova/provider_config/a.yaml'
SOURCES = ['driver', FILE, 'agent']
PROVIDERS = {'root': ROOT, 'mine': MINE, 'theirs': THEIRS}


def cells(table):
    columns, *rows = (line.split() for line in table.strip().splitlines())
    return [
        pytest.param(whose, said, fate, id=f'{whose}-{said}-{fate}')
        for whose, *fates in rows
        for said, fate in zip(columns, fates, strict=True)
    ]


def forest(**contents):
    """Root with two children, each with these contents."""
    return [
        provider.Provider(uuid=ROOT, name='root', **contents),
        provider.Provider(
            uuid=MINE, name='mine', parent_uuid=ROOT, **contents
        ),
        provider.Provider(
            uuid=THEIRS, name='theirs', parent_uuid=ROOT, **contents
        ),
    ]


# The calls of each column.
CALLS = {
    'silent': [],
    'add-none': ['add'],
    'add-other': ['add other'],
    'add-it': ['add it'],
    'remove-other': ['remove other'],
    'remove-it': ['remove it'],
    'none': ['declare'],
    'other': ['declare other'],
    'it': ['declare it'],
    'to-other': ['update other'],
    'to-it': ['update it'],
    'keep': ['keep'],
    'but-keep': ['update other', 'keep'],
    'so-keep': ['declare other', 'keep'],
}


def say(tree, kind, who, said, it, other):
    """Make the calls of one column."""
    for call in CALLS[said]:
        verb, *words = call.split()
        names = [{'it': it, 'other': other}[word] for word in words]
        given = [names] if verb == 'update' else names
        getattr(tree, f'{verb}_{kind}s')(who, *given)


def holds(said, held_before, it, other):
    """What the source holds after the calls of one column."""
    now = set()
    if said in ADDS_OTHER:
        now = {other}
    elif said in {'add-it', 'it', 'to-it'}:
        now = {it}
    if said in {'none', 'other', 'it', 'to-other', 'to-it', 'remove-it'}:
        held_before = set()
    return frozenset(now | held_before)


def check(kind, whose, said, fate, source, who, it, authority=()):
    """Play one cell of a table and see that it comes out as written."""
    key, other = (PROVIDERS[who], kind), NAMES[kind][1]
    claims = {}
    if whose.endswith('-held'):
        claims = {source: frozenset({it})}
    elif whose.endswith('elsewhere'):
        claims = {'file:/another.yaml': frozenset({it})}
    record = Record(
        created=frozenset({MINE}),
        ours={key: frozenset({it})} if whose.startswith('our') else {},
        claims={key: claims} if claims else {},
    )
    tree = provider_tree.ProviderTree.from_providers(
        forest(**{f'{kind}s': frozenset({it})})
    )
    with tree.asserting(source):
        say(tree, kind, who, said, it, other)

    wanted = resolve.resolve(
        tree,
        ROOT,
        record,
        Policy(authority={'driver': authority}),
    )

    if fate == 'clear':
        fate = 'stays' if who == 'theirs' else 'taken'
    names = {it} if fate == 'stays' else set()
    if said in ADDS_OTHER:
        names |= {other}
    after = wanted.after[PROVIDERS[who]]
    assert after.names_of(kind) == names
    assert wanted.foreign == (
        {key: frozenset({it})} if fate == 'taken' else {}
    )
    now = {**record.claims, **wanted.claims}.get(key, {})
    assert now.get(source, frozenset()) == holds(
        said, set(claims.get(source, ())), it, other
    )
    for uuid in set(PROVIDERS.values()) - {PROVIDERS[who]}:
        assert wanted.after[uuid] == tree.baseline[uuid]


@pytest.mark.parametrize('who', PROVIDERS)
@pytest.mark.parametrize('source', SOURCES)
@pytest.mark.parametrize('kind', list(NAMES))
@pytest.mark.parametrize(('whose', 'said', 'fate'), cells(ONLY) + cells(TABLE))
def test_a_name_stays_or_goes(whose, said, fate, kind, source, who):
    check(kind, whose, said, fate, source, who, NAMES[kind][0])


@pytest.mark.catches(
    'an exclusive list removes COMPUTE_STATUS_DISABLED',
    case='disabled-to-other-stays-driver-root',
)
@pytest.mark.parametrize('who', PROVIDERS)
@pytest.mark.parametrize('source', SOURCES)
@pytest.mark.parametrize(('whose', 'said', 'fate'), cells(TRAITS_TABLE))
def test_a_trait_by_which_others_decide_goes_only_if_it_is_ours(
    whose, said, fate, source, who
):
    check(Kind.TRAIT, whose, said, fate, source, who, SPECIAL[whose])


@pytest.mark.parametrize('who', PROVIDERS)
@pytest.mark.parametrize(
    ('whose', 'said', 'fate'), cells(AUTHORITY_ONLY) + cells(AUTHORITY_TABLE)
)
def test_a_trait_that_the_driver_alone_decides_needs_no_record(
    whose, said, fate, who
):
    it = SPECIAL[whose]
    check(Kind.TRAIT, whose, said, fate, 'driver', who, it, AUTHORITY)


@pytest.mark.parametrize('said', ['none', 'other', 'keep'])
@pytest.mark.parametrize('source', [FILE, 'agent'])
def test_another_sources_visit_brings_no_authority(source, said):
    it = SPECIAL['decided']
    check(Kind.TRAIT, 'others', said, 'stays', source, 'root', it, AUTHORITY)


def test_names_that_nothing_concerns_are_not_decided_one_by_one():
    tree = provider_tree.ProviderTree.from_providers(
        provider.Provider(
            uuid=str(uuidlib.UUID(int=n)),
            name=f'n{n}',
            parent_uuid=None if n == 1 else ROOT,
        )
        for n in range(1, 100)
    )
    tree.declare_traits('n50', 'CUSTOM_A')

    def plan():
        resolve.resolve(tree, ROOT, Record(), Policy())

    assert calls_of(claims.decide, plan) == 1


def test_names_that_are_as_recorded_are_not_decided():
    """So it is for nearly all nodes after a restart."""
    tree = provider_tree.ProviderTree.from_providers(
        [provider.Provider(uuid=ROOT, name='root', traits=frozenset('AB'))]
    )
    tree.update_traits('root', ['A', 'B'])
    key = (ROOT, Kind.TRAIT)
    record = Record(
        ours={key: frozenset('AB')}, claims={key: {'driver': frozenset('AB')}}
    )

    def plan():
        resolve.resolve(tree, ROOT, record, Policy())

    assert calls_of(claims.decide, plan) == 0
    tree.update_traits('root', ['A'])
    assert calls_of(claims.decide, plan) == 1
