# SPDX-License-Identifier: Apache-2.0
"""Each option of nova's that decides what is reported is honoured or named.

An option is honoured if the description of a recorded host changes with it. It
is named if the driver logs a line, or refuses it, or notes it in the tree,
with the option's name. What the agent does with an option for all drivers,
such as the allocation ratios, is tested elsewhere.
"""

import logging
import pathlib

import pytest
import recorded_hosts
import yaml
from oslo_config import cfg

from compute_agent import errors

DEPLOYMENTS = pathlib.Path(__file__).parents[3] / 'deployments'
CPU = 'intel-sapphire-rapids'
TDX = '[libvirt]\ncpu_mode = host-passthrough\n'
TPM = '[libvirt]\nswtpm_enabled = true\n'
RBD = '[libvirt]\nimages_type = rbd\nimages_rbd_pool = vms\n'
CACHE = (
    '[DEFAULT]\ninstances_path = /instances\n'
    '[image_cache]\nsubdirectory_name = cache\n'
)
GPU = '[devices]\nenabled_mdev_types = nvidia-230, nvidia-231\n'
SPEC = '[pci]\ndevice_spec = {"vendor_id": "144d"}\n'

# (the recorded host, the options beside it, the option itself)
OPTIONS = [
    (CPU, '', '[DEFAULT]\nreserved_host_cpus = 1'),
    (CPU, '', '[DEFAULT]\nreserved_host_memory_mb = 4096'),
    (CPU, '', '[DEFAULT]\nreserved_host_disk_mb = 20480'),
    (CPU, '', '[DEFAULT]\nvcpu_pin_set = 1-2'),
    (CPU, RBD, '[DEFAULT]\nforce_raw_images = false'),
    (CPU, '', '[compute]\ncpu_shared_set = 0-1'),
    (CPU, '', '[compute]\ncpu_dedicated_set = 2-3'),
    (CPU, '', '[compute]\nimage_type_exclude_list = iso'),
    (CPU, '', '[compute_agent]\nsubtract_huge_pages = true'),
    (CPU, '', '[libvirt]\nvirt_type = qemu'),
    (CPU, '', '[libvirt]\nvirt_type = lxc'),
    (CPU, '', '[libvirt]\ncpu_mode = none'),
    (CPU, '', '[libvirt]\ncpu_mode = maximum'),
    (CPU, '', '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem'),
    (CPU, '', '[libvirt]\ncpu_model_extra_flags = -aes'),
    (CPU, RBD, '[libvirt]\nimages_rbd_pool = volumes'),
    (CPU, '', '[libvirt]\nimages_type = rbd'),
    (
        CPU,
        '[libvirt]\nimages_type = lvm\n',
        '[libvirt]\nimages_volume_group = nova',
    ),
    (CPU, '', '[libvirt]\npmem_namespaces = small:ns0'),
    (CPU, '', '[libvirt]\nswtpm_enabled = true'),
    (CPU, TPM, '[libvirt]\nsupported_tpm_secret_security = user'),
    ('intel-xeon-tdx', TDX, '[libvirt]\nnum_intel_tdx_guests = 3'),
    ('intel-xeon-tdx', '', TDX.strip()),
    ('memory-in-files', '', '[libvirt]\nfile_backed_memory = 4096'),
    (
        'cpus-powered-down',
        '[compute]\ncpu_shared_set = 0-1\ncpu_dedicated_set = 2-7\n',
        '[libvirt]\ncpu_power_management = true',
    ),
    ('nvme-eight', SPEC, '[pci]\nreport_in_placement = true'),
    ('gpu-three-cards', '', '[devices]\nenabled_mdev_types = nvidia-230'),
    ('gpu-three-cards', '', '[devices]\nenabled_vgpu_types = nvidia-230'),
    (
        'gpu-three-cards',
        GPU,
        '[mdev_nvidia-231]\ndevice_addresses = 0000:86:00.0',
    ),
    (
        'gpu-three-cards',
        f'{GPU}[mdev_nvidia-231]\ndevice_addresses = 0000:86:00.0\n',
        '[mdev_nvidia-231]\nmdev_class = CUSTOM_BIG',
    ),
    (
        'gpu-three-cards',
        f'{GPU}[mdev_nvidia-231]\ndevice_addresses = 0000:86:00.0\n',
        '[mdev_nvidia-231]\nmax_instances = 1',
    ),
    (
        'disk-with-image-cache',
        CACHE,
        '[workarounds]\nreserve_disk_resource_for_image_cache = true',
    ),
]


@pytest.fixture
def outcome(tmp_path, caplog):
    """Return a function: a host and options → the tree and all lines."""

    def outcome(host, text):
        path = tmp_path / 'nova.conf'
        path.write_text(text)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            try:
                libvirt = recorded_hosts.driver_on(
                    recorded_hosts.HOSTS / host, path
                )
                tree = recorded_hosts.empty_tree(libvirt)
                recorded_hosts.describe(libvirt, tree)
            except (errors.AgentError, cfg.Error) as exc:
                return {}, [str(exc)]
        said = [*caplog.messages, *tree.notes, *tree.faults]
        return recorded_hosts.plain(tree), said

    return outcome


@pytest.mark.parametrize(('host', 'beside', 'option'), OPTIONS)
def test_it_is_honoured_or_named(host, beside, option, outcome):
    before, earlier = outcome(host, beside)
    after, said = outcome(host, f'{beside}{option}\n')
    name = option.partition('\n')[2].partition(' =')[0]
    is_refused_otherwise = not after and said != earlier
    assert (
        after != before
        or is_refused_otherwise
        or any(name in line for line in said)
    )


def wanted(path):
    return yaml.safe_load(path.with_suffix('.yaml').read_text('utf-8'))


@pytest.fixture(
    params=[
        path
        for path in sorted(DEPLOYMENTS.glob('*.conf'))
        if wanted(path)['driver'] == 'libvirt'
    ],
    ids=lambda path: path.stem,
)
def deployment(request, outcome):
    text = request.param.read_text('utf-8')
    expected = wanted(request.param)
    return expected, text, *outcome(expected['host'], text)


def test_a_deployment_is_described_as_its_options_say(deployment):
    expected, _, tree, _ = deployment
    (root, *children) = tree
    assert children == expected.get('children', [])
    for rc, fields in expected['root'].items():
        found = tree[root]['inventory'].get(rc)
        assert (found and {key: found[key] for key in fields}) == fields
    assert set(expected['present']) <= set(tree[root]['traits'])
    assert not set(expected['absent']) & set(tree[root]['traits'])


def test_what_a_deployment_asks_in_vain_is_said(deployment):
    expected, _, _, said = deployment
    assert len(said) == len(expected['says']), said
    for word in expected['says']:
        assert any(word in line for line in said), (word, said)


def test_a_deployment_has_as_many_options_as_real_ones(deployment):
    _, text, _, _ = deployment
    lines = [line for line in text.splitlines() if line[:1].islower()]
    assert len(lines) >= 60
