# SPDX-License-Identifier: Apache-2.0
"""``[ironic]`` is nova's group; what is wrong in it is said at the start."""

import pathlib

import pytest
from oslo_config import cfg

from compute_agent import errors
from compute_agent.cmd.app import configuration
from compute_agent.virt import loader
from drivers.ironic import conf as options
from drivers.ironic import driver

SAMPLE = pathlib.Path(__file__).parents[4] / 'etc/compute-agent.conf.sample'
NOAUTH = """
auth_type = none
endpoint_override = http://ironic.test:6385
"""
PASSWORD = """
auth_type = password
auth_url = http://keystone.test/v3
username = nova
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""


@pytest.fixture
def load(tmp_path):
    """Return the driver of a file whose ``[ironic]`` says this."""

    def load(text, rest='', name='ironic'):
        path = tmp_path / 'agent.conf'
        path.write_text(f'[ironic]\n{text}\n{rest}')
        conf = cfg.ConfigOpts()
        conf([f'--config-file={path}'], project='compute-agent')
        with configuration.explained(conf):
            return loader.load(name, conf), conf

    return load


@pytest.mark.parametrize('name', ['ironic', 'ironic.IronicDriver'])
@pytest.mark.parametrize('text', [NOAUTH, PASSWORD])
def test_the_driver_is_made_by_its_name_or_nova_s(
    load, requests_mock, text, name
):
    made, _ = load(text, name=name)
    assert type(made) is driver.IronicDriver
    assert requests_mock.request_history == []


@pytest.mark.parametrize(
    'option', ['api_max_retries', 'api_retry_interval', 'timeout']
)
def test_an_empty_number_is_refused_with_what_its_absence_means(load, option):
    said = (
        rf'\[ironic\] {option} is empty: give it a value, or remove the line'
    )
    with pytest.raises(errors.ConfigError, match=said):
        load(f'{NOAUTH}{option} =\n')


def test_unset_options_have_the_documented_values(load):
    _, conf = load(NOAUTH)
    assert conf.ironic.service_type == 'baremetal'
    assert conf.ironic.valid_interfaces == ['internal', 'public']
    assert conf.ironic.timeout == 60
    assert conf.ironic.api_max_retries == 5
    assert conf.ironic.api_retry_interval == 2
    assert conf.ironic.trait_ownership == 'exclusive'
    assert conf.ironic.conductor_group is None
    assert conf.ironic.shard is None
    assert not conf.workarounds.skip_reserve_in_use_ironic_nodes


def test_the_sample_shows_the_same_values():
    shown = {opt.dest: opt for opt in dict(options.list_opts())['ironic']}
    for name, default in options.DEFAULTS.items():
        assert shown[name].default == default


@pytest.mark.parametrize(
    'plugin_option',
    ['auth_url', 'username', 'application_credential_id', 'endpoint'],
)
def test_the_sample_has_the_usual_plugins_options(plugin_option):
    shown = {opt.dest for opt in dict(options.list_opts())['ironic']}
    assert plugin_option in shown


@pytest.mark.parametrize(
    ('text', 'group'),
    [
        ('', None),
        ('conductor_group =', ''),
        ('conductor_group = hall-1', 'hall-1'),
        ('partition_key = hall-2', 'hall-2'),
        ('conductor_group = Hall-3', 'hall-3'),
    ],
)
def test_an_empty_conductor_group_is_the_default_one(
    load, play, sent, text, group
):
    made, _ = load(NOAUTH + text)
    play('/v1/nodes', {'json': {'nodes': []}})
    made.get_available_nodes()
    (request,) = sent()
    _, _, query = request.partition('&conductor_group=')
    assert (query if 'conductor_group' in request else None) == group


@pytest.mark.parametrize(
    ('text', 'exclusive'),
    [
        ('', True),
        ('trait_ownership = exclusive', True),
        ('trait_ownership = merge', False),
    ],
)
def test_trait_ownership_decides_the_manner(load, text, exclusive):
    assert load(NOAUTH + text)[0]._manner.exclusive is exclusive


def test_nova_s_workaround_is_heard(load):
    rest = '[workarounds]\nskip_reserve_in_use_ironic_nodes = true\n'
    assert load(NOAUTH, rest)[0]._manner.skip_in_use


@pytest.mark.parametrize(
    ('text', 'line'),
    [
        ('', r'\[ironic\] auth_type is not set: write "password"'),
        ('auth_type = nosuch', r"\[ironic\] auth_type: .* no plugin 'nosuch'"),
        (
            'auth_type = none',
            r'no catalog .*: write the address as endpoint_override',
        ),
        (
            'auth_type = http_basic\nusername = a\npassword = b',
            r'auth_type http_basic has no catalog',
        ),
        (
            'auth_type = none\nendpoint = ironic.test:6385',
            r"\[ironic\] endpoint 'ironic.test:6385' is not an address",
        ),
        (
            'auth_type = none\nendpoint_override = ironic',
            r"\[ironic\] endpoint_override 'ironic' is not an address",
        ),
        (
            PASSWORD.replace('http://keystone', 'keystone'),
            r"\[ironic\] auth_url 'keystone.test/v3' is not an address",
        ),
        (f'{NOAUTH}shard =', 'shard'),
        (f'{NOAUTH}shard = a,b', 'shard'),
        (f'{NOAUTH}conductor_group = a b', 'conductor_group'),
        (f'{NOAUTH}api_max_retries = -1', 'api_max_retries'),
        (f'{NOAUTH}api_max_retries = often', 'api_max_retries'),
        (f'{NOAUTH}api_retry_interval = -1', 'api_retry_interval'),
        (f'{NOAUTH}trait_ownership = shared', 'trait_ownership'),
        (f'{NOAUTH}timeout = soon', 'timeout'),
        (f'{NOAUTH}connect_retries = many', 'connect.retries'),
    ],
)
def test_what_is_wrong_is_one_line(load, text, line):
    with pytest.raises(errors.ConfigError, match=line) as raised:
        load(text)
    assert '\n' not in str(raised.value)


def test_a_bad_workaround_is_said_too(load):
    rest = '[workarounds]\nskip_reserve_in_use_ironic_nodes = perhaps\n'
    with pytest.raises(errors.ConfigError, match='skip_reserve_in_use'):
        load(NOAUTH, rest)


@pytest.mark.parametrize(
    'text',
    [
        'auth_type = none\nendpoint = http://ironic.test:6385/v1',
        NOAUTH.replace('none', 'http_basic\nusername = a\npassword = b'),
        f'{PASSWORD}\nendpoint_override = http://ironic.test:6385',
    ],
)
def test_each_way_to_give_the_address_is_used(load, play, requests_mock, text):
    requests_mock.get('http://keystone.test/v3', json={}, status_code=404)
    requests_mock.post(
        'http://keystone.test/v3/auth/tokens',
        json={
            'token': {
                'expires_at': '2999-01-01T00:00:00Z',
                'methods': ['password'],
                'user': {'id': 'me', 'name': 'me'},
            }
        },
        headers={'X-Subject-Token': 'a-token'},
    )
    made, _ = load(text)
    play('/v1/nodes', {'json': {'nodes': []}})
    assert made.get_available_nodes() == []


def test_the_plugin_s_options_may_stand_in_another_section(load, play):
    rest = (
        '[service_user]\nauth_type = none\nendpoint = http://ironic.test:6385'
    )
    made, _ = load('auth_section = service_user', rest)
    play('/v1/nodes', {'json': {'nodes': []}})
    assert made.get_available_nodes() == []


@pytest.mark.parametrize(
    'opt',
    [*options._OPTS, *options._WORKAROUND_OPTS],
    ids=lambda opt: opt.dest,
)
def test_each_option_of_ours_explains_itself_in_sentences(opt):
    assert opt.help.endswith('.')
    if isinstance(opt, cfg.IntOpt):
        assert opt.type.min is not None
        assert opt.type.max is not None


@pytest.mark.parametrize(
    ('group', 'opt'),
    [
        pytest.param(group, opt, id=f'{group}.{opt.dest}')
        for group, opts in options.list_opts()
        for opt in opts
    ],
)
def test_each_option_is_in_the_sample(group, opt):
    _, _, section = SAMPLE.read_text('utf-8').partition(f'\n[{group}]\n')
    lines = section.partition('\n[')[0].splitlines()
    names = {line.partition(' = ')[0].lstrip('#') for line in lines}
    assert opt.name.replace('-', '_') in names, 'run "make sample"'
