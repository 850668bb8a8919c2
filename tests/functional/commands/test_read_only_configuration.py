# SPDX-License-Identifier: Apache-2.0
"""A ConfigMap of Kubernetes as a directory of configuration.

Its folder has the mode 0777, each file is a link to one below it, and the mount
is read-only: nobody can write there. Root makes such a mount, in a mount
namespace that ends with the command.
"""

import os
import subprocess
import sys

import pytest

PROVIDERS = """meta: {schema_version: "1.0"}
providers:
  - identification: {uuid: $COMPUTE_NODE}
    traits: {additional: [CUSTOM_RACK_12]}
"""
UNSHARED = ('unshare', '--mount', '--propagation', 'private')


def can_mount(folder):
    """Tell whether this machine lets us make the mount."""
    try:
        return in_mount(folder, 'true').returncode == 0
    except FileNotFoundError:
        return False


def in_mount(folder, *command, options='ro,bind'):
    """Run a command that sees the folder in a mount of its own."""
    script = (
        f'mount --bind {folder} {folder} && '
        f'mount --options remount,{options} {folder} && exec "$@"'
    )
    return subprocess.run(
        [*UNSHARED, 'sh', '-c', script, 'sh', *command],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def config_map(cli, tmp_path):
    """The folder, as kubelet fills it."""
    folder = tmp_path / 'config'
    if os.geteuid() != 0:
        pytest.skip('only root mounts')
    data = folder / '..2026_11_26'
    data.mkdir(parents=True)
    (data / 'agent.conf').write_text(cli.config.read_text())
    (data / 'site.yaml').write_text(PROVIDERS)
    (folder / '..data').symlink_to(data.name)
    for name in ('agent.conf', 'site.yaml'):
        (folder / name).symlink_to(f'..data/{name}')
        (data / name).chmod(0o666)
    folder.chmod(0o777)
    if not can_mount(folder):
        pytest.skip('this machine does not let root make a mount')
    return folder


def read_providers_from(folder):
    """Have the configuration name the folder."""
    with (folder / 'agent.conf').open('a') as file:
        file.write(f'\n[compute]\nprovider_config_location = {folder}\n')


def plan(folder, options):
    """Return what ``plan`` says of the files in the folder."""
    return in_mount(
        folder,
        sys.executable,
        '-m',
        'compute_agent.cmd.app.start',
        f'--config-dir={folder}',
        'plan',
        options=options,
    )


def test_in_a_read_only_mount_modes_and_links_do_not_matter(config_map):
    read_providers_from(config_map)
    planned = plan(config_map, 'ro,bind')
    assert planned.returncode == 2, planned.stderr
    assert 'CUSTOM_RACK_12' in planned.stdout
    refused = plan(config_map, 'rw,bind')
    assert refused.returncode == 1
    assert f'{config_map} is not read: everybody may write' in refused.stderr


def test_a_link_that_leads_out_of_the_mount_is_not_followed(
    config_map, tmp_path
):
    outside = tmp_path / 'outside.yaml'
    outside.write_text(PROVIDERS)
    (config_map / 'site.yaml').unlink()
    (config_map / 'site.yaml').symlink_to(outside)
    read_providers_from(config_map)
    refused = plan(config_map, 'ro,bind')
    assert refused.returncode == 1, refused.stdout
    assert 'site.yaml' in refused.stderr
    assert 'symbolic link' in refused.stderr
