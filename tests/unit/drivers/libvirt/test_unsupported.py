# SPDX-License-Identifier: Apache-2.0
"""An option of nova's that is not supported is named, and nothing is guessed."""

import logging

import pytest

from drivers.libvirt import conf as options
from drivers.libvirt import driver, unsupported

NODE = 'compute1'
NOTHING_SET = ''
SETTINGS = {
    '[libvirt]\nswtpm_enabled = true': {'COMPUTE_SECURITY_TPM_2_0'},
    '[libvirt]\nvirt_type = lxc': {'HW_CPU_X86_AVX2'},
}
HARMLESS = [
    NOTHING_SET,
    '[libvirt]\nvirt_type = qemu',
    '[libvirt]\ncpu_mode = host-passthrough',
    '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem',
    '[libvirt]\ncpu_mode = none',
    '[libvirt]\ncpu_model_extra_flags = aes,-avx',
    '[pci]\nreport_in_placement = false',
]


@pytest.fixture
def limited(nova_conf, make_driver, hosts):
    """Return a maker of drivers on a fake host, under a nova.conf."""

    def limited(text):
        return make_driver(
            hosts / 'amd-epyc-sev',
            limits=unsupported.effects(nova_conf(text)),
            wanted=options.guest_options(nova_conf(text)),
        )

    return limited


@pytest.mark.parametrize('text', SETTINGS)
def test_each_option_is_named_and_decides_its_names(nova_conf, text):
    (effect,) = unsupported.effects(nova_conf(text))
    option = text.partition('\n')[2].partition(' =')[0]
    assert option.replace('vgpu', 'mdev') in effect.line()
    assert all(effect.decides(trait) for trait in SETTINGS[text])
    assert not effect.decides('HW_CPU_HYPERTHREADING')
    assert not effect.decides('CUSTOM_GOLD')


@pytest.mark.parametrize('text', HARMLESS)
def test_other_settings_have_no_effect(nova_conf, text):
    assert unsupported.effects(nova_conf(text)) == ()


def test_traits_of_guests_with_another_cpu_are_neither_added_nor_removed(
    limited, tree
):
    tree.update_traits(NODE, ['HW_CPU_X86_AVX512F'])
    libvirt = limited('[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem')
    libvirt.update_provider_tree(tree, NODE)
    traits = tree.data(NODE).traits
    assert 'HW_CPU_X86_AVX512F' in traits
    assert 'HW_CPU_X86_AVX2' not in traits
    assert 'HW_ARCH_X86_64' in traits
    assert 'HW_CPU_X86_AVX2' not in libvirt.authority


def test_each_option_is_logged_once_when_the_driver_is_made(nova_conf, caplog):
    conf = nova_conf('[libvirt]\nswtpm_enabled = true\nvirt_type = lxc')
    with caplog.at_level(logging.WARNING):
        driver.LibvirtDriver.from_conf(conf)
    first, second = (record.getMessage() for record in caplog.records)
    assert first == (
        'the libvirt driver does not support [libvirt] swtpm_enabled, so it '
        'leaves COMPUTE_SECURITY_TPM_* as placement has it'
    )
    assert '[libvirt] virt_type = lxc' in second
