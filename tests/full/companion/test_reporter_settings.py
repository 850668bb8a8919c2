# SPDX-License-Identifier: Apache-2.0
"""A reporter beside a nova-compute with some of the parity run's settings.

Both read the same part of nova.conf, and neither undoes the other.
``make in-place`` runs all cases.
"""

import os

import cases  # type: ignore[import-not-found]
import pytest
import reported as reports  # type: ignore[import-not-found]
import request_log
import test_nova_reports_nothing as silent
from test_nova_reports_nothing import reported  # noqa: F401 (a fixture)

pytestmark = pytest.mark.long

# Short of all: a child that nova has, and a class that a default nova has not.
FEW = 'pci-one cpus-shared-dedicated'
GIVEN = os.environ.get('COMPUTE_AGENT_COMPANION_CASES', FEW).split()
# A setting of the agent that nova does not have.
NESTED = 'numa-nested'
NUMA = '[libvirt]\nnuma = nested\n'
MANAGED = 'COMPUTE_MANAGED_PCI_DEVICE'


def chosen():
    """Return the cases in which both programs report something."""
    if GIVEN != ['all']:
        return GIVEN
    named = {name: cases.load(name, {}) for name in cases.names()}
    return [
        NESTED,
        *(
            name
            for name, case in named.items()
            # nova refuses inventories in its files.
            if not (case.reports_nothing or case.refuses)
            and name != 'provider-config'
        ),
    ]


@pytest.fixture
def words(host, tmp_path):
    """The words of this host for the cases."""
    return cases.words(host.libvirtd.uri, tmp_path)


@pytest.mark.parametrize('name', chosen())
def test_neither_undoes_the_other(reported, words, name, tmp_path):  # noqa: F811
    host = reported
    case = cases.load(cases.DEFAULT if name == NESTED else name, words)
    case.write(tmp_path / 'case.conf')
    host.add_to_conf(tmp_path / 'case.conf')
    if name == NESTED:
        with host.agent.conf.open('a') as conf:
            conf.write(NUMA)
    placement = reports.Placement(host.url)
    host.nova.start()
    host.wait(lambda: host.traits() >= silent.NOVAS_OWN, 'nova reports')
    host.start_agent()
    host.wait(lambda: offers_processors(placement), 'the agent reports')
    host.watch().check()

    both = placement.report()
    novas = {child for child, one in both.items() if MANAGED in one.traits}
    assert novas == {child for child in case.changes if child != 'root'}
    uuids = [
        one['uuid']
        for name, one in host.providers().items()
        if name.removeprefix(host.name) in {c[len('root') :] for c in novas}
    ]
    assert len(uuids) == len(novas)
    assert silent.restarted(host) == []
    assert content(placement.report()) == content(both)
    for one in host.requests.writes(0, request_log.AGENT):
        assert not any(uuid in one.path for uuid in uuids), one
    assert host.requests.conflicts() == []


def content(report):
    """Return a report without amounts: the kernel may add memory."""
    return {
        name: (one.parent, one.traits, one.aggregates, set(one.inventory))
        for name, one in report.items()
    }


def offers_processors(placement):
    return any(
        {'VCPU', 'PCPU'} & set(one.inventory)
        for one in placement.report().values()
    )
