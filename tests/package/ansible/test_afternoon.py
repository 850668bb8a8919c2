# SPDX-License-Identifier: Apache-2.0
"""docs/afternoon.md, typed as it stands, for three clean machines with sshd.

It needs root, mmdebstrap and systemd-nspawn, the package that ``make deb``
built, and Ansible (``make .servers/roll-out.stamp``). COMPUTE_AGENT_DEBIAN may
name a tar archive of a Debian with the packages below. The machines have this
host's network, so each sshd has a port. Each test goes on from the last.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import debian_machine
import pages
import pytest
import yaml
from debian_machine import Machine

ROOT = pathlib.Path(__file__).parents[3]
PAGE = 'docs/afternoon.md'
NAMES = ('cn1', 'cn2', 'cn3')
PACKAGES = (
    'ca-certificates,dbus,openssh-server,python3,python3-apt,'
    'sudo,systemd,systemd-sysv'
)
(
    (BUILD, COPY, CD, EDIT),
    (CHECK, INSTALL),
    (SUM_UP,),
    CANARY,
    ALL,
    (UPGRADE,),
    (LEAVE, PURGE),
) = (
    [c for c in pages.commands(PAGE) if c.block == block] for block in range(7)
)
CERTIFICATES = pathlib.Path('/etc/ssl/certs/ca-certificates.crt')
# What tells pip of an index, as where this test runs, and pip's words for it.
INDEX = {
    'PIP_INDEX_URL': 'index-url',
    'PIP_EXTRA_INDEX_URL': 'extra-index-url',
    'https_proxy': 'proxy',
}
SSHD = 'Port {port}\nListenAddress 127.0.0.1\nUsePAM no\n'
RECAP = re.compile(
    r'^(cn\d) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)',
    re.MULTILINE,
)


@pytest.fixture(scope='module')
def archive(tmp_path_factory):
    given = os.environ.get('COMPUTE_AGENT_DEBIAN')
    if given:
        return pathlib.Path(given)
    made = tmp_path_factory.mktemp('debian') / 'debian.tar'
    words = ['--quiet', '--variant=minbase', f'--include={PACKAGES}']
    skew = '--aptopt=Acquire::Check-Valid-Until "false"'
    subprocess.run(
        ['mmdebstrap', *words, skew, 'bookworm', str(made)], check=True
    )
    return made


@pytest.fixture(scope='module')
def key(tmp_path_factory):
    made = tmp_path_factory.mktemp('key') / 'key'
    subprocess.run(
        ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', made], check=True
    )
    return made


@contextlib.contextmanager
def a_machine(archive, key, name, directory, port) -> Iterator[Machine]:
    directory.mkdir()
    subprocess.run(['tar', '-C', directory, '-xf', archive], check=True)
    quick = directory / 'etc/dpkg/dpkg.cfg.d/quick'
    quick.write_text('force-unsafe-io\n')
    (directory / 'etc/hostname').write_text(f'{name}\n')
    (directory / 'etc/machine-id').write_text('')
    (directory / 'etc/hosts').write_text(f'127.0.0.1 localhost {name}\n')
    sshd = directory / 'etc/ssh/sshd_config.d/test.conf'
    sshd.write_text(SSHD.format(port=port))
    ssh = directory / 'root/.ssh'
    ssh.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(f'{key}.pub', ssh / 'authorized_keys')
    with debian_machine.booted(directory, f'--hostname={name}') as made:
        yield made


@pytest.fixture(scope='module')
def ports():
    return {name: debian_machine.free_port() for name in NAMES}


@pytest.fixture(scope='module')
def machines(archive, key, ports, tmp_path_factory):
    folder = tmp_path_factory.mktemp('machines')
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(
                a_machine(archive, key, name, folder / name, ports[name])
            )
            for name in NAMES
        }


@pytest.fixture(scope='module')
def deb(tmp_path_factory):
    """A copy of the package, where the page has it."""
    (built,) = (ROOT / 'build/deb').glob('compute-agent_*-1_*.deb')
    made = tmp_path_factory.mktemp('build') / 'compute-agent.deb'
    shutil.copy(built, made)
    return made


@pytest.fixture(scope='module')
def shell(machines, deb, key, ports, placement, tmp_path_factory):
    """Return the function that types a command in packaging/ansible."""
    folder = tmp_path_factory.mktemp('operator') / 'ansible'
    shutil.copytree(ROOT / 'packaging/ansible', folder)
    inventory = yaml.safe_load((folder / 'hosts.yml').read_text())
    group = inventory['compute_agents']
    group['hosts'] = {
        name: {'ansible_port': port} for name, port in ports.items()
    }
    group['vars'] |= {
        'ansible_host': '127.0.0.1',
        'ansible_user': 'root',
        'ansible_ssh_private_key_file': str(key),
        'ansible_ssh_common_args': '-o StrictHostKeyChecking=no '
        '-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR',
        'ansible_python_interpreter': '/usr/bin/python3',
        'compute_agent_deb': str(deb),
        'compute_agent_options': {
            'DEFAULT': {'compute_driver': 'host', 'periodic_fuzzy_delay': 0},
            'placement': {
                'auth_type': 'admin_token',
                'token': 'admin',
                'endpoint': placement.url,
            },
        },
    }
    (folder / 'hosts.yml').write_text(yaml.safe_dump(inventory))
    environment = {
        **os.environ,
        'ANSIBLE_HOME': str(folder.parent / 'home'),
        'PATH': f'{ROOT}/.servers/roll-out/bin:{os.environ["PATH"]}',
        'NO_COLOR': '1',
    }
    programs = folder.parents[1] / '.venv'
    programs.symlink_to(pathlib.Path(sys.executable).parents[1])

    def typed(command, code=0):
        ran = subprocess.run(
            ['bash', '-c', getattr(command, 'text', command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout

    return typed


def changed(printed):
    """Return what the recap says: host → number of changes."""
    found = RECAP.findall(printed)
    assert all(bad == failed == '0' for _, _, bad, failed in found), printed
    return {name: int(count) for name, count, _, _ in found}


def package(machine):
    show = "dpkg-query -W -f '${Version} ${Status}' compute-agent"
    return machine.attempt(show).stdout


def test_the_page_builds_the_package_where_its_hosts_look_for_it():
    assert BUILD.text == 'make deb'
    assert COPY.text.endswith(' build/deb/compute-agent.deb')
    assert CD.text == 'cd packaging/ansible'
    assert EDIT.text == 'editor hosts.yml'
    hosts = (ROOT / 'packaging/ansible/hosts.yml').read_text()
    assert '../../build/deb/compute-agent.deb' in hosts


def test_check_mode_changes_nothing(shell, machines, placement):
    assert changed(shell(CHECK)).keys() == {'cn1'}
    assert package(machines['cn1']) == ''
    assert placement.providers() == {}


def test_the_package_is_installed_in_waves_and_nothing_starts(
    shell, machines, placement
):
    printed = shell(INSTALL)
    assert changed(printed).keys() == set(NAMES)
    # Hosts of a wave share a play.
    assert printed.count('PLAY [Roll out compute-agent]') == 3
    for machine in machines.values():
        assert 'install ok installed' in package(machine)
        assert machine.service('ActiveState') == 'inactive'
    assert placement.providers() == {}


def test_a_second_run_changes_nothing(shell):
    """The role is idempotent, also for a link and a stopped unit."""
    assert set(changed(shell(INSTALL)).values()) == {0}


def test_the_plans_of_all_are_summed_up(shell):
    said = shell(SUM_UP, code=2)
    assert '  3  create the root (cn1, cn2, cn3)\n' in said


def test_the_canary_reports_and_then_has_nothing_to_do(
    shell, machines, placement
):
    for command in CANARY[:2]:
        shell(command)
    assert set(placement.providers()) == {'cn1'}
    assert machines['cn1'].service('UnitFileState') == 'enabled'
    assert 'nothing to do' in shell(CANARY[2])


def test_all_report(shell, placement):
    for command in ALL:
        shell(command)
    assert set(placement.providers()) == set(NAMES)


def test_an_upgrade_restarts_the_daemons(shell, machines, deb, tmp_path):
    before = [m.service('MainPID') for m in machines.values()]
    tree = tmp_path / 'tree'
    subprocess.run(['dpkg-deb', '-R', deb, tree], check=True)
    control = tree / 'DEBIAN/control'
    control.write_text(
        re.sub(r'(?m)^(Version: .*)-1$', r'\1-2', control.read_text())
    )
    subprocess.run(
        ['dpkg-deb', '--root-owner-group', '-Znone', '-b', tree, deb],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    shell(UPGRADE)
    for machine, process in zip(machines.values(), before, strict=True):
        assert '-2 install ok installed' in package(machine)
        assert machine.service('ActiveState') == 'active'
        assert machine.service('MainPID') != process


def test_one_host_leaves_and_keeps_its_files(shell, machines, placement):
    shell(LEAVE)
    assert set(placement.providers()) == {'cn1', 'cn2'}
    machine = machines['cn3']
    assert 'deinstall ok config-files' in package(machine)
    assert machine.path('/var/lib/compute-agent/state.sqlite').exists()


def test_all_leave_and_nothing_stays(shell, machines, placement):
    shell(PURGE)
    assert placement.providers() == {}
    for machine in machines.values():
        assert 'installed' not in package(machine)
        for name in ('/var/lib', '/etc', '/opt', '/var/cache'):
            assert not machine.path(f'{name}/compute-agent').exists()
        assert machine.attempt('id compute-agent').returncode != 0


@pytest.fixture(scope='module')
def with_environment(machines, wheel):
    """The command that installs the wheel on cn1 instead of the package."""
    machine = machines['cn1']
    shutil.copy(CERTIFICATES, machine.path('/etc/certificates.crt'))
    lines = ['[global]', 'cert = /etc/certificates.crt']
    lines += [
        f'{option} = {os.environ[name]}'
        for name, option in INDEX.items()
        if name in os.environ
    ]
    machine.run('apt-get update')  # as on any host that was looked after
    machine.path('/etc/pip.conf').write_text('\n'.join([*lines, '']))
    return (
        'ansible-playbook site.yml --limit cn1'
        ' -e compute_agent_method=venv'
        f' -e compute_agent_wheel={wheel} -e compute_agent_etc={ROOT}/etc'
        """ -e '{"compute_agent_extras": ["host"]}'"""
        ' -e compute_agent_running=true'
    )


def test_check_mode_changes_nothing_for_an_environment(
    shell, machines, with_environment
):
    shell(f'{with_environment} --check')
    assert not machines['cn1'].path('/opt/compute-agent').exists()


def test_the_role_makes_an_environment_and_changes_nothing_then(
    shell, machines, with_environment, placement
):
    shell(with_environment)
    assert set(placement.providers()) == {'cn1'}
    assert package(machines['cn1']) == ''
    assert changed(shell(with_environment)) == {'cn1': 0}


def test_the_environment_leaves_nothing(shell, machines, placement):
    shell(f'{PURGE.text} --limit cn1')
    assert placement.providers() == {}
    machine = machines['cn1']
    for name in ('/opt', '/etc', '/var/lib', '/var/cache'):
        assert not machine.path(f'{name}/compute-agent').exists()
    units = machine.path('/etc/systemd/system').glob('compute-agent*')
    assert not list(units)
