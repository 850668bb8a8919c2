# SPDX-License-Identifier: Apache-2.0
"""The agent's options: bounded, explained, wrong ones said at the start."""

import pytest
from oslo_config import cfg

from compute_agent import conf as agent_conf

OWN = [
    (group, opt)
    for module in agent_conf.LOCAL
    for group, opts in module.list_opts()
    for opt in opts
]


@pytest.fixture
def load(tmp_path):
    """Return the checked configuration of one file's text."""

    def load(text=''):
        path = tmp_path / 'agent.conf'
        path.write_text(text)
        conf = cfg.ConfigOpts()
        groups = agent_conf.groups()
        agent_conf.register_opts(conf, groups)
        conf([f'--config-file={path}'], project='compute-agent')
        agent_conf.check(conf, groups)
        return conf

    return load


def test_an_empty_file_is_a_configuration(load):
    conf = load()
    assert conf.compute_driver == ['libvirt']
    assert conf.update_resources_interval == 0
    assert conf.periodic_fuzzy_delay == 60
    assert conf.cpu_allocation_ratio is None
    assert conf.initial_cpu_allocation_ratio == 4.0
    assert conf.reserved_host_memory_mb == 512
    assert conf.compute.update_resources_max_workers == 4
    assert conf.compute.resource_provider_association_refresh == 300
    assert conf.compute_agent.full_read_interval == 3600
    assert conf.compute_agent.max_requests_per_second == 0
    assert conf.placement.service_type == 'placement'
    assert conf.placement.timeout == 30
    assert not conf.placement.embedded


@pytest.mark.parametrize(
    ('group', 'option', 'value'),
    [
        ('DEFAULT', 'update_resources_interval', '-2'),
        ('DEFAULT', 'update_resources_interval', 'often'),
        ('DEFAULT', 'update_resources_interval', '99999999999999'),
        ('DEFAULT', 'periodic_fuzzy_delay', '-1'),
        ('DEFAULT', 'periodic_fuzzy_delay', '604801'),
        ('DEFAULT', 'periodic_fuzzy_delay', '1.5'),
        ('DEFAULT', 'reserved_host_cpus', '-1'),
        ('DEFAULT', 'reserved_host_cpus', '2147483648'),
        ('DEFAULT', 'reserved_host_memory_mb', '2147483648'),
        ('DEFAULT', 'reserved_host_disk_mb', '9' * 500),
        ('DEFAULT', 'reserved_host_cpus', '1.5'),
        ('DEFAULT', 'reserved_host_memory_mb', '-1'),
        ('DEFAULT', 'reserved_host_disk_mb', '-1'),
        *(
            ('DEFAULT', f'{initial}{stem}_allocation_ratio', value)
            for initial in ('', 'initial_')
            for stem in ('cpu', 'ram', 'disk')
            for value in ('-0.1', 'much')
        ),
        ('DEFAULT', 'cpu_allocation_ratio', 'nan'),
        ('DEFAULT', 'cpu_allocation_ratio', '1e39'),
        ('DEFAULT', 'initial_cpu_allocation_ratio', 'inf'),
        ('compute', 'update_resources_max_workers', '0'),
        ('compute', 'resource_provider_association_refresh', '-1'),
        ('compute', 'resource_provider_association_refresh', '9' * 500),
        ('compute', 'update_resources_max_workers', '65'),
        ('compute_agent', 'full_read_interval', '-1'),
        ('compute_agent', 'full_read_interval', '9' * 500),
        ('compute_agent', 'max_requests_per_second', '-1'),
        ('compute_agent', 'max_requests_per_second', '0.009'),
        ('compute_agent', 'max_requests_per_second', '1e9'),
        ('compute_agent', 'max_requests_per_second', 'inf'),
        ('compute_agent', 'max_requests_per_second', 'nan'),
        ('compute_agent', 'max_requests_per_second', 'few'),
        ('placement', 'embedded', 'perhaps'),
        ('placement', 'embedded_port', '65536'),
        ('placement', 'timeout', 'long'),
    ],
)
def test_a_value_out_of_range_is_said_with_its_option(
    load, group, option, value
):
    with pytest.raises(cfg.Error, match=option):
        load(f'[{group}]\n{option} = {value}\n')


