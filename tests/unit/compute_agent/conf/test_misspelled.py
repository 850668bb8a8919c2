# SPDX-License-Identifier: Apache-2.0
"""Misspelled groups and options are named, nova's own are not."""

import pytest
from oslo_config import cfg

from compute_agent import conf as agent_conf
from compute_agent.conf import misspelled

# A part of a nova.conf; nothing of it is near to an option of the agent.
OF_NOVA = """
[DEFAULT]
debug = true
my_ip = 192.0.2.1
transport_url = rabbit://
log-dir = /var/log/nova
enabled_apis = osapi_compute
reserved_huge_pages = node:0,size:2048,count:64
cpu_allocation_ratio = 4
[api]
auth_strategy = keystone
[api_database]
connection = x
[compute]
cpu_shared_set = 0-3
max_concurrent_disk_ops = 2
[conductor]
workers = 2
[ironic]
peer_list = a
[keystone_authtoken]
password = x
[libvirt]
cpu_model = EPYC
cpu_models = EPYC
images_type = raw
[pci]
alias = {}
[placement]
auth_type = password
auth_url = http://keystone.test/v3
username = nova
user-domain-name = Default
project-name = service
region_name = one
[placement_database]
connection = x
[scheduler]
workers = 1
[workarounds]
disable_rootwrap = true
"""


@pytest.fixture
def lines(tmp_path):
    """Return the lines about a file."""

    def lines(text):
        path = tmp_path / 'nova.conf'
        path.write_text(text)
        conf = cfg.ConfigOpts()
        agent_conf.register_opts(conf, agent_conf.groups())
        conf([f'--config-file={path}'], project='compute-agent')
        found = misspelled.lines(conf)
        assert all(line.startswith(f'{path}: ') for line in found)
        return [line.removeprefix(f'{path}: ') for line in found]

    return lines


def test_nothing_of_a_nova_conf_is_named(lines):
    assert lines(OF_NOVA) == []


@pytest.mark.parametrize(
    ('group', 'meant'),
    [
        ('compute_agnet', 'compute_agent'),
        ('compute-agent', 'compute_agent'),
        ('Placement', 'placement'),
        ('placment', 'placement'),
        ('default', 'DEFAULT'),
    ],
)
def test_a_group_that_is_near_to_ours_is_named(lines, group, meant):
    assert lines(f'[{group}]\nmax_removed_percent = 1\n') == [
        (
            f'[{group}] is no group of this agent, so its options have no effect; '
            f'did you mean [{meant}]?'
        )
    ]


@pytest.mark.parametrize(
    ('group', 'option', 'meant'),
    [
        ('compute_agent', 'max_removed_precent', 'max_removed_percent'),
        ('compute_agent', 'masked-trait', 'masked_traits'),
        ('DEFAULT', 'reserved_host_memory', 'reserved_host_memory_mb'),
        ('placement', 'valid_interface', 'valid_interfaces'),
        ('compute', 'provider_config_dir', None),
        ('compute', 'provider_config_locaton', 'provider_config_location'),
    ],
)
@pytest.mark.catches(
    'a misspelled option is not said',
    case='compute_agent-max_removed_precent-max_removed_percent',
)
def test_an_option_that_is_very_near_to_ours_is_named(
    lines, group, option, meant
):
    name = option.replace('-', '_')
    expected = (
        f'[{group}] {name} is no option, and has no effect; did you mean '
        f'{meant}?'
    )
    assert lines(f'[{group}]\n{option} = 1\n') == ([expected] if meant else [])


@pytest.mark.parametrize(
    'plugin', ['none', 'v3samlpassword', 'no_such_plugin']
)
def test_no_former_name_of_an_option_is_advised(lines, plugin):
    text = f'[placement]\nauth_type = {plugin}\nusername = agent\n'
    assert lines(text) == []


def test_every_unknown_option_of_our_own_group_is_named_once(lines):
    assert lines('[compute_agent]\nverbose = 1\nverbose = 2\n') == [
        '[compute_agent] verbose is no option, and has no effect'
    ]


def test_files_of_a_directory_are_read_too(tmp_path):
    (tmp_path / 'a.conf').write_text('[compute_agnet]\nx = 1\n')
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.groups())
    conf([f'--config-dir={tmp_path}'], project='compute-agent')
    (line,) = misspelled.lines(conf)
    assert line.startswith(f'{tmp_path}/a.conf: [compute_agnet]')
