# SPDX-License-Identifier: Apache-2.0
"""The file is read anew in each cycle; a bad one never means "no nodes".

White-box: one test compares the private reading, because a file that is not
parsed again shows nowhere else.
"""

import pathlib

import pytest
from oslo_config import cfg

from compute_agent import errors
from compute_agent.virt import driver as contract
from drivers.fake import conf, driver

TWO = 'nodes: [{name: CN1}, {name: CN2}]\nauthority: [CUSTOM_FAKE_*]\n'
BAD = 'nodes:\n- name: 1\n'


@pytest.fixture
def configured():
    """Return configuration as the loader makes it, with this file."""

    def configuration(path):
        options = cfg.ConfigOpts()
        driver.FakeDriver.register_opts(options)
        options([], default_config_files=[])
        options.set_override('file', path, group='fake')
        return options

    return configuration


def test_it_starts_from_configuration(configured, write):
    fake = driver.FakeDriver.from_conf(configured(write(TWO)))
    assert fake.get_available_nodes() == ['CN1', 'CN2']
    assert fake.authority == ('CUSTOM_FAKE_*',)


@pytest.mark.parametrize(
    ('text', 'chosen'),
    [('', None), ('node_filter: {}', {}), ('node_filter: {a: b}', {'a': 'b'})],
)
def test_its_filter_is_that_of_the_file(configured, write, text, chosen):
    fake = driver.FakeDriver.from_conf(configured(write(TWO + text)))

    assert fake.node_filter == chosen


def test_a_start_without_a_file_says_which_option_to_set(configured):
    with pytest.raises(errors.ConfigError) as caught:
        driver.FakeDriver.from_conf(configured(None))
    assert str(caught.value) == (
        '[fake] file is not set; write the path of the YAML file that '
        'describes the nodes'
    )


def test_a_start_with_a_bad_file_fails_with_the_line(configured, write, told):
    with pytest.raises(errors.ConfigError) as caught:
        driver.FakeDriver.from_conf(configured(write(BAD)))
    assert told(caught.value).startswith('f.yaml:2: nodes[0].name: 1 is wrong')


def test_an_edit_counts_from_the_next_cycle_on(fake, write, rooted):
    it = fake(TWO)
    write('nodes: [{name: CN2, traits: [CUSTOM_A]}]\n')
    it.update_provider_tree(rooted(), 'CN1')
    assert it.get_available_nodes() == ['CN2']
    assert list(it.get_nodenames_by_uuid().values()) == ['CN2']
    assert it.authority == ()


def test_an_unchanged_file_is_not_taken_apart_again(fake):
    it = fake(TWO)
    before = it._reading
    it.get_available_nodes()
    assert it._reading is before


def test_a_file_gone_bad_is_an_error_and_never_a_shorter_list(
    fake, write, told
):
    it = fake(TWO)
    write(BAD)
    with pytest.raises(errors.DriverError) as caught:
        it.get_available_nodes()
    assert told(caught.value) == (
        'f.yaml:2: nodes[0].name: 1 is wrong here; write the name of the '
        'provider as text'
    )


def test_while_the_file_is_bad_the_last_good_reading_stays(
    fake, write, rooted
):
    it = fake(TWO)
    write(BAD)
    with pytest.raises(errors.DriverError):
        it.get_available_nodes()
    it.update_provider_tree(rooted(), 'CN1')
    assert set(it.get_nodenames_by_uuid().values()) == {'CN1', 'CN2'}


def test_a_mended_file_is_read_again(fake, write):
    it = fake(TWO)
    write(BAD)
    with pytest.raises(errors.DriverError):
        it.get_available_nodes()
    write('nodes: []\n')
    assert it.get_available_nodes() == []


def test_a_node_in_the_file_exists_and_one_that_left_does_not(fake, write):
    it = fake(TWO)
    write('nodes: [{name: CN1}]\n')
    assert it.node_exists('CN1') is contract.Existence.YES
    assert it.node_exists('CN2') is contract.Existence.NO


@pytest.mark.parametrize('text', [BAD, None], ids=['bad', 'missing'])
def test_nobody_knows_what_exists_while_the_file_is_wrong(fake, write, text):
    it = fake(TWO)
    path = write(text or '')
    if text is None:
        pathlib.Path(path).unlink()
    assert it.node_exists('CN1') is contract.Existence.UNKNOWN
    assert it.node_exists('gone') is contract.Existence.UNKNOWN


def test_asking_for_one_node_does_not_change_the_cycle_under_way(fake, write):
    it = fake(TWO)
    write('nodes: [{name: CN1}]\n')
    it.node_exists('CN2')
    assert set(it.get_nodenames_by_uuid().values()) == {'CN1', 'CN2'}


def test_uuids_lead_to_names_whether_given_or_made(fake):
    uuid = '22222222-2222-4222-8222-222222222222'
    it = fake(f'nodes: [{{name: CN1, uuid: {uuid}}}, {{name: CN2}}]\n')
    by_uuid = it.get_nodenames_by_uuid()
    assert by_uuid[uuid] == 'CN1'
    assert sorted(by_uuid.values()) == ['CN1', 'CN2']


def test_a_node_the_file_lacks_cannot_be_described(fake, rooted, told):
    it = fake(TWO)
    for ask in (
        lambda: it.update_provider_tree(rooted(), 'CN9'),
        lambda: it.evidence('CN9'),
    ):
        with pytest.raises(errors.DriverError) as caught:
            ask()
        assert told(caught.value) == (
            "f.yaml:1: there is no node 'CN9' in this file; write it under "
            'nodes'
        )


def test_the_options_are_listed_for_the_sample_file():
    ((group, options),) = conf.list_opts()
    assert group == 'fake'
    assert [option.name for option in options] == ['file']
    assert all(option.help.endswith('.') for option in options)
