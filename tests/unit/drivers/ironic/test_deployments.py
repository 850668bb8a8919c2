# SPDX-License-Identifier: Apache-2.0
"""nova.conf of a deployment with Ironic is read as it is; tests/deployments.

Every option that decides which nodes are described is honoured or named.
"""

import logging
import pathlib

import pytest
import yaml
from keystoneauth1 import loading

from compute_agent.cmd.app import configuration, main
from compute_agent.conf import misspelled
from compute_agent.virt import loader

DEPLOYMENTS = pathlib.Path(__file__).parents[3] / 'deployments'


def wanted(path):
    return yaml.safe_load(path.with_suffix('.yaml').read_text('utf-8'))


CASES = [
    path
    for path in sorted(DEPLOYMENTS.glob('*.conf'))
    if wanted(path)['driver'] == 'ironic'
]


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request, caplog):
    options = main.GlobalOptions(
        config_files=[str(request.param)], config_dirs=[], debug=False
    )
    conf = configuration.load(options)
    with caplog.at_level(logging.WARNING):
        made = loader.load_all(conf.compute_driver, conf).first
    said = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith('drivers.')
    ]
    return wanted(request.param), made, conf, said


def test_the_options_that_have_no_effect_are_named(case):
    expected, _, _, said = case
    assert len(said) == len(expected['says'])
    for word, line in zip(expected['says'], said, strict=True):
        assert word in line


def test_the_others_decide_which_nodes_are_listed(case):
    expected, made, _, _ = case
    filters = made._api.filters
    asked = {f'{name}={value}' for name, value in filters.items()}
    assert asked >= set(expected['query'])


def test_no_option_of_nova_counts_as_misspelled(case):
    _, _, conf, _ = case
    # As the agent does before: the plugin has options of its own.
    loading.load_auth_from_conf_options(conf, 'placement')
    assert misspelled.lines(conf) == []


@pytest.mark.parametrize('path', CASES, ids=lambda path: path.stem)
def test_a_deployment_has_as_many_options_as_real_ones(path):
    lines = path.read_text('utf-8').splitlines()
    assert sum('=' in line and line[0] != '#' for line in lines if line) >= 60