@pytest.mark.parametrize(
    ('group', 'option', 'value'),
    [
        ('DEFAULT', 'update_resources_interval', '-1'),
        ('DEFAULT', 'periodic_fuzzy_delay', '0'),
        ('DEFAULT', 'periodic_fuzzy_delay', '604800'),
        ('DEFAULT', 'cpu_allocation_ratio', '0'),
        ('DEFAULT', 'initial_ram_allocation_ratio', '0.5'),
        ('compute', 'update_resources_max_workers', '64'),
        ('compute', 'resource_provider_association_refresh', '0'),
        ('compute_agent', 'full_read_interval', '0'),
        ('compute_agent', 'max_requests_per_second', '0.01'),
        ('compute_agent', 'max_requests_per_second', '10000'),
        ('placement', 'embedded_port', '0'),
        ('placement', 'auth_type', 'password'),
        ('placement', 'region_name', 'RegionOne'),
    ],
)
def test_a_value_at_its_bound_is_taken(load, group, option, value):
    conf = load(f'[{group}]\n{option} = {value}\n')
    where = conf if group == 'DEFAULT' else conf[group]
    assert str(where[option]).removesuffix('.0') == value


HAS_DEFAULT = [
    (group, opt.name)
    for group, opt in OWN
    if opt.default not in (None, '', []) and not isinstance(opt, cfg.BoolOpt)
]


@pytest.mark.parametrize(
    ('group', 'option'), [*HAS_DEFAULT, ('placement', 'timeout')]
)
def test_an_option_without_a_value_is_refused_with_what_its_absence_means(
    load, group, option
):
    said = (
        rf'\[{group}\] {option} is empty: give it a value, or remove the line'
    )
    with pytest.raises(cfg.Error, match=said):
        load(f'[{group}]\n{option} =\n')


def test_a_yes_or_no_without_a_value_is_refused_by_its_name(load):
    with pytest.raises(cfg.Error, match="adopt_existing_roots.*value ''"):
        load('[compute_agent]\nadopt_existing_roots =\n')


def test_empty_means_unset_where_there_is_no_default(load):
    conf = load(
        '[DEFAULT]\nhost =\ncpu_allocation_ratio =\n'
        '[compute_agent]\nmasked_traits =\n'
    )
    assert not conf.host
    assert conf.cpu_allocation_ratio is None
    assert conf.compute_agent.masked_traits == []


def test_options_of_nova_that_mean_nothing_here_are_no_mistake(load):
    load('[DEFAULT]\nmy_ip = 10.0.0.1\n[vnc]\nenabled = true\n')


def test_instances_stand_in_the_state_directory(load):
    conf = load('[DEFAULT]\nstate_path = /srv/agent\n')
    assert conf.instances_path == '/srv/agent/instances'


@pytest.mark.parametrize(
    ('group', 'opt'), OWN, ids=[f'{g}.{o.dest}' for g, o in OWN]
)
def test_every_option_is_explained_in_full_sentences(group, opt):
    assert opt.help[0].isupper()
    assert opt.help.endswith('.')
    assert '  ' not in opt.help


def test_the_list_for_the_sample_file_is_complete(load):
    listed = {
        (str(group), opt.dest)
        for group, opts in agent_conf.list_opts()
        for opt in opts
    }
    assert {(group, opt.dest) for group, opt in OWN} <= listed
    conf = load()
    unlisted = {d for d in conf.placement if ('placement', d) not in listed}
    # The API version is the client's choice, the other one is deprecated.
    unlisted = {d for d in unlisted if 'version' not in d}
    assert unlisted <= {'interface'}


def test_the_list_names_no_option_twice():
    for _, opts in agent_conf.list_opts():
        dests = [opt.dest for opt in opts]
        assert len(dests) == len(set(dests))


def test_groups_may_be_registered_without_placement():
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.LOCAL)
    conf([])
    agent_conf.check(conf, agent_conf.LOCAL)
    assert 'placement' not in conf
