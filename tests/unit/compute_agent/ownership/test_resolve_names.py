# SPDX-License-Identifier: Apache-2.0
"""Which traits and aggregates stay and which go: the rules as one table."""

import pytest

from compute_agent.ownership import resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
MINE = '00000000-0000-0000-0000-000000000002'
THEIRS = '00000000-0000-0000-0000-000000000003'

# A name (IT) stands on a provider. A row says whose it is, a column what one
# source says of the provider in this cycle: nothing at all; an empty add_*;
# add_* of another name; add_* of it; update_* to another name; update_* to it;
# keep_*; update_* to another name and then keep_*; remove_* of it. Then IT
#   stays;
#   goes;
#   taken: goes, and the plan marks it as another's;
#   clear: is taken from providers that are ours, stays on others'.
TABLE = """
                  silent empty other it    to-other to-it keep  but-keep remove
ours-held         stays  goes  goes  stays goes     stays stays stays    goes
ours-elsewhere    stays  stays stays stays stays    stays stays stays    stays
ours-held-by-none goes   goes  goes  stays goes     stays goes  goes     goes
others            stays  stays stays stays clear    stays stays stays    taken
others-held       stays  stays stays stays clear    stays stays stays    taken
"""
# The same for traits that few may touch, or that the driver alone decides.
TRAITS_TABLE = """
               silent empty other it    to-other to-it keep  but-keep
disabled       stays  stays stays stays stays    stays stays stays
another-owner  stays  stays stays stays stays    stays stays stays
our-owner-held stays  goes  goes  stays goes     stays stays stays
"""
AUTHORITY_TABLE = """
                  silent empty other it    to-other to-it keep  but-keep remove
decided           stays  goes  goes  stays goes     stays stays stays    goes
decided-held      stays  goes  goes  stays goes     stays stays stays    goes
decided-elsewhere stays  stays stays stays stays    stays stays stays    stays
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


def say(tree, kind, who, said, it, other):
    """Make the calls of one column."""

    def call(verb, *names):
        getattr(tree, f'{verb}_{kind}s')(who, *names)

    match said:
        case 'empty':
            call('add')
        case 'other':
            call('add', other)
        case 'it':
            call('add', it)
        case 'to-other':
            call('update', [other])
        case 'to-it':
            call('update', [it])
        case 'keep':
            call('keep')
        case 'but-keep':
            call('update', [other])
            call('keep')
        case 'remove':
            call('remove', it)


def holds(said, held_before, it, other):
    """What the source holds after the calls of one column."""
    now = {
        'other': {other},
        'it': {it},
        'to-other': {other},
        'to-it': {it},
        'but-keep': {other},
    }.get(said, set())
    kept = said in {'silent', 'keep', 'but-keep'}
    return frozenset(now | (held_before if kept else set()))


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
        record,
        Policy(node_uuid=ROOT, authority=authority),
    )

    if fate == 'clear':
        fate = 'stays' if who == 'theirs' else 'taken'
    names = {it} if fate == 'stays' else set()
    if said in {'other', 'to-other', 'but-keep'}:
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
@pytest.mark.parametrize(('whose', 'said', 'fate'), cells(TABLE))
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
@pytest.mark.parametrize(('whose', 'said', 'fate'), cells(AUTHORITY_TABLE))
def test_a_trait_that_the_driver_alone_decides_needs_no_record(
    whose, said, fate, who
):
    it = SPECIAL[whose]
    check(Kind.TRAIT, whose, said, fate, 'driver', who, it, AUTHORITY)


@pytest.mark.parametrize('said', ['empty', 'other', 'keep'])
@pytest.mark.parametrize('source', [FILE, 'agent'])
def test_another_sources_visit_brings_no_authority(source, said):
    it = SPECIAL['decided']
    check(Kind.TRAIT, 'others', said, 'stays', source, 'root', it, AUTHORITY)
