# SPDX-License-Identifier: Apache-2.0
"""Which resource classes stay and which go, and with which record."""

import pytest

from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind
from compute_agent.tree.inventory import Ratios

ROOT = '00000000-0000-0000-0000-000000000001'
MINE = '00000000-0000-0000-0000-000000000002'
THEIRS = '00000000-0000-0000-0000-000000000003'
PROVIDERS = {'root': ROOT, 'mine': MINE, 'theirs': THEIRS}
FILE = 'file:/etc/nova/provider_config/a.yaml'
IT, OTHER = 'CUSTOM_IT', 'CUSTOM_OTHER'
THERE = inventory.Inventory(
    total=8, reserved=2, max_unit=4, allocation_ratio=16.0
)
NEW = {'total': 9}

# As for traits (see test_ownership_names.py), but that a whole inventory
# (update_inventory) takes away what nobody holds from any provider it is
# given for; declare_inventory gives its own classes.
TABLE = """
                  silent other it  to-other to-it keep  but-keep to-none
ours-held         stays  goes  new goes     new   stays stays    goes
ours-elsewhere    stays  stays new stays    new   stays stays    stays
ours-held-by-none goes   goes  new goes     new   goes  goes     goes
others            stays  stays new taken    new   stays stays    taken
others-held       stays  stays new taken    new   stays stays    taken
"""


def cells():
    columns, *rows = (line.split() for line in TABLE.strip().splitlines())
    return [
        pytest.param(whose, said, fate, id=f'{whose}-{said}-{fate}')
        for whose, *fates in rows
        for said, fate in zip(columns, fates, strict=True)
    ]


def forest(inventories):
    return [
        provider.Provider(
            uuid=uuid,
            name=name,
            parent_uuid=None if name == 'root' else ROOT,
            inventories=inventories,
        )
        for name, uuid in PROVIDERS.items()
    ]


def say(tree, who, said):
    match said:
        case 'other':
            tree.declare_inventory(who, {OTHER: NEW})
        case 'it':
            tree.declare_inventory(who, {IT: NEW})
        case 'to-other':
            tree.update_inventory(who, {OTHER: NEW})
        case 'to-it':
            tree.update_inventory(who, {IT: NEW})
        case 'to-none':
            tree.update_inventory(who, {})
        case 'keep':
            tree.keep_inventory(who)
        case 'but-keep':
            tree.update_inventory(who, {OTHER: NEW})
            tree.keep_inventory(who)


@pytest.mark.parametrize('who', PROVIDERS)
@pytest.mark.parametrize('source', ['driver', FILE])
@pytest.mark.parametrize(('whose', 'said', 'fate'), cells())
def test_a_class_stays_or_goes(whose, said, fate, source, who):
    key = (PROVIDERS[who], Kind.INVENTORY)
    claims = {}
    if whose.endswith('-held'):
        claims = {source: frozenset({IT})}
    elif whose.endswith('elsewhere'):
        claims = {'file:/another.yaml': frozenset({IT})}
    record = Record(
        created=frozenset({MINE}),
        ours={key: frozenset({IT})} if whose.startswith('ours') else {},
        claims={key: claims} if claims else {},
    )
    tree = provider_tree.ProviderTree.from_providers(forest({IT: THERE}))
    with tree.asserting(source):
        say(tree, who, said)

    wanted = ownership.resolve(tree, ROOT, record, Policy())

    records = {'stays': {IT: THERE}, 'new': {IT: whole(9)}}.get(fate, {})
    if said in {'other', 'to-other', 'but-keep'}:
        records = {**records, OTHER: whole(9, ratio=1.0)}
    assert wanted.after[PROVIDERS[who]].inventories == records
    assert wanted.foreign == (
        {key: frozenset({IT})} if fate == 'taken' else {}
    )
    for uuid in set(PROVIDERS.values()) - {PROVIDERS[who]}:
        assert wanted.after[uuid] == tree.baseline[uuid]


def whole(total, ratio=THERE.allocation_ratio):
    return inventory.Inventory(total=total, allocation_ratio=ratio)


def resolve(edit, inventories=None, record=None, **policy):
    """Resolve an edit of the root's inventory; return what it becomes."""
    tree = provider_tree.ProviderTree.from_providers(forest(inventories or {}))
    edit(tree)
    wanted = ownership.resolve(
        tree,
        ROOT,
        record or Record(),
        Policy(**policy),
    )
    return wanted.after[ROOT].inventories


def driver_then_file(tree):
    tree.update_inventory('root', {'VCPU': {'total': 4}})
    with tree.asserting(FILE):
        tree.declare_inventory('root', {IT: NEW})


def file_then_driver(tree):
    with tree.asserting(FILE):
        tree.declare_inventory('root', {IT: NEW})
    tree.update_inventory('root', {'VCPU': {'total': 4}})


def file_between_two_words_of_the_driver(tree):
    tree.update_inventory('root', {'DISK_GB': {'total': 1}})
    with tree.asserting(FILE):
        tree.declare_inventory('root', {IT: NEW})
    tree.update_inventory('root', {'VCPU': {'total': 4}})


@pytest.mark.parametrize(
    'edit',
    [driver_then_file, file_then_driver, file_between_two_words_of_the_driver],
)
def test_the_order_of_sources_is_no_matter(edit):
    assert resolve(edit) == {IT: whole(9, 1.0), 'VCPU': whole(4, 1.0)}


def test_a_class_that_a_silent_file_holds_outlives_a_whole_inventory():
    record = Record(claims={(ROOT, Kind.INVENTORY): {FILE: frozenset({IT})}})
    kept = resolve(
        lambda tree: tree.update_inventory('root', {'VCPU': {'total': 4}}),
        {IT: THERE},
        record,
    )
    assert kept == {IT: THERE, 'VCPU': whole(4, 1.0)}


RATIOS = Ratios(
    forced={'DISK_GB': 1.5, 'PCPU': 1.0}, initial={'VCPU': 4.0, 'PCPU': 2.0}
)


@pytest.mark.parametrize(
    ('rc', 'there', 'record', 'ratio'),
    [
        ('VCPU', THERE, {'total': 9}, 16.0),
        ('VCPU', None, {'total': 9}, 4.0),
        ('MEMORY_MB', None, {'total': 9}, 1.0),
        ('MEMORY_MB', THERE, {'total': 9}, 16.0),
        ('DISK_GB', THERE, {'total': 9}, 1.5),
        ('DISK_GB', None, {'total': 9}, 1.5),
        ('PCPU', None, {'total': 9}, 1.0),
        ('VCPU', THERE, {'total': 9, 'allocation_ratio': 2.0}, 2.0),
        ('DISK_GB', THERE, {'total': 9, 'allocation_ratio': 2.0}, 1.5),
    ],
)
@pytest.mark.parametrize('whole_inventory', [True, False])
def test_a_silent_ratio_is_forced_or_placements_or_the_initial_one(
    rc, there, record, ratio, whole_inventory
):
    def edit(tree):
        if whole_inventory:
            tree.update_inventory('root', {rc: record})
        else:
            tree.declare_inventory('root', {rc: record})

    found = resolve(edit, {rc: there} if there else {}, ratios=RATIOS)
    assert found == {rc: whole(9, ratio)}


def test_a_forced_ratio_leaves_a_class_alone_that_nobody_asserts():
    found = resolve(lambda tree: None, {'DISK_GB': THERE}, ratios=RATIOS)
    assert found == {'DISK_GB': THERE}
