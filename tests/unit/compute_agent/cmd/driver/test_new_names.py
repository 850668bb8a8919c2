# SPDX-License-Identifier: Apache-2.0
"""The name of a new driver is valid and free, or one line says why not."""

import sys

import installed_package
import pytest

from compute_agent import errors
from compute_agent.cmd.driver import driver_new


def test_all_names_follow_from_the_drivers():
    names = driver_new.Names.of('rack_power2')
    assert names.distribution == 'rack-power2-driver'
    assert names.package == 'rack_power2_driver'
    assert names.class_name == 'RackPower2'


@pytest.mark.parametrize(
    'name',
    [
        *('', 'Rack', 'rack-power', 'rack.power', '2rack', '_rack', 'rack_'),
        *('rack__power', 'rack/power', '../rack', 'räck', 'rack\n', 'r' * 41),
    ],
)
def test_a_name_that_no_package_can_have_is_refused(name):
    with pytest.raises(errors.ConfigError, match='such as rack_power') as exc:
        driver_new.Names.of(name)
    assert '\n' not in str(exc.value)


@pytest.mark.parametrize('name', ['r', 'class', 'a1_b2', 'r' * 40])
def test_a_valid_name_is_accepted(name):
    assert driver_new.Names.of(name).name == name


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('fake', 'a driver fake is installed already: drivers.fake.driver:'),
        ('placement', 'the agent has options under the name placement'),
        ('state_path', 'the agent has options under the name state_path'),
        ('debug', 'the agent has options under the name debug'),
    ],
)
def test_a_name_in_use_is_refused(name, reason):
    with pytest.raises(errors.ConfigError) as exc:
        driver_new.check_free(driver_new.Names.of(name))
    assert str(exc.value).startswith(reason)
    assert str(exc.value).endswith('; choose another name')


def test_the_name_of_an_installed_package_is_refused(tmp_path, monkeypatch):
    (tmp_path / 'shelf_driver.py').touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        errors.ConfigError, match='Python package shelf_driver'
    ):
        driver_new.check_free(driver_new.Names.of('shelf'))
    assert 'shelf_driver' not in sys.modules


def test_the_name_of_an_installed_distribution_is_refused(
    tmp_path, monkeypatch
):
    installed_package.install(tmp_path, 'shelf-driver', '3.2')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(errors.ConfigError, match='shelf-driver 3.2 is inst'):
        driver_new.check_free(driver_new.Names.of('shelf'))


def test_a_free_name_is_accepted():
    driver_new.check_free(driver_new.Names.of('shelf'))


def test_the_nodes_of_two_new_drivers_have_different_uuids():
    first, second = map(driver_new.Names.of, ('one', 'two'))
    uuids = {
        names.example_uuid(n) for names in (first, second) for n in (1, 2)
    }
    assert len(uuids) == 4
