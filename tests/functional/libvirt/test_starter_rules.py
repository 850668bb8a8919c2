# SPDX-License-Identifier: Apache-2.0
"""The starter rules on recorded hosts, and on this one, through plan and sync.

The key ``starter`` of a host's file has the root's traits with the rules that
are on, ``more_traits`` and ``children`` what the others add. The root is
nova's.
"""

import functools
import pathlib

import host_facts
import pytest
import recorded_libvirt
from agents import NAME, NODE

from compute_agent.ownership.policy import Mode
from drivers import host_files
from drivers.host import driver, rule_files
from drivers.host.reading import local, net, reader

OF_NOVA = {'COMPUTE_NODE', 'OWNER_NOVA'}


class Host:
    """A driver with the starter rules; ``all_on`` switches all of them on."""

    def __init__(self, folder, sources):
        folder.mkdir()
        self._file = folder / 'site.yaml'
        self._read = functools.partial(
            rule_files.read, str(folder), driver.WORDS, given=True
        )
        self.driver = driver.HostDriver(
            configured=NAME,
            hostname=NAME,
            of=sources,
            read_rules=self._read,
        )
        self.driver.get_nodenames_by_uuid = lambda: {NODE: NAME}

    def all_on(self):
        off = [rule.name for rule in self._read().rules if not rule.enabled]
        assert off
        self._file.write_text(f'enabled: [{", ".join(off)}]')
        self.driver.reload()


@pytest.fixture
def companion(agent_factory, operator, placement):
    """Return a function: a companion's plan and sync of a host's driver."""
    operator.create(NODE, NAME)
    operator.set_inventories({'VCPU': {'total': 8}})
    operator.add_traits(*OF_NOVA)

    class Companion:
        def __init__(self, host):
            self._agent = agent_factory(host.driver, mode=Mode.COMPANION)

        def gives(self):
            """Plan, sync, and sync again; return what nova did not report."""
            before = operator.holdings()
            (planned,) = self._agent.plan()
            assert operator.holdings() == before
            self._agent.done()
            held = operator.holdings()
            assert bool(planned.plan.operations) is (held != before)
            placement.clear()
            self._agent.done()
            assert placement.writes == []
            return described(held)

    return Companion


def described(held):
    root = held.pop(NAME)
    assert set(root['inventories']) == {'VCPU'}
    return {
        'traits': sorted(root['traits'] - OF_NOVA),
        'children': {
            name: {
                'traits': sorted(child['traits']),
                'inventory': {
                    rc: record['total']
                    for rc, record in child['inventories'].items()
                },
            }
            for name, child in held.items()
        },
    }


@pytest.mark.parametrize('case', host_facts.CASES, ids=lambda path: path.stem)
def test_recorded_hosts_get_their_traits_and_children(
    case, companion, tmp_path
):
    recorded = host_facts.make(case, tmp_path)
    # Without libvirt's name for it, the host is called as nova calls it.
    (recorded.root / 'libvirt/host.yaml').unlink(missing_ok=True)
    host = Host(tmp_path / 'rules.d', recorded.sources())
    agent = companion(host)
    expected = recorded.starter
    on = {'traits': sorted(expected['traits']), 'children': {}}
    assert agent.gives() == on
    host.all_on()
    more = expected.get('more_traits', [])
    assert agent.gives() == {
        'traits': sorted([*on['traits'], *more]),
        'children': expected.get('children', {}),
    }


def read(path):
    return pathlib.Path(path).read_text().strip()


def huge_pages(kib):
    path = pathlib.Path(f'/sys/kernel/mm/hugepages/hugepages-{kib}kB')
    return path.exists() and int(read(path / 'nr_hugepages')) > 0


def test_this_host_gets_the_traits_that_its_files_tell(companion, tmp_path):
    host = Host(
        tmp_path / 'rules.d',
        reader.Sources(
            files=host_files.HostFiles(),
            libvirt=recorded_libvirt.Recorded(tmp_path),
            offloads=net.Ethtool(),
            local=local.LocalFacts([]),
        ),
    )
    agent = companion(host)
    traits = set(agent.gives()['traits'])
    assert ('CUSTOM_HOST_HUGE_PAGES_2M' in traits) is huge_pages(2048)
    assert ('CUSTOM_HOST_HUGE_PAGES_1G' in traits) is huge_pages(1048576)
    weak = pathlib.Path('/sys/devices/system/cpu/vulnerabilities')
    if weak.exists():
        texts = [read(path) for path in weak.iterdir()]
        vulnerable = any(text.startswith('Vulnerable') for text in texts)
        assert ('CUSTOM_HOST_CPU_MITIGATED' in traits) is not vulnerable
    host.all_on()
    found = agent.gives()
    assert set(found['traits']) >= traits
    cards = {
        f'{NAME}_net_{path.name}'
        for path in pathlib.Path('/sys/class/net').iterdir()
        if (path / 'device').exists() and not (path / 'device/physfn').exists()
    }
    assert {name for name in found['children'] if '_net_' in name} <= cards
