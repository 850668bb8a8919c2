# SPDX-License-Identifier: Apache-2.0
"""The connection asks libvirt, reopens what broke, and names what fails.

The binding is scripted: a real libvirtd does not break a connection, refuse a
user or lose a device on demand. The last test asks libvirt's own test driver,
where libvirt-python is installed.
"""

import types

import pytest

from drivers.libvirt.devices import node_devices
from drivers.libvirt_python import connection
from drivers.libvirtd import hypervisor

URI = 'qemu:///system'
REQUEST = hypervisor.DomainCapabilitiesRequest(
    emulator='', arch='x86_64', machine=None, virt_type='kvm'
)


class LibvirtError(Exception):
    """The binding's error, with libvirt's number of it."""

    def __init__(self, text, code=0, number=-1):
        super().__init__(text)
        self._code = code
        self._number = number

    def get_error_code(self):
        return self._code

    def get_int1(self):
        return self._number


NO_AGENT = LibvirtError('authentication unavailable', 94)
MODE = LibvirtError('Failed to connect socket: Permission denied', 38, 13)
STARTING = LibvirtError('Failed to connect socket: No such file', 38, 2)
FULL = LibvirtError('Resource temporarily unavailable', 38, 11)
RESET = LibvirtError('Cannot recv data: Connection reset by peer', 38, 104)


class Opened:
    """A connection that can be broken."""

    def __init__(self, *, full):
        self.full = full
        self.alive = True
        self.is_closed = False
        self.devices = []
        self.defined = []
        self.guests = []
        self.knows_active = True

    def isAlive(self):  # noqa: N802 libvirt's name
        return self.alive

    def close(self):
        self.is_closed = True
        raise LibvirtError('the event loop is away')

    def getHostname(self):  # noqa: N802
        if not self.alive:
            raise LibvirtError('client socket is closed')
        return 'cn1.example'

    def getLibVersion(self):  # noqa: N802
        return 9_003_001

    def getVersion(self):  # noqa: N802
        return 7_002_000

    def getType(self):  # noqa: N802
        return 'QEMU'

    def getCPUMap(self, flags):  # noqa: N802
        return 4, [True, True, False, True], 3

    def getDomainCapabilities(self, *words):  # noqa: N802
        if not self.full:
            raise LibvirtError('operation denied:\nread only', 29)
        return f'<domainCapabilities words="{words}"/>'

    def listAllDevices(self, kinds):  # noqa: N802
        if not kinds & Binding.VIR_CONNECT_LIST_NODE_DEVICES_ACTIVE:
            return self.devices + self.defined
        if not self.knows_active:
            raise LibvirtError(
                'unsupported flags', Binding.VIR_ERR_INVALID_ARG
            )
        return self.devices

    def listAllDomains(self, flags):  # noqa: N802
        return self.guests


class Device:
    """A node device, which may be gone."""

    def __init__(self, name, error=None):
        self._name = name
        self._error = error

    def name(self):
        return self._name

    def XMLDesc(self, flags):  # noqa: N802
        if self._error:
            raise self._error
        return f'<device><name>{self._name}</name></device>'


class Guest(Device):
    """A guest, which may be gone."""

    def UUIDString(self):  # noqa: N802
        return self.name()


class Binding(types.SimpleNamespace):
    """libvirt-python: which connections libvirt gives is up to the test."""

    libvirtError = LibvirtError  # noqa: N815
    VIR_ERR_NO_SUPPORT = 3
    VIR_ERR_INVALID_ARG = 8
    VIR_ERR_OPERATION_DENIED = 29
    VIR_ERR_SYSTEM_ERROR = 38
    VIR_ERR_NO_DOMAIN = 42
    VIR_ERR_NO_NODE_DEVICE = 43
    VIR_ERR_AUTH_FAILED = 45
    VIR_ERR_CONFIG_UNSUPPORTED = 67
    VIR_ERR_ARGUMENT_UNSUPPORTED = 74
    VIR_ERR_AUTH_CANCELLED = 79
    VIR_ERR_OPERATION_UNSUPPORTED = 84
    VIR_ERR_ACCESS_DENIED = 88
    VIR_ERR_AUTH_UNAVAILABLE = 94
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV = 2
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_NET = 16
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV_TYPES = 8192
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV = 16384
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_VDPA = 131072
    VIR_CONNECT_LIST_NODE_DEVICES_ACTIVE = 1 << 31

    def __init__(self):
        super().__init__(opened=[], refusal=None, may_read=True)

    def open(self, uri):
        if self.refusal:
            raise self.refusal
        return self._new(full=True)

    def openReadOnly(self, uri):  # noqa: N802
        if not self.may_read:
            raise LibvirtError('cannot connect')
        return self._new(full=False)

    def _new(self, *, full):
        self.opened.append(Opened(full=full))
        return self.opened[-1]


@pytest.fixture
def binding():
    return Binding()


@pytest.fixture
def libvirt(binding):
    return connection.Connection(URI, lambda: binding)


def test_one_connection_answers_all_questions(libvirt, binding):
    assert libvirt.hostname() == 'cn1.example'
    assert libvirt.versions() == hypervisor.Versions(
        libvirt=(9, 3, 1), hypervisor=(7, 2, 0), kind='QEMU'
    )
    assert libvirt.processors() == hypervisor.Processors(
        present=frozenset({0, 1, 2, 3}), online=frozenset({0, 1, 3})
    )
    assert len(binding.opened) == libvirt.session() == 1


def test_a_connection_that_broke_is_opened_again(libvirt, binding):
    libvirt.hostname()
    binding.opened[0].alive = False
    assert libvirt.hostname() == 'cn1.example'
    assert libvirt.session() == 2
    # Its descriptors would stay until Python looks for cycles of objects.
    assert [one.is_closed for one in binding.opened] == [True, False]


