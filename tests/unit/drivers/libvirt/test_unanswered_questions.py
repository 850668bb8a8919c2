# SPDX-License-Identifier: Apache-2.0
"""A question that libvirt does not answer is told, and changes no trait.

The driver asks through a real connection; the binding below it is scripted,
because a real libvirtd is slow with one question only by accident.
"""

import contextlib
import dataclasses
import threading
import types

import pytest
import recorded_hosts
import recorded_libvirt

from drivers.libvirt import driver
from drivers.libvirt_python import connection
from drivers.libvirtd import hypervisor

UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
ERRORS = (
    'ACCESS_DENIED',
    'ARGUMENT_UNSUPPORTED',
    'CONFIG_UNSUPPORTED',
    'INVALID_ARG',
    'NO_SUPPORT',
    'OPERATION_DENIED',
    'OPERATION_UNSUPPORTED',
)
UNSUPPORTED = 3


class LibvirtError(Exception):
    """The binding's error, with libvirt's number of it."""

    number = 1  # an internal error

    def get_error_code(self):
        return self.number


def refuse():
    error = LibvirtError('this function is not supported')
    error.number = UNSUPPORTED
    raise error


class Opened:
    """A connection to the libvirt of a recorded host."""

    def __init__(self, folder):
        self._answers = recorded_libvirt.Recorded(folder)
        self.before = lambda: None  # the answer about a kind of guest

    def isAlive(self):  # noqa: N802 libvirt's name
        return True

    def close(self):
        pass

    def getHostname(self):  # noqa: N802
        return self._answers.hostname()

    def getLibVersion(self):  # noqa: N802
        return 12_003_000

    def getVersion(self):  # noqa: N802
        return 10_002_000

    def getType(self):  # noqa: N802
        return 'QEMU'

    def getCapabilities(self):  # noqa: N802
        return self._answers.capabilities()

    def getDomainCapabilities(self, emulator, arch, machine, kind, flags):  # noqa: N802
        self.before()
        request = hypervisor.DomainCapabilitiesRequest(
            emulator=emulator, arch=arch, machine=machine, virt_type=kind
        )
        return self._answers.domain_capabilities(request, flags)

    def getInfo(self):  # noqa: N802
        return ['x86_64', self._answers.memory_mib()]

    def getCPUMap(self, flags):  # noqa: N802
        return 2, [True, True], 2

    def listAllDomains(self, flags):  # noqa: N802
        return []

    def baselineCPU(self, cpus, flags):  # noqa: N802
        refuse()


class Host:
    """The driver of a recorded host, and its root in placement."""

    def __init__(self, folder):
        self.opened = Opened(folder / 'libvirt')
        asked = connection.Connection('qemu:///system', self._binding)
        self.driver = driver.LibvirtDriver.on_host(
            recorded_hosts.configuration(),
            dataclasses.replace(
                recorded_hosts.sources_of(folder), libvirt=asked
            ),
        )
        self._placed = {'inventory': {}, 'traits': []}

    def _binding(self):
        numbers = {f'VIR_ERR_{name}': UNSUPPORTED for name in ERRORS}
        return types.SimpleNamespace(
            libvirtError=LibvirtError,
            VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES=1,
            open=lambda uri: self.opened,
            **numbers,
        )

    def cycle(self):
        """Describe the host again; return its traits and the notes."""
        name = self.driver.get_available_nodes()[0]
        tree = recorded_hosts.placed({name: self._placed})
        self.driver.update_provider_tree(tree, name)
        self._placed = recorded_hosts.plain(tree)[name]
        return set(self._placed['traits']), tree.notes


@pytest.fixture
def host(hosts):
    made = Host(hosts / 'amd-epyc-zen5')
    with contextlib.closing(made.driver):
        yield made


@pytest.fixture
def hangs(host, monkeypatch):
    """Let libvirt answer nothing about guests until the end of the block."""
    run = connection.BoundedCalls.run

    @contextlib.contextmanager
    def hangs():
        ended = threading.Event()
        host.opened.before = ended.wait
        with monkeypatch.context() as patch:
            patch.setattr(
                connection.BoundedCalls,
                'run',
                lambda self, call, limit=None: run(self, call, 1),
            )
            yield
        ended.set()

    return hangs


def fail():
    raise LibvirtError('Failed to start QEMU for probing:\nKilled')


def test_one_that_takes_too_long_is_told_until_it_is_answered(host, hangs):
    driver = host.driver
    with hangs():
        unknown, told = host.cycle()
        again = host.cycle()
    assert 'HW_CPU_X86_AVX2' not in unknown
    (line,) = told
    assert 'libvirt at qemu:///system does not tell' in line
    assert 'no answer within' in line
    assert again == (unknown, told)
    assert 'HW_CPU_X86_AVX2' not in driver.authority
    while True:
        known, told = host.cycle()
        if not told:
            break
    assert 'HW_CPU_X86_AVX2' in known


def test_one_that_fails_is_told_and_leaves_the_traits(host):
    known, told = host.cycle()
    assert not told
    assert 'HW_CPU_X86_AVX2' in known
    host.opened.getVersion = fail
    host.opened.before = fail
    kept, (line,) = host.cycle()
    assert kept == known
    assert line == (
        'libvirt at qemu:///system does not tell the releases: Failed to '
        'start QEMU for probing: Killed; what libvirt tells of the host '
        'stays as it is'
    )


def test_one_of_a_command_is_not_told_by_the_next_cycle(host):
    host.opened.before = fail
    host.driver.evidence(host.driver.get_available_nodes()[0])
    host.opened.before = lambda: None
    assert not host.cycle()[1]


def test_one_that_libvirt_never_answers_is_not_told(host):
    host.opened.before = refuse
    assert not host.cycle()[1]
