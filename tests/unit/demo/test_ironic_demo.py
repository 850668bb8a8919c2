# SPDX-License-Identifier: Apache-2.0
"""The demo's nodes and its options; ``tests/full`` runs the demo itself."""

import collections

import os_traits
import pytest

from benchmarks.sync_cycles import postgresql
from demo import fleet_demo, ironic_demo, ironic_nodes


def test_a_rack_has_three_classes_and_traits_that_differ():
    nodes = ironic_nodes.racks(20)
    assert [nodes[0].name, nodes[19].name] == ['rack1-node01', 'rack2-node10']
    assert 'CUSTOM_GPU_A100' in nodes[0].traits
    classes = collections.Counter(n.resource_class for n in nodes)
    assert classes == {'gold': 4, 'silver': 6, 'bronze': 10}
    for resource_class in classes:
        kinds = {n.traits for n in nodes if n.resource_class == resource_class}
        assert len(kinds) > 1
    standard = set(os_traits.get_traits())
    used = frozenset().union(*(n.traits for n in nodes))
    assert all(t in standard or t.startswith('CUSTOM_') for t in used)


@pytest.mark.parametrize('count', ['0', '-1', 'many', '1.5'])
def test_a_number_of_nodes_that_is_none_is_refused(capsys, count):
    assert ironic_demo.main([f'--nodes={count}']) == 1
    said = capsys.readouterr().err
    assert (
        f"argument --nodes: '{count}' is not a whole number of at least 1"
        in said
    )


def test_a_directory_that_no_configuration_file_can_be_in_is_refused(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert ironic_demo.main(['--directory', 'a$c']) == 1
    said = capsys.readouterr().err
    assert "argument --directory: 'a$c' has a $, which the path" in said
    assert list(tmp_path.iterdir()) == []


def test_the_demo_of_a_fleet_says_that_postgresql_is_missing(
    capsys, monkeypatch
):
    monkeypatch.setattr(postgresql, 'is_installed', lambda: False)
    assert fleet_demo.main() == 1
    assert capsys.readouterr().err == (
        'demo: PostgreSQL is not installed here (initdb, postgres, psql); on '
        'Debian, "apt-get install postgresql" installs it\n'
    )
