# SPDX-License-Identifier: Apache-2.0
"""An option of nova's that is not supported is named, and nothing is guessed.

The host of the first tests pins processors: nova-compute would report one of
them as VCPU and one as PCPU. A driver that ignored the option would offer both
as VCPU.
"""

import logging

import pytest
from oslo_config import cfg

from compute_agent.conf import default
from drivers.libvirt import conf as options
from drivers.libvirt import driver, unsupported

NODE = 'compute1'
NOTHING_SET = ''
SETTINGS = {
    '[DEFAULT]\nvcpu_pin_set = 2-5': ({'VCPU'}, set()),
    '[compute]\ncpu_shared_set = 0-1': ({'VCPU'}, set()),
    '[compute]\ncpu_dedicated_set = 2-5': ({'VCPU', 'PCPU'}, set()),
    '[libvirt]\ncpu_power_management = true': ({'VCPU', 'PCPU'}, set()),
    '[libvirt]\nfile_backed_memory = 1048576': ({'MEMORY_MB'}, set()),
    '[libvirt]\nimages_type = rbd': ({'DISK_GB'}, set()),
    '[libvirt]\nimages_type = lvm': ({'DISK_GB'}, set()),
    '[workarounds]\nreserve_disk_resource_for_image_cache = true': (
        {'DISK_GB'},
        set(),
    ),
    '[libvirt]\npmem_namespaces = 6GB:ns0|ns1,small:ns2': (
        {'CUSTOM_PMEM_NAMESPACE_6GB', 'CUSTOM_PMEM_NAMESPACE_SMALL'},
        set(),
    ),
    '[devices]\nenabled_mdev_types = nvidia-35': (set(), set()),
    '[devices]\nenabled_vgpu_types = nvidia-35': (set(), set()),
    '[pci]\nreport_in_placement = true': (set(), set()),
    '[libvirt]\nnum_intel_tdx_guests = 15': (set(), set()),
    '[libvirt]\nswtpm_enabled = true': (
        set(),
        {'COMPUTE_SECURITY_TPM_2_0'},
    ),
    '[libvirt]\nvirt_type = lxc': (set(), {'HW_CPU_X86_AVX2'}),
}
HARMLESS = [
    NOTHING_SET,
    '[libvirt]\nimages_type = qcow2\nvirt_type = qemu',
    '[libvirt]\ncpu_mode = host-passthrough',
    '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem',
    '[libvirt]\ncpu_mode = none',
    '[libvirt]\ncpu_model_extra_flags = aes,-avx',
    '[pci]\nreport_in_placement = false',
]


@pytest.fixture
def read(tmp_path):
    """Return a function that reads the text of a nova.conf."""

    def read(text):
        path = tmp_path / 'nova.conf'
        path.write_text(text + '\n')
        conf = cfg.ConfigOpts()
        default.register_opts(conf)
        options.register_opts(conf)
        conf(['--config-file', str(path)])
        return conf

    return read


@pytest.fixture
def limited(read, make_driver, hosts):
    """Return a maker of drivers on a fake host, under a nova.conf."""

    def limited(text):
        return make_driver(
            hosts / 'amd-epyc-sev',
            limits=unsupported.effects(read(text)),
            wanted=options.guest_options(read(text)),
        )

    return limited


@pytest.mark.parametrize('text', SETTINGS)
def test_each_option_is_named_and_decides_its_names(read, text):
    classes, traits = SETTINGS[text]
    (effect,) = unsupported.effects(read(text))
    option = text.partition('\n')[2].partition(' =')[0]
    assert option.replace('vgpu', 'mdev') in effect.line()
    assert set(effect.classes) == classes
    assert all(effect.decides(trait) for trait in traits)
    assert not effect.decides('HW_CPU_HYPERTHREADING')
    assert not effect.decides('CUSTOM_GOLD')


@pytest.mark.parametrize('text', HARMLESS)
def test_other_settings_have_no_effect(read, text):
    assert unsupported.effects(read(text)) == ()


def test_an_unknown_amount_is_not_offered(limited, tree):
    limited('[compute]\ncpu_dedicated_set = 2-5').update_provider_tree(
        tree, NODE
    )
    assert set(tree.data(NODE).inventory) == {'MEMORY_MB', 'DISK_GB'}


def test_an_unknown_amount_stays_as_placement_has_it(limited, tree):
    held = {'VCPU': {'total': 4}, 'PCPU': {'total': 60, 'reserved': 2}}
    tree.update_inventory(NODE, held | {'DISK_GB': {'total': 1}})
    before = tree.data(NODE).inventory
    limited('[compute]\ncpu_dedicated_set = 2-5').update_provider_tree(
        tree, NODE
    )
    after = tree.data(NODE).inventory
    assert (after['VCPU'], after['PCPU']) == (before['VCPU'], before['PCPU'])
    assert after['DISK_GB'] != before['DISK_GB']


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


def test_each_option_is_logged_once_when_the_driver_is_made(read, caplog):
    conf = read(
        '[compute]\ncpu_dedicated_set = 2-5\n[libvirt]\nimages_type = rbd'
    )
    with caplog.at_level(logging.WARNING):
        driver.LibvirtDriver.from_conf(conf)
    first, second = (record.getMessage() for record in caplog.records)
    assert first == (
        'the libvirt driver does not support [compute] cpu_dedicated_set, so '
        'it leaves PCPU and VCPU as placement has them'
    )
    assert second == (
        'the libvirt driver does not support [libvirt] images_type = rbd, so '
        'it leaves DISK_GB as placement has it'
    )
