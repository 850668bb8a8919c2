# SPDX-License-Identifier: Apache-2.0
"""``nova-manage placement audit`` on a host that the agent reports.

It finds the same orphaned allocations on the agent's providers as on nova's: by
nova's resource classes, on the root and on the agent's children.
"""

import contextlib
import re
import sqlite3
import subprocess

import local_nova
import pytest
import real_nova
import reported
import requests

pytestmark = pytest.mark.long

PATIENCE = 600.0  # seconds; only a hang takes as long
DRIVERS = '[DEFAULT]\ncompute_driver = libvirt,host\n'
# nova does not know of this child. Its audit looks at the first class only.
RULES = """\
rules:
- name: cards
  child: '{node}_cards'
  inventory: {VGPU: local.cards, CUSTOM_LICENCE: local.cards}
"""
NOTHING, ORPHANS, DELETED, NO_SUCH_PROVIDER = 0, 3, 4, 127
# The consumers: a guest of nova's, two that nova does not know, and one that
# has none of nova's classes.
GUEST, ON_ROOT, ON_CHILD, OF_OTHERS = (
    f'{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}'
    for digit in 'abcd'
)
DISK = {'DISK_GB': 1, 'VCPU': 1}
CARD = {'VGPU': 1}
_ORPHAN = re.compile(
    r'Allocations for consumer UUID (\S+) on Resource Provider (\S+) can be '
    r'deleted'
)


class Audited:
    """The host, and its allocations.

    :ivar root: the uuid of the root
    :ivar child: the uuid of the agent's child
    """

    def __init__(self, host):
        self._host = host
        uuids = {name: one['uuid'] for name, one in host.providers().items()}
        self.root = uuids[host.name]
        self.child = uuids[f'{host.name}_cards']

    def allocate(self, consumer, amounts):
        """Allocate amounts, by provider."""
        self._ask(
            'PUT',
            consumer,
            {
                'allocations': {
                    provider: {'resources': resources}
                    for provider, resources in amounts.items()
                },
                'project_id': 'project',
                'user_id': 'user',
                'consumer_generation': None,
                'consumer_type': 'INSTANCE',
            },
        )

    def providers_of(self, consumer):
        """Return the providers that a consumer has allocations of."""
        return set(self._ask('GET', consumer)['allocations'])

    def audit(self, *words):
        """Return nova-manage's exit code and what it prints."""
        files = [f'--config-file={file}' for file in self._host.nova.files]
        done = subprocess.run(
            [
                *(str(local_nova.PROGRAMS / 'nova-manage'), *files),
                *('placement', 'audit', '--verbose', *words),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout

    def _ask(self, method, consumer, body=None):
        answer = requests.request(
            method,
            f'{self._host.url}/allocations/{consumer}',
            json=body,
            headers=reported.HEADERS,
            timeout=PATIENCE,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None


@pytest.fixture
def audited(host):
    """A host with children of the agent; both programs have ended."""
    host.report_in_place(DRIVERS)
    agent = host.agent
    agent.write_rules(RULES)
    agent.write_facts({'cards': 2})
    host.nova.start()
    host.wait(lambda: 'COMPUTE_NODE' in host.traits(), 'nova reports')
    host.wait_for_refreshes(1)
    host.nova.stop()
    agent.run('sync', '--yes')
    return Audited(host)


def add_guest(host):
    """Have nova's database know a guest on the host."""
    row = {
        'uuid': GUEST,
        'host': real_nova.SERVICE,
        'node': host.name,
        'vm_state': 'active',
        'user_id': 'user',
        'project_id': 'project',
        **dict.fromkeys(('deleted', 'cleaned', 'hidden', 'launch_index'), 0),
        **dict.fromkeys(('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb'), 1),
    }
    names = ', '.join(row)
    marks = ', '.join('?' * len(row))
    database = host.nova.files[0].parent / 'cell1.sqlite'
    with contextlib.closing(sqlite3.connect(database, timeout=30)) as db:
        db.execute(
            f'insert into instances ({names}) values ({marks})',
            list(row.values()),
        )
        db.commit()


def orphans(printed):
    """Return the pairs of consumer and provider that the audit names."""
    return set(_ORPHAN.findall(printed))


def test_the_audit_finds_the_orphans_and_no_guest(host, audited):
    root, child = audited.root, audited.child
    assert audited.audit() == (NOTHING, '')

    add_guest(host)
    audited.allocate(GUEST, {root: DISK, child: CARD})
    audited.allocate(OF_OTHERS, {child: {'CUSTOM_LICENCE': 1}})
    assert audited.audit() == (NOTHING, '')

    audited.allocate(ON_ROOT, {root: DISK})
    code, printed = audited.audit()
    assert code == ORPHANS
    assert orphans(printed) == {(ON_ROOT, root)}

    audited.allocate(ON_CHILD, {root: DISK, child: CARD})
    code, printed = audited.audit()
    assert code == ORPHANS
    assert 'Processed 3 allocations' in printed
    assert orphans(printed) == {
        (ON_ROOT, root),
        (ON_CHILD, root),
        (ON_CHILD, child),
    }
    code, printed = audited.audit('--resource_provider', child)
    assert code == ORPHANS
    assert orphans(printed) == {(ON_CHILD, child)}
    code, printed = audited.audit('--resource_provider', GUEST)
    assert code == NO_SUCH_PROVIDER

    code, printed = audited.audit('--delete')
    assert code == DELETED
    assert 'can not be found' not in printed
    assert audited.providers_of(ON_ROOT) == set()
    assert audited.providers_of(ON_CHILD) == set()
    assert audited.providers_of(GUEST) == {root, child}
    assert audited.providers_of(OF_OTHERS) == {child}
    assert audited.audit() == (NOTHING, '')
