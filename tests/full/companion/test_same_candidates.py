# SPDX-License-Identifier: Apache-2.0
"""nova's scheduler finds the same candidates, whoever reports the host.

The requests are built by nova's scheduler and its prefilters, and placement
answers them: while nova-compute reports the host, after the agent took it
over, and after both registered it anew. ``flavors.yaml`` names each difference
that is meant, with its reason.
"""

import itertools
import json
import os
import pathlib

import cases  # type: ignore[import-not-found]
import pytest
import yaml

pytestmark = pytest.mark.long

GIVEN = os.environ.get('COMPUTE_AGENT_COMPANION_CASES', '')

HERE = pathlib.Path(__file__).parent
FLAVORS = HERE / 'flavors.yaml'
DECIDED = yaml.safe_load(FLAVORS.read_text())
SCHEDULER = """\
[scheduler]
query_placement_for_image_type_support = true
image_metadata_prefilter = true
[filter_scheduler]
pci_in_placement = {pci}
[pci]
alias = {{"name": "one", "vendor_id": "{VENDOR1}",
    "product_id": "{PRODUCT1}", "device_type": "type-PCI"}}
"""
# The parts of nova.conf, from tests/parity/cases, and requests that have
# candidates with these, and have none: without them the test would compare
# nothing.
SETTINGS = {
    'default': (
        [],
        {'plain', 'shared', 'on-this-node', 'pci-alias', 'dedicated'},
        {'tpm-2.0-crb', 'pcpu-by-resource', 'virtio-fs-with-file-memory'},
    ),
    'devices-and-sets': (
        [
            *('swtpm', 'cpus-shared-dedicated', 'file-backed-memory'),
            'pci-one',
        ],
        {
            *('plain', 'on-this-node', 'pci-alias', 'dedicated', 'mixed'),
            *('pcpu-by-resource', 'virtio-fs-with-file-memory'),
            *('tpm-2.0-crb', 'tpm-2.0-tis-by-image', 'tpm-secret-of-host'),
        },
        {'pci-alias-two', 'dedicated-two', 'two-numa-nodes'},
    ),
}
# make in-place has all.
CHOSEN = SETTINGS if GIVEN == 'all' else ['devices-and-sets']
# On each host, by any settings.
NEVER = {
    *('too-many-processors', 'too-much-memory', 'cpu-forbidden'),
    *('cpu-of-no-host', 'image-vmdk', 'memory-encryption', 'vgpu'),
    'persistent-memory',
}


class Asked:
    """What nova's scheduler asked, and what placement answered.

    :ivar queries: request → nova's queries
    :ivar refused: the requests that placement refuses
    :ivar candidates: request → the resources of each candidate by provider
    :ivar traits: provider → its traits
    """

    def __init__(self, host, scheduler, folder, name):
        answers = folder / f'{name}.json'
        host.nova.run(
            'python',
            str(HERE / 'candidates.py'),
            'CONF',
            f'--config-file={scheduler}',
            *(str(FLAVORS), host.name, str(answers)),
        )
        found = json.loads(answers.read_text())
        names = {one['uuid']: key for key, one in host.providers().items()}
        self.queries = {key: one['queries'] for key, one in found.items()}
        self.refused = {key for key, one in found.items() if one['refused']}
        self.candidates = {
            key: sorted(
                sorted(
                    (names[uuid], sorted(amounts.items()))
                    for uuid, amounts in candidate.items()
                )
                for candidate in one['candidates']
            )
            for key, one in found.items()
        }
        self.traits = {name: host.traits(name) for name in names.values()}

    @property
    def found(self):
        """The requests with a candidate."""
        return {key for key, some in self.candidates.items() if some}

    def differences(self, other):
        """Return request → both answers where they are not equal."""
        return {
            key: (mine, other.candidates[key])
            for key, mine in self.candidates.items()
            if mine != other.candidates[key]
        }

    def only_here(self, other):
        """Return provider → the traits that only this report has."""
        return {
            name: sorted(traits - other.traits.get(name, set()))
            for name, traits in self.traits.items()
        }


@pytest.fixture
def words(host, tmp_path):
    """The words of this host for the cases."""
    return cases.words(host.libvirtd.uri, tmp_path)


