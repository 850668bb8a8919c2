# SPDX-License-Identifier: Apache-2.0
"""The life of the package on a clean Debian: each test goes on from the last.

A newcomer types the commands of docs/quickstart.md, as they stand there, and
then upgrades, removes and purges the package.
"""

import re
import shutil
import subprocess

import debian_machine
import pages
import pytest
from debian_machine import wait_for

PAGE = 'docs/quickstart.md'
PATH, CLOSER = (
    [c for c in pages.commands(PAGE) if c.block == block] for block in (0, 1)
)
INSTALL, EDIT, DOCTOR, START, NUMBERS = PATH

CONF = '/etc/compute-agent/compute-agent.conf'
STATE = '/var/lib/compute-agent'
NODES = '/etc/compute-agent/nodes'
AGENTS = ('rack1', 'rack2')
OURS = 'the operator wrote this line'
# The hands of a person in an editor, which a minimal Debian does not have. They
# do what the page says, and fill in an account that needs no keystone.
EDITOR = """#!/bin/sh
exec sed -i -e 's/^#metrics_bind = /metrics_bind = /' \\
    -e '/^.placement.$/,$ s/^#//' \\
    -e 's/^auth_type = .*/auth_type = admin_token/' \\
    -e 's|^auth_url = .*|endpoint = {url}|' \\
    -e 's/^password =.*/token = admin/' \\
    -e '/^username = /d; /^user_domain/d; /^project_/d' \\
    -e 's/^.placement.$/# {mark}\\n&/' "$1"
"""


def matches(command, printed):
    """Tell whether a command printed what the page shows."""
    return re.fullmatch(pages.pattern(command.shown), printed)


@pytest.fixture(scope='module')
def installed(machine, deb):
    shutil.copy(deb, machine.path('/root'))
    machine.run(INSTALL.text, answer='y\n')
    return machine


@pytest.fixture(scope='module')
def configured(installed, placement):
    """The machine after a person filled in the account."""
    editor = installed.path('/usr/bin/editor')
    editor.write_text(EDITOR.format(mark=OURS, url=placement.url))
    editor.chmod(0o755)
    installed.run(EDIT.text)
    return installed


@pytest.fixture(scope='module')
def started(configured):
    configured.run(START.text)
    return configured


