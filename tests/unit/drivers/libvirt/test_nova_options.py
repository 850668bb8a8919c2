# SPDX-License-Identifier: Apache-2.0
"""Each option of nova's that decides what is reported is honoured or named.

An option is honoured if the description of a recorded host changes with it. It
is named if the driver logs a line, or refuses it, or notes it in the tree,
with the option's name. What the agent does with an option for all drivers,
such as the allocation ratios, is tested elsewhere: ``parity/options.yaml`` has
a decision for each option of nova's, and says where.
"""

import dataclasses
import logging
import pathlib
import re

import pytest
import recorded_hosts
import yaml
from oslo_config import cfg

from compute_agent import conf as agent_conf
from compute_agent import errors
from drivers.ironic import conf as ironic_conf
from drivers.libvirt import conf as libvirt_conf
from drivers.libvirt import driver
from drivers.libvirt_python import options as libvirtd_options

TESTS = pathlib.Path(__file__).parents[3]
DEPLOYMENTS = TESTS / 'deployments'
CPU = 'intel-sapphire-rapids'
TDX = '[libvirt]\ncpu_mode = host-passthrough\n'
TPM = '[libvirt]\nswtpm_enabled = true\n'
RBD = '[libvirt]\nimages_type = rbd\nimages_rbd_pool = vms\n'
RESERVES = '[workarounds]\nreserve_disk_resource_for_image_cache = true'
INSTANCES = '[DEFAULT]\ninstances_path = /instances\n'
CACHE = '[image_cache]\nsubdirectory_name = cache'
GPU = '[devices]\nenabled_mdev_types = nvidia-230, nvidia-231\n'
SPEC = '[pci]\ndevice_spec = {"vendor_id": "144d"}\n'
REPORTED = '[pci]\nreport_in_placement = true\n'
WHITELIST = 'passthrough_whitelist = {"vendor_id": "144d"}'

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
    (CPU, '[libvirt]\ncpu_mode = custom\n', '[libvirt]\ncpu_models = Nehalem'),
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
    (
        CPU,
        TPM,
        '[libvirt]\nsupported_tpm_secret_security = user,host,deployment,users',
    ),
    (CPU, '', '[libvirt]\nimages_type = rdb'),
    (CPU, '', '[libvirt]\nhw_machine_type = x86_64=microvm'),
    (CPU, '', '[libvirt]\nlive_migration_permit_auto_converge = true'),
    (CPU, '', '[libvirt]\nlive_migration_permit_post_copy = true'),
    ('intel-xeon-tdx', TDX, '[libvirt]\nnum_intel_tdx_guests = 3'),
    ('intel-xeon-tdx', '', TDX.strip()),
    ('memory-in-files', '', '[libvirt]\nfile_backed_memory = 4096'),
    (
        'cpus-powered-down',
        '[compute]\ncpu_shared_set = 0-1\ncpu_dedicated_set = 2-7\n',
        '[libvirt]\ncpu_power_management = true',
    ),
    ('nvme-eight', SPEC, REPORTED.strip()),
    ('nvme-eight', REPORTED, SPEC.strip()),
    ('nvme-eight', REPORTED, f'[pci]\n{WHITELIST}'),
    ('nvme-eight', REPORTED, f'[DEFAULT]\npci_{WHITELIST}'),
    (
        'nic-virtual-functions',
        '',
        '[pci]\ndevice_spec = {"product_id": "101e", "remote_managed": "true"}',
    ),
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
    ('disk-with-image-cache', f'{INSTANCES}{CACHE}\n', RESERVES),
    ('disk-with-image-cache', f'{INSTANCES}{RESERVES}\n', CACHE),
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


CEPH = """[libvirt]
images_type = rbd
images_rbd_pool = vms
rbd_user = nova
images_rbd_ceph_conf = /etc/ceph/b.conf
"""


def test_the_options_of_ceph_are_those_of_its_command(tmp_path):
    path = tmp_path / 'nova.conf'
    path.write_text(CEPH)
    asked = []
    known = recorded_hosts.sources_of(recorded_hosts.HOSTS / CPU)

    def run(argv):
        asked.append(' '.join(argv))
        return known.run(argv)

    libvirt = driver.LibvirtDriver.on_host(
        recorded_hosts.configuration(path),
        dataclasses.replace(known, run=run),
    )
    recorded_hosts.describe(libvirt, recorded_hosts.empty_tree(libvirt))
    (command,) = (one for one in asked if one.startswith('ceph'))
    assert '--id nova --conf /etc/ceph/b.conf' in command


@pytest.mark.parametrize(
    ('options', 'uri'),
    [
        ('', 'qemu:///system'),
        ('virt_type = lxc', 'lxc:///system'),
        ('virt_type = parallels', 'parallels:///system'),
        ('connection_uri = qemu+tls://a/system', 'qemu+tls://a/system'),
    ],
)
def test_the_address_of_libvirt_is_as_for_nova(options, uri, tmp_path):
    path = tmp_path / 'nova.conf'
    path.write_text(f'[libvirt]\n{options}\n')
    conf = recorded_hosts.configuration(path)
    assert libvirtd_options.connection_uri(conf) == uri


DECISIONS = yaml.safe_load((TESTS / 'parity/options.yaml').read_text('utf-8'))
HONOURED = [
    (group, option, proof)
    for group, options in DECISIONS['honoured'].items()
    for option, proof in options.items()
]
WITHOUT_EFFECT = [
    (group, option)
    for entry in DECISIONS['without_effect']
    for group, options in entry.items()
    if group != 'why'
    for option in options
]
KNOWN = {*WITHOUT_EFFECT, *((group, option) for group, option, _ in HONOURED)}
# Options of [DEFAULT] that belong to libraries, or to releases before 34.
OF_OTHERS = re.compile(
    '(log|logging|metadata|osapi_compute)_|bindir$|debug$|quota_driver$|'
    'transport_url$'
)


def test_each_option_of_nova_has_one_decision():
    assert len(KNOWN) == len(HONOURED) + len(WITHOUT_EFFECT)
    assert all(entry['why'] for entry in DECISIONS['without_effect'])


@pytest.mark.parametrize(('group', 'option', 'proof'), HONOURED)
def test_an_option_that_is_honoured_has_a_proof(group, option, proof):
    if proof == 'OPTIONS':
        start = f'[{group}]\n{option} = '
        assert any(one.startswith(start) for _, _, one in OPTIONS)
    else:
        text = (TESTS / proof).read_text('utf-8')
        assert re.search(rf'\b{option}\b', text)


def test_the_options_that_the_agent_reads_are_those_that_it_honours():
    listed = (agent_conf, libvirt_conf, ironic_conf)
    read = {
        (group, opt.dest)
        for module in listed
        for group, opts in module.list_opts()
        for opt in opts
    }
    assert read & KNOWN == {(group, option) for group, option, _ in HONOURED}


@pytest.mark.parametrize(
    'path', sorted(DEPLOYMENTS.glob('*.conf')), ids=lambda path: path.stem
)
def test_each_option_of_a_deployment_has_a_decision(path):
    groups = {group for group, _ in KNOWN}
    group, undecided = '', []
    for line in path.read_text('utf-8').splitlines():
        section = re.match(r'\[(.+)\]', line)
        option = re.match(r'(\w+) *=', line)
        if section:
            group = section[1]
        elif option and group in groups and (group, option[1]) not in KNOWN:
            undecided.append((group, option[1]))
    assert [
        (group, option)
        for group, option in undecided
        if group != 'DEFAULT' or not OF_OTHERS.match(option)
    ] == []


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
