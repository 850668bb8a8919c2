# SPDX-License-Identifier: Apache-2.0
"""The signs of a nova-compute that reports this host."""

import pytest

from compute_agent.identity import nova_compute

UUID = 'aaaaaaaa-1111-4111-8111-111111111111'
OTHER = 'bbbbbbbb-1111-4111-8111-111111111111'


@pytest.fixture
def own(tmp_path):
    """The agent's directory."""
    path = tmp_path / 'own'
    path.mkdir()
    return path


@pytest.fixture
def host(own, tmp_path):
    """A function that looks at a host where these command lines run."""
    shared, proc = tmp_path / 'nova', tmp_path / 'proc'
    shared.mkdir()
    proc.mkdir()
    (proc / 'meminfo').write_text('MemTotal: 1 kB')

    def look(*lines):
        for number, words in enumerate(lines, 100):
            (proc / str(number)).mkdir()
            (proc / str(number) / 'cmdline').write_bytes(
                b'\0'.join(word.encode() for word in words.split()) + b'\0'
            )
        (proc / '9').mkdir()  # it ended meanwhile
        return nova_compute.NovaCompute([own, shared], proc)

    return look


def give(folder, uuid=UUID):
    (folder / 'compute_id').write_text(uuid)


@pytest.mark.parametrize(
    'line',
    [
        '/usr/bin/python3 /usr/bin/nova-compute --config-file nova.conf',
        '/var/lib/kolla/venv/bin/python3.11 /venv/bin/nova-compute',
        '/usr/local/bin/nova-compute',
        '/usr/bin/python3 -s /usr/bin/nova-compute --config-file nova.conf',
        '/usr/bin/python3 -W ignore -sP /usr/bin/nova-compute',
        '/usr/bin/python3 -m nova.cmd.compute',
    ],
)
@pytest.mark.catches('an owner creates the root where nova-compute runs')
def test_a_running_nova_compute_is_seen(host, own, line):
    give(own)
    nova = host('/sbin/init', line)
    assert 'it runs as process 101' in nova.reason_to_wait(UUID)
    assert 'set mode = companion' in nova.reason_to_wait(UUID)
    assert 'process 101' in nova.note()
    assert '\n' not in nova.reason_to_wait(UUID) + nova.note()


@pytest.mark.parametrize(
    'line',
    [
        'vi /etc/nova/nova-compute.conf',
        'tail -f /var/log/nova/nova-compute.log',
        'python3 -m pytest nova-compute',
        'python3 -W /usr/bin/nova-compute',
        'python3 -m',
        '/usr/bin/nova-compute-agent',
        '',
    ],
)
def test_other_programs_are_no_nova_compute(host, own, line):
    give(own)
    nova = host(line)
    assert nova.reason_to_wait(UUID) == nova.note() == ''


def test_a_uuid_that_this_agent_did_not_write_is_a_sign(host, own):
    give(own.parent / 'nova')
    assert f'file {own.parent}/nova/compute_id' in host().reason_to_wait(UUID)


def test_a_uuid_that_is_in_the_agent_s_directory_too_is_none(host, own):
    give(own)
    give(own.parent / 'nova')
    assert host().reason_to_wait(UUID) == ''


def test_a_root_of_another_host_does_not_wait(host, own):
    give(own)
    nova = host('/usr/bin/nova-compute')
    assert nova.reason_to_wait(OTHER) == ''


def test_a_nova_compute_that_ended_is_no_reason_any_more(host, own):
    give(own)
    nova = host('/usr/bin/nova-compute')
    assert nova.reason_to_wait(UUID)
    (own.parent / 'proc' / '100' / 'cmdline').unlink()
    assert nova.reason_to_wait(UUID) == ''
