# SPDX-License-Identifier: Apache-2.0
"""The role, as Ansible and its linter judge it; nothing is installed."""

import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[3] / 'packaging' / 'ansible'


# It reads the role twice, once as a whole.
def test_ansible_lint_finds_nothing(judge):
    said = judge(
        'ansible-lint', '--offline', '--profile=production', cwd=FOLDER
    )
    assert said.returncode == 0, said.stdout


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        ('compute_agent_state=gone', 'value of compute_agent_state must be'),
        ('x=y', 'missing required arguments: compute_agent_options'),
    ],
)
def test_a_wrong_variable_is_refused_before_a_host_is_changed(
    judge, options, said
):
    ran = judge(
        *('ansible-playbook', 'site.yml', '--inventory', 'localhost,'),
        *('--connection', 'local', '--extra-vars', 'ansible_become=false'),
        *('--extra-vars', 'hosts=all', '--extra-vars', options),
        cwd=FOLDER,
    )
    assert ran.returncode != 0
    assert said in ran.stdout
    assert 'changed=0' in ran.stdout