@pytest.fixture(scope='module')
def newer(installed, deb, tmp_path_factory):
    """The path of the next revision, whose configuration differs, too."""
    work = tmp_path_factory.mktemp('newer')
    tree = work / 'tree'
    subprocess.run(['dpkg-deb', '-R', deb, tree], check=True)
    control = tree / 'DEBIAN' / 'control'
    text, changed = re.subn(
        r'^(Version: .*)-1$', r'\1-2', control.read_text(), flags=re.MULTILINE
    )
    assert changed == 1
    control.write_text(text)
    with (tree / CONF[1:]).open('a') as conf:
        conf.write('# a line of the next revision\n')
    subprocess.run(
        ['dpkg-deb', '--root-owner-group', '-Znone', '-b', tree, work],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (path,) = work.glob('*.deb')
    shutil.copy(path, installed.path('/root'))
    return f'./{path.name}'


def test_the_program_runs(installed):
    printed = installed.run('compute-agent --version')
    assert re.fullmatch(r'compute-agent [0-9]+[.][0-9]+[.][0-9]+.*', printed)


def test_every_file_of_the_package_is_as_it_was_packed(installed):
    assert installed.run('dpkg --verify compute-agent') == ''


def test_the_configuration_is_for_the_daemon_and_root_alone(installed):
    owner = 'stat --format "%U %G %a"'
    assert installed.run(f'{owner} {CONF}') == 'root compute-agent 640'
    assert installed.run(f'{owner} {STATE}') == (
        'compute-agent compute-agent 700'
    )


def test_the_daemon_waits_for_a_person_to_start_it(installed):
    assert installed.service('ActiveState') == 'inactive'
    assert installed.service('UnitFileState') == 'disabled'


def test_the_drivers_that_need_libraries_load(installed):
    listed = installed.run('compute-agent driver list -f value -c Name')
    assert {'host', 'ironic', 'libvirt'} <= set(listed.split())
    python = '/opt/compute-agent/bin/python'
    installed.run(f'{python} -c "import libvirt, cel_expr_python.cel"')


def test_bash_completes_and_man_has_the_page(installed):
    bash = 'usr/share/bash-completion/completions/compute-agent'
    assert 'complete -o filenames' in installed.path(bash).read_text()
    page = installed.run('zcat /usr/share/man/man1/compute-agent.1.gz')
    assert '.TH "COMPUTE-AGENT" "1"' in page


def test_the_page_takes_five_commands(configured):
    assert len(PATH) == 5
    written = configured.run(f'cat {CONF}')
    assert '\nmetrics_bind = 127.0.0.1:9733\n' in written
    assert OURS in written


def test_the_doctor_finds_nothing_that_fails(configured):
    examined = configured.run(DOCTOR.text)
    rows = [line.split(None, 1) for line in examined.splitlines()]
    assert {'configuration', 'driver', 'role', 'clock'} <= {r[0] for r in rows}
    assert configured.service('ActiveState') == 'inactive'


def test_the_plan_shows_what_the_first_start_will_do(configured):
    command = 'runuser -u compute-agent -- compute-agent plan'
    assert f'`{command}`' in (pages.ROOT / PAGE).read_text()
    plan = configured.attempt(command)
    assert plan.returncode == 2, plan.stderr
    assert 'create provider' in plan.stdout


def test_the_daemon_reports_the_host(started, placement):
    status = wait_for(lambda: started.service('StatusText'))
    assert started.service('ActiveState') == 'active'
    (uuid,) = wait_for(lambda: set(placement.providers().values()))
    inventory = f'/resource_providers/{uuid}/inventories'
    wait_for(lambda: 'VCPU' in placement.get(inventory)['inventories'])
    assert status
    assert started.run(f'cat {STATE}/compute_id') == uuid


def test_the_numbers_are_those_of_the_page(started):
    asked = wait_for(
        lambda: matches(NUMBERS, started.attempt(NUMBERS.text).stdout)
    )
    assert 'done' in asked[0]


@pytest.mark.parametrize('command', CLOSER, ids=str)
def test_a_closer_look_finds_the_host(started, placement, command):
    wait_for(lambda: matches(NUMBERS, started.attempt(NUMBERS.text).stdout))
    (name,) = placement.providers()
    assert name in started.run(command.text)


@pytest.fixture(scope='module')
def several(started):
    """Two more agents, of the template unit."""
    for name in AGENTS:
        conf = started.path(f'/etc/compute-agent/agents/{name}.conf')
        conf.write_text(
            '[DEFAULT]\ncompute_driver = fake\n'
            '[compute_agent]\n'
            f'metrics_bind = 127.0.0.1:{debian_machine.free_port()}\n'
            f'[fake]\nfile = {NODES}/{name}\n'
        )
        nodes = started.path(f'{NODES}/{name}')
        nodes.parent.mkdir(exist_ok=True)
        nodes.write_text(f'nodes: [{{name: {name}-n1}}]\n')
        unit = f'compute-agent@{name}'
        began = started.attempt(f'systemctl enable --now {unit}')
        assert began.returncode == 0, started.run(f'journalctl --unit {unit}')
    return started


def test_the_template_runs_one_agent_for_each_file(several, placement):
    wanted = {f'{name}-n1' for name in AGENTS}
    wait_for(lambda: wanted <= set(placement.providers()))
    for name in AGENTS:
        asked = f'compute-agent --agent {name} status -f json'
        status = wait_for(lambda asked=asked: several.attempt(asked).stdout)
        assert f'{name}-n1' in status
    refused = several.attempt('compute-agent status')
    assert refused.returncode == 1
    assert '--agent rack1 or rack2' in refused.stderr


def test_an_upgrade_keeps_all_and_restarts_the_daemons(
    several, newer, placement
):
    started = several
    units = ['compute-agent', *(f'compute-agent@{name}' for name in AGENTS)]
    before = placement.providers()
    earlier = {unit: started.service('MainPID', unit) for unit in units}
    written = started.run(f'cat {CONF}')
    keep = '-o Dpkg::Options::=--force-confold'
    started.run(f'apt-get install --yes {keep} {newer}')
    version = started.run("dpkg-query -f '${Version}' -W compute-agent")
    assert version.endswith('-2')
    assert started.run(f'cat {CONF}') == written
    assert OURS in written
    assert started.run(f'stat --format "%U %G %a" {CONF}') == (
        'root compute-agent 640'
    )
    for unit in units:
        assert started.service('ActiveState', unit) == 'active'
        assert started.service('MainPID', unit) not in {'0', earlier[unit]}
    done = 'journalctl --unit compute-agent --output cat'
    wait_for(lambda: started.service('StatusText'))
    assert placement.providers() == before
    assert 'Traceback' not in started.run(done)


def test_removal_stops_the_daemon_and_keeps_state_and_configuration(started):
    started.run('apt-get remove --yes compute-agent')
    assert started.attempt('pgrep compute-agent').stdout == ''
    assert OURS in started.run(f'cat {CONF}')
    assert started.path(f'{STATE}/state.sqlite').exists()
    assert not started.path('/opt/compute-agent').exists()


def test_purge_leaves_nothing(started):
    started.run(f'rm -r {NODES} /etc/compute-agent/agents/*')  # the operator's
    started.run('apt-get purge --yes compute-agent')
    left = 'find / -xdev -path /root -prune -o -name "*compute-agent*" -print'
    ignored = ('/var/log/', '/var/lib/apt/', '/var/cache/', '/proc/', '/tmp/')
    found = started.run(left).splitlines()
    assert [f for f in found if not f.startswith(ignored)] == []
    assert 'compute-agent' not in started.run('cat /etc/passwd /etc/group')
