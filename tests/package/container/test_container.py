# SPDX-License-Identifier: Apache-2.0
"""The image of packaging/Containerfile is built, and its program runs.

It needs root, buildah, a network, and the wheel that ``make dist`` builds. The
image begins with a Debian that mmdebstrap makes, because no registry is asked;
COMPUTE_AGENT_DEBIAN may name a tar archive of one. The words of
COMPUTE_AGENT_BUILD are further options of ``buildah build``, for example for an
index of packages that needs a certificate. buildah runs programs in a chroot
here, with the network and the processes of the host.
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess

import pytest
from debian_machine import PATIENCE, wait_for

ROOT = pathlib.Path(__file__).parents[3]
BASE = 'localhost/debian'
IMAGE = 'localhost/compute-agent'
OWNER = 4711


class Builder:
    """buildah with a store of its own."""

    def __init__(self, folder):
        self._options = (
            'buildah', '--root', folder / 'store', '--runroot',
            folder / 'run', '--storage-driver', 'vfs',
        )  # fmt: skip

    def start(self, *words, **how):
        command = [*map(str, (*self._options, *words))]
        return subprocess.Popen(command, cwd=ROOT, text=True, **how)

    def attempt(self, *words):
        pipe = subprocess.PIPE
        process = self.start(*words, stdout=pipe, stderr=subprocess.STDOUT)
        output, _ = process.communicate()
        return process.returncode, output

    def run(self, *words):
        code, output = self.attempt(*words)
        assert code == 0, f'buildah {" ".join(map(str, words))}\n{output}'
        return output.strip()


@pytest.fixture(scope='module')
def builder(tmp_path_factory):
    """The builder, with a clean Debian as its base."""
    folder = tmp_path_factory.mktemp('buildah')
    made = Builder(folder)
    archive = os.environ.get('COMPUTE_AGENT_DEBIAN')
    if not archive:
        archive = folder / 'debian.tar'
        subprocess.run(
            ['mmdebstrap', '--quiet', '--variant=minbase', 'bookworm', archive],
            check=True,
        )  # fmt: skip
    container = made.run('from', 'scratch')
    made.run('add', container, archive, '/')
    made.run('commit', '--rm', container, BASE)
    yield made
    made.attempt('rm', '--all')
    made.attempt('rmi', '--all', '--force')


@pytest.fixture(scope='module')
def image(builder):
    """The configuration of the image, as containers get it."""
    builder.run(
        'build', '--isolation', 'chroot', '--format', 'docker',
        '--build-arg', f'BASE={BASE}', '--tag', IMAGE,
        *shlex.split(os.environ.get('COMPUTE_AGENT_BUILD', '')),
        '--file', 'packaging/Containerfile', '.',
    )  # fmt: skip
    shown = json.loads(builder.run('inspect', '--type', 'image', IMAGE))
    return shown['Docker']['config']


class Container:
    """A container of the image, with the two volumes of the page."""

    def __init__(self, builder, name, folder):
        self._builder = builder
        self.state = folder / 'state'
        self.conf = folder / 'etc' / 'compute-agent.conf'
        for made in (self.state, self.conf.parent):
            made.mkdir(mode=0o700)
            os.chown(made, OWNER, OWNER)
        self._words = (
            'run', '--isolation', 'chroot',
            '--volume', f'{self.conf.parent}:/etc/compute-agent:ro',
            '--volume', f'{self.state}:/var/lib/compute-agent', name, '--',
        )  # fmt: skip

    def start(self, *words):
        return self._builder.start(*self._words, *words)

    def attempt(self, *words):
        return self._builder.attempt(*self._words, *words)

    def status(self):
        code, output = self.attempt('compute-agent', 'status', '-f', 'json')
        return json.loads(output) if code == 0 else None


@pytest.fixture(scope='module')
def container(builder, image, placement, tmp_path_factory):
    """A container whose configuration names the placement of the test."""
    name = builder.run('from', IMAGE)
    made = Container(builder, name, tmp_path_factory.mktemp('volumes'))
    made.conf.write_text(
        '[DEFAULT]\ncompute_driver = libvirt\n'
        'state_path = /var/lib/compute-agent\nperiodic_fuzzy_delay = 0\n'
        f'[placement]\nauth_type = admin_token\ntoken = admin\n'
        f'endpoint = {placement.url}\n'
    )
    os.chown(made.conf, OWNER, OWNER)
    return made


def health(image):
    """Return the words of the health check."""
    kind, *words = image['Healthcheck']['Test']
    assert kind == 'CMD'
    return words


def test_the_image_starts_the_daemon_as_its_own_user(image):
    assert image['User'] == f'{OWNER}:{OWNER}'
    assert [*image['Entrypoint'], *image['Cmd']] == ['compute-agent', 'run']
    assert not image['Volumes']


def test_the_doctor_finds_nothing_that_fails(container, image):
    code, printed = container.attempt(*image['Entrypoint'], 'doctor')
    assert code == 0, printed


def test_the_drivers_that_need_libraries_load(container):
    python = 'import libvirt, cel_expr_python.cel'
    code, printed = container.attempt(
        '/opt/compute-agent/bin/python', '-c', python
    )
    assert code == 0, printed


def test_the_life_of_the_daemon(container, image, placement):
    daemon = container.start(*image['Entrypoint'], *image['Cmd'])
    try:
        status = wait_for(container.status)
        process = status['process']
        wait_for(placement.providers)
        owner = pathlib.Path(f'/proc/{process}').stat()
        assert owner.st_uid == owner.st_gid == OWNER
        assert container.attempt(*health(image))[0] == 0
        os.kill(process, signal.SIGTERM)
        assert daemon.wait(PATIENCE) == 0
    finally:
        daemon.kill()
        daemon.wait()
    assert container.attempt(*health(image))[0] == 1
    state = container.state / 'state.sqlite'
    assert state.stat().st_uid == OWNER
