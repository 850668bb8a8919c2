# SPDX-License-Identifier: Apache-2.0
"""The message about a first write names the creator that placement shows."""

import pytest

from compute_agent.ownership import record, takeover
from compute_agent.plan.operations import contents
from compute_agent.tree import inventory, provider, provider_tree

ROOT = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'
DERIVED = provider_tree.derived_uuid(ROOT, 'cn1_gpu')
VCPU = {'VCPU': inventory.Inventory(total=8)}
OURS = frozenset({'COMPUTE_NODE', 'OWNER_NOVA'})
PATH = 'with another [compute_agent] state_path, set that path again'
COMPANION = 'mode = companion'


def waiting(traits, *children, kept=frozenset()):
    """Return the first write to a root whose traits it sets to ``kept``."""
    root = provider.Provider(
        uuid=ROOT, name='cn1', inventories=VCPU, traits=frozenset(traits)
    )
    before = provider.snapshot([root, *children])
    write = contents.SetTraits(
        uuid=ROOT, name='cn1', before=root.traits, names=OURS | kept
    )
    new = record.Record()
    (found,) = takeover.takeovers(ROOT, before, [ROOT], [write], new)
    return found


def child(uuid, *traits):
    return provider.Provider(
        uuid=uuid, name='cn1_gpu', parent_uuid=ROOT, traits=frozenset(traits)
    )


CAPABILITY = 'COMPUTE_VOLUME_EXTEND'


@pytest.mark.parametrize(
    ('traits', 'children', 'kept', 'who'),
    [
        (
            {*OURS, CAPABILITY},
            [],
            {CAPABILITY},
            'nova-compute or another compute-agent (by its trait OWNER_NOVA)',
        ),
        (
            {*OURS, CAPABILITY},
            [],
            set(),
            f'nova-compute (by its trait {CAPABILITY})',
        ),
        # Before its 2026.2, nova-compute does not set OWNER_NOVA.
        (
            {'COMPUTE_NODE', CAPABILITY},
            [],
            set(),
            f'nova-compute (by its trait {CAPABILITY})',
        ),
        (
            {*OURS, 'COMPUTE_STATUS_DISABLED'},
            [],
            {'COMPUTE_STATUS_DISABLED'},
            'nova-compute (by its trait COMPUTE_STATUS_DISABLED)',
        ),
        (
            OURS,
            [child(OTHER, 'COMPUTE_MANAGED_PCI_DEVICE', 'OWNER_NOVA')],
            set(),
            f'nova-compute (by COMPUTE_MANAGED_PCI_DEVICE of cn1_gpu ({OTHER}',
        ),
        (
            OURS,
            [child(DERIVED, 'OWNER_NOVA')],
            set(),
            f'another compute-agent (by the uuid of cn1_gpu ({DERIVED}))',
        ),
        # A companion's child below a root of nova's.
        (
            OURS,
            [child(DERIVED)],
            set(),
            'nova-compute or another compute-agent (by its trait OWNER_NOVA)',
        ),
        ({'OWNER_ZUN'}, [], set(), 'another writer (by its trait OWNER_ZUN)'),
        ((), [], set(), 'another writer created it'),
    ],
)
def test_nova_is_named_where_something_else_than_our_own_trait_tells_it(
    traits, children, kept, who
):
    line = str(waiting(traits, *children, kept=frozenset(kept)))
    assert f'because {who}' in line
    assert (PATH in line) == ('compute-agent' in who)
    assert (COMPANION in line) == ('nova-compute' in who)


@pytest.mark.catches('OWNER_NOVA alone tells that nova-compute created it')
def test_our_own_trait_tells_nothing():
    line = str(waiting(OURS))
    who = 'nova-compute or another compute-agent (by its trait OWNER_NOVA)'
    assert f'because {who} created it' in line


def test_a_line_about_many_nodes_has_the_ways_out_for_all_at_once():
    line = takeover.summary([f'node-{n}' for n in range(600)])
    assert line.startswith('600 nodes wait')
    assert '"compute-agent approve" shows what waits, and allows it' in line
    assert PATH in line