def scheduler_conf(folder, words, *, pci):
    """Write what a scheduler has in nova.conf beside the rest."""
    file = folder / 'scheduler.conf'
    text = SCHEDULER.format(pci=str(pci).lower(), **words)
    file.write_text(text.replace('\n    ', ' '))
    return file


def has_inventory(host):
    return set(host.inventory(host.name)) >= {'VCPU', 'MEMORY_MB', 'DISK_GB'}


def both_report(host):
    host.nova.start()
    host.wait(lambda: 'COMPUTE_NODE' in host.traits(), 'nova reports')
    host.wait_for_refreshes(1)
    host.agent.run('sync', '--yes')
    host.start_agent()
    host.wait(lambda: has_inventory(host), 'the agent reports')
    host.be_quiet()


def both_end(host):
    host.agent.stop()
    host.nova.stop()


@pytest.mark.parametrize('settings', CHOSEN)
def test_the_candidates_are_those_of_nova(host, words, settings, tmp_path):
    names, found, none = SETTINGS[settings]
    for name in names:
        part = tmp_path / f'{name}.conf'
        cases.load(name, words).write(part)
        host.add_to_conf(part)
    scheduler = scheduler_conf(tmp_path, words, pci='pci-one' in names)

    host.nova.start()
    host.wait(lambda: has_inventory(host), 'nova reports')
    host.wait_for_refreshes(1)
    novas = Asked(host, scheduler, tmp_path, 'nova')
    host.nova.stop()

    host.report_in_place()
    both_report(host)
    taken_over = Asked(host, scheduler, tmp_path, 'taken-over')
    both_end(host)

    host.nova.delete_service(keeps_identity=True)
    host.agent.forget()
    assert host.providers() == {}
    both_report(host)
    anew = Asked(host, scheduler, tmp_path, 'anew')
    both_end(host)

    check_queries(novas.queries, pci='pci-one' in names)
    assert taken_over.queries == anew.queries == novas.queries
    assert novas.refused == {'persistent-memory'}
    assert taken_over.refused == anew.refused == novas.refused
    assert novas.found >= found
    assert novas.found & (none | NEVER) == set()
    for agents in (taken_over, anew):
        check_differences(novas, agents)


def check_queries(queries, *, pci):
    """Nova's own conditions are in them, so the answers depend on these."""
    assert set(queries) == set(DECIDED)
    for one in itertools.chain.from_iterable(queries.values()):
        assert 'root_required=' in one
        assert 'OWNER_NOVA' in one
        assert '%21COMPUTE_STATUS_DISABLED' in one
    assert ('CUSTOM_PCI_' in queries['pci-alias'][0]) is pci
    assert len(queries['dedicated']) == 2


def check_differences(novas, agents):
    """Each difference is decided, and each decided one is there."""
    differ = novas.differences(agents)
    undecided = {
        key: both for key, both in differ.items() if 'only' not in DECIDED[key]
    }
    assert undecided == {}, (
        f'{ {key: novas.queries[key] for key in undecided} }\n'
        f'only nova reports {novas.only_here(agents)}\n'
        f'only the agent reports {agents.only_here(novas)}'
    )
    for key, case in DECIDED.items():
        if 'only' not in case or (case.get('by_host') and key not in differ):
            continue
        has, lacks = (
            (novas, agents) if case['only'] == 'nova' else (agents, novas)
        )
        assert has.candidates[key] != [], key
        assert lacks.candidates[key] == [], key


@pytest.mark.parametrize('reporter', ['nova', 'agent'])
def test_a_disabled_host_is_no_candidate(host, words, reporter, tmp_path):
    scheduler = scheduler_conf(tmp_path, words, pci=False)
    if reporter == 'agent':
        host.report_in_place()
        both_report(host)
    else:
        host.nova.start()
        host.wait(lambda: has_inventory(host), 'nova reports')
    assert 'plain' in Asked(host, scheduler, tmp_path, 'enabled').found
    host.nova.disable_service(disabled=True)
    host.nova.stop()
    host.nova.start()
    trait = 'COMPUTE_STATUS_DISABLED'
    host.wait(lambda: trait in host.traits(), 'nova says that it is disabled')
    host.wait_for_refreshes(1)
    assert Asked(host, scheduler, tmp_path, 'disabled').found == set()
