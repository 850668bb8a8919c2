# SPDX-License-Identifier: Apache-2.0
"""A driver is tested on a folder that stands for its host."""

import json

import pytest

from compute_agent import errors, testing
from compute_agent.virt import driver

FILES = {
    'sys': {
        'devices': {'psu0': {'watts': '1500\n'}, 'psu1': {'watts': '1500\n'}},
        'class': {'first': '-> ../devices/psu0'},
    }
}
EXPECTED = """
providers:
  rack1:
    inventories: {CUSTOM_POWER: 3000}
  psu0: {parent: rack1}
"""


class Rack(driver.ComputeDriver):
    """Adds up the watts of the power supplies below its root folder."""

    def __init__(self, root='/'):
        self._devices = root / 'sys/devices'

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return ['rack1']

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        supplies = sorted(self._devices.iterdir())
        watts = sum(int((p / 'watts').read_text()) for p in supplies)
        provider_tree.update_inventory(
            nodename, {'CUSTOM_POWER': {'total': watts}}
        )
        for supply in supplies:
            if not provider_tree.exists(supply.name):
                provider_tree.new_child(supply.name, nodename)


@pytest.fixture
def host(tmp_path):
    return testing.write_host(tmp_path / 'two-supplies', FILES)


def test_files_folders_and_links_are_written(host):
    assert str(host) == 'two-supplies'
    assert (host.root / 'sys/class/first/watts').read_text() == '1500\n'


def test_a_description_is_compared_with_the_expected_one(host):
    (host.root / 'expected.yaml').write_text(EXPECTED)
    with pytest.raises(AssertionError) as caught:
        host.assert_described(Rack(host.root))
    assert str(caught.value) == (
        '1 provider is not as expected (- expected, + seen):\n'
        'psu1\n'
        '  + provider below rack1'
    )
    (host.root / 'sys/devices/psu1/watts').unlink()
    (host.root / 'sys/devices/psu1').rmdir()
    with pytest.raises(AssertionError, match=r'\+ inventory CUSTOM_POWER: to'):
        host.assert_described(Rack(host.root))
    (host.root / 'sys/devices/psu0/watts').write_text('3000')
    host.assert_described(Rack(host.root))


def test_without_an_expectation_the_error_is_one_to_keep(host):
    with pytest.raises(AssertionError, match='no key "providers"') as caught:
        host.assert_described(Rack(host.root))
    _, _, kept = str(caught.value).partition('\n')
    (host.root / 'expected.yaml').write_text(kept)
    host.assert_described(Rack(host.root))


def test_a_driver_sees_what_placement_has(host):
    rack = Rack(host.root)
    first = testing.plain_tree(testing.describe(rack))
    assert first['rack1']['uuid'] == testing.HOST_UUID
    again = testing.describe(rack, before={'rack1': {'traits': ['CUSTOM_A']}})
    assert testing.plain_tree(again)['rack1']['traits'] == ['CUSTOM_A']


def test_a_driver_that_fails_says_so(tmp_path):
    with pytest.raises(errors.DriverError, match='Rack failed for rack1'):
        testing.describe(Rack(tmp_path))


def test_the_hosts_of_a_folder_are_chosen_by_their_expectations(
    host, tmp_path
):
    testing.write_host(tmp_path / 'another', {'expected.yaml': 'cpu: 4'})
    assert list(map(str, testing.recorded_hosts(tmp_path))) == [
        'another', 'two-supplies',
    ]  # fmt: skip
    assert [str(h) for h in testing.recorded_hosts(tmp_path, 'cpu')] == [
        'another'
    ]


@pytest.mark.parametrize(
    ('call', 'problem'),
    [
        (lambda p: testing.recorded_host(p / 'none'), 'is no recorded host'),
        (testing.recorded_hosts, 'has no recorded host$'),
        (
            lambda p: (
                testing.write_host(p / 'a', {'expected.yaml': '- 1'}).expected
            ),
            'a mapping of expectations',
        ),
        (lambda p: testing.save_host([], p), 'has no texts: use the output'),
        (
            lambda p: testing.save_host([{'raw': {'../a': ''}}], p / 'b'),
            'outside the folder of the host',
        ),
        *(
            (lambda p, n=name: testing.write_host(p / 'c', {n: 'x'}), problem)
            for name, problem in [
                ('../../x', r'^\.\./\.\./x is outside the folder'),
                ('/x', '^/x is outside the folder'),
                ('sys/../x', '^sys/../x is outside the folder'),
            ]
        ),
        (
            lambda p: testing.write_host(
                p / 'd', {'out': '-> /tmp', 'out/x-of-a-test': 'x'}
            ),
            '^out/x-of-a-test is outside the folder',
        ),
        (
            lambda p: testing.write_host(p / 'e', {'sys': {'watts': 5}}),
            '^watts: 5 is no content: write the text of a file, "-> target"',
        ),
    ],
)
def test_a_mistake_is_one_line(tmp_path, call, problem):
    with pytest.raises(errors.ConfigError, match=problem):
        call(tmp_path)


def test_what_probe_printed_becomes_a_host(tmp_path):
    printed = json.dumps([{'raw': {'proc/cpuinfo': 'flags: avx\n'}}])
    saved = testing.save_host(json.loads(printed), tmp_path / 'saved')
    assert (saved.root / 'proc/cpuinfo').read_text() == 'flags: avx\n'
    assert saved.expected == {}
