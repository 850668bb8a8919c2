# SPDX-License-Identifier: Apache-2.0
"""``nova:MODULE.CLASS``: which class it names, and each mistake in a line."""

import sys

import pytest

from compute_agent import errors


def refusal(nova, name):
    with pytest.raises(errors.ConfigError) as caught:
        nova.load(name)
    assert '\n' not in str(caught.value)
    return str(caught.value)


def test_a_class_of_nova_is_known_by_its_own_name(nova):
    made = nova.load('nova:small.SmallDriver')
    assert type(made).__name__ == 'SmallDriver'
    assert type(made).__module__ == 'nova.virt.small'


def test_a_target_is_the_same_class_each_time(nova):
    first, second = (nova.load('nova:small.SmallDriver') for _ in range(2))
    assert type(first) is type(second)


def test_a_class_outside_nova_is_named_by_its_module(
    nova, tmp_path, monkeypatch
):
    (tmp_path / 'racks_of_a_vendor.py').write_text(
        'from nova.virt import small\n'
        'class Rack(small.SmallDriver):\n    pass\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = nova.load('nova:racks_of_a_vendor.Rack')
    assert made.get_available_nodes() == ['cn1']
    del sys.modules['racks_of_a_vendor']


@pytest.mark.parametrize(
    'name', ['nova', 'nova:', 'nova:SmallDriver', 'nova:small.', 'nova:a b.C']
)
def test_a_target_that_is_no_class_is_answered_with_an_example(nova, name):
    text = refusal(nova, name)
    assert '[DEFAULT] compute_driver = nova' in text
    assert 'such as nova:ironic.IronicDriver' in text


def test_without_nova_the_package_and_the_environment_are_named(without_nova):
    text = refusal(without_nova, 'nova:small.SmallDriver')
    assert 'nova is not installed where this agent runs' in text
    assert f'"{sys.executable} -m pip install nova"' in text


def test_a_class_that_is_not_there_is_answered_with_the_nearest(nova):
    text = refusal(nova, 'nova:small.SmalDriver')
    assert 'nova.virt.small has no class SmalDriver' in text
    assert 'did you mean SmallDriver?' in text
    assert 'Older' in text
    assert 'NoDriver' not in text


def test_a_module_that_is_not_there_is_answered_with_the_nearest(nova):
    text = refusal(nova, 'nova:smaller.SmallDriver')
    assert 'neither nova.virt.smaller nor smaller is a module' in text
    assert 'did you mean small?' in text


def test_a_module_that_cannot_be_imported_says_why(nova):
    text = refusal(nova, 'nova:broken.Driver')
    assert 'nova.virt.broken cannot be imported' in text
    assert "No module named 'there_is_no_such_module'" in text


def test_a_class_of_another_family_is_told_which(nova):
    text = refusal(nova, 'nova:small.NoDriver')
    assert 'is not a subclass of nova.virt.driver.ComputeDriver' in text


def test_a_driver_that_cannot_be_made_says_why(nova):
    text = refusal(nova, 'nova:small.Refuses')
    assert 'nova:small.Refuses cannot be made: no hypervisor' in text


def test_eventlet_in_the_process_is_refused(nova, monkeypatch):
    monkeypatch.setitem(sys.modules, 'eventlet', sys)
    text = refusal(nova, 'nova:small.SmallDriver')
    assert 'another package imported eventlet' in text
    assert 'in an agent of its own' in text


def test_a_wrong_option_of_novas_is_named(nova):
    nova.configure('[libvirt]\ncpu_power_management = perhaps\n')
    with pytest.raises(Exception, match='cpu_power_management'):
        nova.load('nova:libvirt.LibvirtDriver')


@pytest.mark.catches("nova's libvirt driver powers down the CPUs of guests")
def test_the_option_that_stops_the_cpus_of_guests_is_refused(nova):
    nova.configure('[libvirt]\ncpu_power_management = true\n')
    text = refusal(nova, 'nova:libvirt.LibvirtDriver')
    assert 'would power down the CPUs of running guests' in text
    assert nova.load('nova:small.SmallDriver')
