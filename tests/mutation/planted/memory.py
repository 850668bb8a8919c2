# SPDX-License-Identifier: Apache-2.0
"""What is remembered, and when."""

import sys
import uuid as uuidlib

from planted.catalogue import plant

from compute_agent.state import journal, snapshot, undos
from compute_agent.state.database import database, write_count
from compute_agent.tree import provider_tree
from report_client.apply import executor


@plant(
    executor.Executor._confirm,
    'after a failed write nothing is recorded as done',
)
def _(confirm, self, progress):
    outcome = progress.outcome()
    failed = sys.exc_info()[0] or outcome.ended_by or outcome.conflicts
    if not failed:
        confirm(self, progress)


@plant(
    undos.Undos.load,
    'a restart forgets what other writers undid',
    in_runs=True,
)
def _(_load, _self):
    return {}


@plant(journal.Journal.begin, 'intents are not recorded before a write')
def _(begin, self, node_uuid, _intents, claims):
    begin(self, node_uuid, [], claims)


@plant(
    executor.Executor._create_names,
    'intents count as done before they are sent',
)
def _(create_names, self, progress):
    self._journal.record_outcome(
        progress.intend(), [], readings=[], gone=set()
    )
    create_names(self, progress)


@plant(
    snapshot.Site.save_known_names,
    'known names are never read again',
)
def _(save_known_names, self, known):
    if known is not None:
        save_known_names(self, known)


@plant(
    provider_tree.derived_uuid,
    'a child created again after a crash gets another uuid',
)
def _(_derived_uuid, _parent_uuid, _name):
    return str(uuidlib.uuid4())


@plant(write_count.forget_if_older, 'an old state database is believed')
def _(_forget, _db, _writes):
    return False


@plant(database.Database.check_files, 'a removed log is not noticed')
def _(_check, _self):
    return None
