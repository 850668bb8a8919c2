# SPDX-License-Identifier: Apache-2.0
"""Each case in tests/plans: what is, what should be, what is done in order.

A case holds ``before`` and ``after``, providers by uuid (a provider is named
like its uuid unless it has a name); ``operations``, one line each as ``plan``
prints them; and where they matter ``foreign``, the names of others that go,
``causes``, why names go and why ``providers`` do (a reason, then its sources),
and ``known``, the names that placement knows, with ``notes`` on the others.
"""

import pathlib

import pytest
import yaml

from compute_agent.plan import removal
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, names, provider
from report_client.plan import render

CASES = sorted(pathlib.Path(__file__).parents[4].glob('plans/*.yaml'))
KEYS = {
    'about',
    'before',
    'after',
    'operations',
    'foreign',
    'causes',
    'known',
    'notes',
}


def snapshot(providers):
    return provider.snapshot(
        provider.Provider(
            uuid=uuid,
            name=given.get('name', uuid),
            parent_uuid=given.get('parent'),
            inventories={
                rc: inventory.Inventory.from_record(record)
                for rc, record in given.get('inventories', {}).items()
            },
            traits=frozenset(given.get('traits', ())),
            aggregates=frozenset(given.get('aggregates', ())),
        )
        for uuid, given in providers.items()
    )


def foreign(marked):
    return {
        (uuid, assertion.Kind(kind)): frozenset(some)
        for uuid, kinds in marked.items()
        for kind, some in kinds.items()
    }


def cause(words):
    reason, *sources = words.split()
    return removal.Cause(reason=removal.Reason(reason), sources=tuple(sources))


def causes(given):
    given = dict(given)
    providers = given.pop('providers', {})
    return removal.Causes(
        names={
            (uuid, assertion.Kind(kind)): {
                name: cause(words) for name, words in named.items()
            }
            for uuid, kinds in given.items()
            for kind, named in kinds.items()
        },
        providers={uuid: cause(words) for uuid, words in providers.items()},
    )


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request):
    """One case, its providers made."""
    case = yaml.safe_load(request.param.read_text(encoding='utf-8'))
    assert set(case) <= KEYS
    case['before'] = snapshot(case['before'])
    case['after'] = snapshot(case['after'])
    case['create'], case['said'] = (), []
    if 'known' in case:
        known = names.KnownNames(
            traits=frozenset(case['known']['traits']),
            resource_classes=frozenset(case['known']['classes']),
        )
        case['after'], case['create'], case['said'] = diff.admit(
            case['before'], case['after'], known
        )
    return case


@pytest.mark.catches(
    'parents are deleted before their children', case='delete-leaves-first'
)
@pytest.mark.catches('inventory is written before traits', case='aggregates')
def test_a_case_is_planned_as_written(case):
    changes = diff.operations(
        case['before'],
        case['after'],
        foreign(case.get('foreign', {})),
        causes=causes(case.get('causes', {})),
    )
    lines = [render.line(op) for op in (*case['create'], *changes)]
    assert lines == case['operations']
    assert case['said'] == case.get('notes', [])
    assert ops.simulate(changes, case['before']) == case['after']


def test_every_file_of_the_folder_is_a_case():
    folder = CASES[0].parent
    assert sorted(folder.iterdir()) == CASES
