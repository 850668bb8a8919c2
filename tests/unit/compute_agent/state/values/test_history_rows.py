# SPDX-License-Identifier: Apache-2.0
"""An entry is the same after it was kept, and has no secrets."""

import dataclasses

import pytest

from compute_agent.plan.change import Change
from compute_agent.plan.history_entry import Entry, Result, What
from compute_agent.plan.removal import Cause, Reason
from compute_agent.state import state as state_module
from compute_agent.state.values import history_rows
from compute_agent.tree import inventory
from compute_agent.tree.assertion import Kind

NODE = '11111111-1111-4111-8111-111111111111'
RECORD = inventory.Inventory(total=8, reserved=1, allocation_ratio=1.5)


def change(kind=Kind.TRAIT, name='CUSTOM_A', **more):
    return Change(uuid=NODE, kind=kind, name=name, **more)


ENTRIES = [
    Entry(what=What.STARTED, by='daemon', text='process 7'),
    Entry(
        what=What.DELETED,
        uuid=NODE,
        node_uuid=NODE,
        provider='cn1\n',
        by='sync by alice',
        changes=(
            change(
                None,
                '',
                existed=True,
                exists=False,
                cause=Cause(reason=Reason.NODE_GONE),
            ),
        ),
        approved={'': 'bob'},
    ),
    Entry(
        what=What.INVENTORIES,
        uuid=NODE,
        by='daemon',
        result=Result.REFUSED,
        changes=(
            change(
                Kind.INVENTORY, 'VCPU', existed=True, exists=True,
                before=RECORD, after=RECORD.fully_reserved(),
            ),
            change(
                Kind.INVENTORY, 'PCPU', existed=True, exists=False,
                before=RECORD,
                cause=Cause(
                    reason=Reason.UNCLAIMED, sources=('driver', 'file:/a.yaml')
                ),
            ),
        ),
        restored=frozenset({'VCPU'}),
        text='why',
    ),
]  # fmt: skip


@pytest.mark.parametrize('entry', ENTRIES, ids=lambda e: e.what.value)
def test_an_entry_is_read_as_it_was_written(entry):
    state = state_module.State.in_memory('here')
    state.history.add([entry])
    (past,) = state.history.entries()
    assert past.entry == entry
    assert [c.cause for c in past.entry.changes] == [
        c.cause for c in entry.changes
    ]
    state.close()


def test_a_password_in_a_url_is_not_kept():
    entry = Entry(
        what=What.OUTAGE,
        text='no answer from http://admin:s3cret@keystone/v3 and so on',
    )
    content = history_rows.text(entry)
    assert 's3cret' not in content
    assert 'keystone/v3' in content


def test_a_text_is_one_line_of_bounded_length():
    entry = dataclasses.replace(ENTRIES[0], text='a\nb\x1b' + 'c' * 9_000)
    kept = history_rows.fields(history_rows.text(entry), '')['text']
    assert kept.startswith('a b\\x1bccc')
    assert len(kept) == 500
    assert kept.endswith('ccc…')