def test_while_libvirt_is_away_there_is_no_answer(libvirt, binding):
    libvirt.hostname()
    binding.opened[0].alive = False
    binding.refusal = NO_AGENT
    binding.may_read = False
    with pytest.raises(
        hypervisor.Unanswered,
        match=f'does not answer at {URI}: authentication unavailable',
    ):
        libvirt.hostname()
    binding.refusal = None
    assert libvirt.hostname() == 'cn1.example'


@pytest.mark.parametrize('refusal', [NO_AGENT, MODE])
def test_a_user_who_may_only_read_gets_the_other_answers(
    libvirt, binding, refusal, caplog
):
    binding.refusal = refusal
    assert libvirt.hostname() == 'cn1.example'
    with pytest.raises(
        hypervisor.Unsupported,
        match='does not tell domain capabilities: operation denied: read only',
    ):
        libvirt.domain_capabilities(REQUEST)
    assert libvirt.session() == 1
    binding.opened[0].alive = False
    libvirt.hostname()
    (record,) = caplog.records
    assert record.getMessage() == (
        f'the connection to libvirt at {URI} is read-only ({refusal}), so '
        "libvirt does not tell what guests can have: add the agent's user to "
        "libvirt's group"
    )


@pytest.mark.parametrize('problem', [STARTING, FULL, RESET])
def test_a_libvirtd_that_is_starting_leaves_no_read_only_connection(
    libvirt, binding, problem, caplog
):
    binding.refusal = problem
    with pytest.raises(hypervisor.Unanswered, match=str(problem)) as seen:
        libvirt.hostname()
    assert not isinstance(seen.value, hypervisor.Unsupported)
    binding.refusal = None
    assert 'domainCapabilities' in libvirt.domain_capabilities(REQUEST)
    assert not caplog.records


def test_an_empty_emulator_leaves_the_choice_to_libvirt(libvirt):
    text = libvirt.domain_capabilities(REQUEST, hypervisor.EXPAND_CPU_FEATURES)
    assert "(None, 'x86_64', None, 'kvm', 2)" in text


def test_a_device_that_goes_while_it_is_read_is_left_out(libvirt, binding):
    libvirt.hostname()
    gone = LibvirtError('no node device', binding.VIR_ERR_NO_NODE_DEVICE)
    binding.opened[0].devices = [Device('pci_1', gone), Device('pci_2')]
    assert list(libvirt.node_devices()) == ['pci_2']


def test_a_mediated_device_that_is_only_defined_does_not_exist(
    libvirt, binding
):
    libvirt.hostname()
    binding.opened[0].devices = [Device('mdev_1')]
    binding.opened[0].defined = [Device('mdev_2')]
    assert list(libvirt.node_devices()) == ['mdev_1']


def test_a_libvirt_without_defined_devices_lists_all(libvirt, binding):
    libvirt.hostname()
    binding.opened[0].devices = [Device('mdev_1')]
    binding.opened[0].knows_active = False
    assert list(libvirt.node_devices()) == ['mdev_1']


def test_a_device_that_cannot_be_read_leaves_the_others(libvirt, binding):
    libvirt.hostname()
    error = LibvirtError('internal error')
    binding.opened[0].devices = [Device('pci_1', error), Device('pci_2')]
    found = libvirt.node_devices()
    assert list(found) == ['pci_1', 'pci_2']
    assert list(node_devices.read({'pci_1': found['pci_1']}).unreadable) == [
        'pci_1'
    ]


def test_a_connection_that_breaks_in_the_list_is_opened_again(
    libvirt, binding
):
    libvirt.hostname()
    first = binding.opened[0]

    class Breaking(Device):
        def XMLDesc(self, flags):  # noqa: N802
            first.alive = False
            raise LibvirtError('client socket is closed')

    first.devices = [Breaking('pci_1')]
    assert libvirt.node_devices() == {}
    assert libvirt.session() == 2


def test_a_guest_that_cannot_be_read_makes_all_unknown(libvirt, binding):
    libvirt.hostname()
    error = LibvirtError('internal error')
    gone = LibvirtError('no domain', binding.VIR_ERR_NO_DOMAIN)
    binding.opened[0].guests = [Guest('a'), Guest('b', gone)]
    assert list(libvirt.domains()) == ['a']
    binding.opened[0].guests = [Guest('a'), Guest('b', error)]
    with pytest.raises(hypervisor.Unanswered, match='the guests') as seen:
        libvirt.domains()
    assert not isinstance(seen.value, hypervisor.Unsupported)


def test_an_answer_that_the_binding_cannot_read_is_none(
    libvirt, binding, monkeypatch
):
    def hostname(_):
        return b'\xff'.decode()

    monkeypatch.setattr(Opened, 'getHostname', hostname)
    with pytest.raises(hypervisor.Unanswered, match="can't decode") as seen:
        libvirt.hostname()
    assert not isinstance(seen.value, hypervisor.Unsupported)


def test_without_the_binding_there_is_no_answer(monkeypatch):
    monkeypatch.setattr(connection, 'BINDING', 'no_such_binding')
    with pytest.raises(hypervisor.Unsupported, match='no_such_binding'):
        connection.Connection(URI).hostname()


def test_libvirts_test_driver_answers():
    pytest.importorskip('libvirt')
    libvirt = connection.Connection('test:///default')
    assert libvirt.versions().kind == 'TEST'
    assert libvirt.memory_mib() == 3072
    assert libvirt.node_devices() == {}
    assert len(libvirt.domains()) == 1
    with pytest.raises(hypervisor.Unsupported, match='not supported'):
        libvirt.domain_capabilities(REQUEST)
