# SPDX-License-Identifier: Apache-2.0
"""nova starts guests on what the agent reported, and nova-compute did not.

All of nova runs (``whole_nova.py``), with a real placement and a real libvirtd,
whose guests are emulated. A request to nova's API goes the whole way: the
scheduler finds the host by what the agent reported, allocates it, and
nova-compute starts the guest. The test answers for glance and neutron: there is
one image, and there are no networks.
"""

import contextlib
import json
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import urllib.parse

import companion
import host_with_nova
import local_libvirt
import pytest
import real_nova
import request_log
import requests
from defusedxml import ElementTree

from compute_agent.dev import wsgi_thread
from demo import server_process

pytestmark = pytest.mark.long

HERE = pathlib.Path(__file__).parent
CARDS = HERE.parents[1] / 'hosts/gpu-three-cards/libvirt/node_devices'
CARD = 'pci_0000_5e_00_0'
OTHER_CARD = 'pci_0000_86_00_0'
VERSION = 'compute 2.80'
IMAGE = '77777777-7777-4777-8777-777777777777'
IMAGE_SIZE = 1 << 20
FLAVOR = {'vcpus': 2, 'ram': 192, 'disk': 1}
RESOURCES = {'VCPU': 2, 'MEMORY_MB': 192, 'DISK_GB': 1}
BIG = 'CUSTOM_BIG_VGPU'
PCI_CLASS = 'CUSTOM_PCI_10DE_1EB8'
MANAGED = 'COMPUTE_MANAGED_PCI_DEVICE'
NOTHING = 'nothing to do'

NOVAS = """\
[DEFAULT]
compute_driver = compute_agent.LibvirtDriver
instances_path = {guests}
[libvirt]
images_type = raw
[glance]
api_servers = {others}/glance
[neutron]
endpoint_override = {others}/neutron
auth_type = admin_token
endpoint = {others}/neutron
token = a-token
[scheduler]
discover_hosts_in_cells_interval = 1
[compute]
resource_provider_association_refresh = 2
{more}
"""
VGPUS = """\
[devices]
enabled_mdev_types = nvidia-230, nvidia-231
[mdev_nvidia-230]
device_addresses = 0000:5e:00.0
[mdev_nvidia-231]
device_addresses = 0000:86:00.0
mdev_class = CUSTOM_BIG_VGPU
"""
SELDOM = '[compute]\nresource_provider_association_refresh = 3600\n'
PCI = """\
[filter_scheduler]
enabled_filters = ComputeFilter,PciPassthroughFilter
pci_in_placement = {reports}
[pci]
report_in_placement = {reports}
device_spec = {{"address": "0000:5e:00.0"}}
alias = {{"name": "card", "vendor_id": "10de", "product_id": "1eb8", \
"device_type": "type-PCI"}}
"""
# A libvirt of a user would start virtlogd, which outlives it.
QEMUS = 'stdio_handler = "file"\n'


class WholeNova(real_nova.RealNova):
    """All of nova in one process.

    :ivar devices: the folder of those that libvirt lists beside the host's
    """

    def __init__(self, local, folder, placement):
        super().__init__(local, folder, placement)
        self.devices = folder / 'devices'
        self.devices.mkdir()
        self._url = ''

    def start(self):
        with contextlib.ExitStack() as undo:
            listener = undo.enter_context(
                socket.create_server(('127.0.0.1', 0))
            )
            number = listener.fileno()
            self._url = f'http://127.0.0.1:{listener.getsockname()[1]}'
            words = [str(HERE / 'whole_nova.py'), str(number)]
            command = self._command(
                *('python', '-u', *words, str(self.devices)),
                *('CONF', self._log_file),
            )
            self._undo.enter_context(
                server_process.running(
                    command, self._folder / 'nova-output', keep=[number]
                )
            )

    def ask(self, method, path, body=None):
        """Return what nova's API answers; None if there is no such thing."""
        answer = requests.request(
            method,
            f'{self._url}{path}',
            json=body,
            headers={'OpenStack-API-Version': VERSION},
            timeout=real_nova.PATIENCE,
        )
        if answer.status_code == requests.codes.not_found:
            return None
        assert answer.ok, answer.text
        return answer.json() if answer.content else None


class Agent(companion.Companion):
    """The agent, whose libvirt lists the same devices as nova's.

    :ivar devices: their folder
    """

    devices = ''

    def _command(self, *words):
        program, unbuffered, *rest = super()._command(*words)
        script = str(HERE / 'listed_devices.py')
        return [program, unbuffered, script, self.devices, *rest]


class Host(host_with_nova.HostWithNova):
    """This host, with guests."""

    def start_both(self):
        """Start both programs; return when the scheduler knows the host."""
        self.nova.start()
        self.wait(lambda: 'COMPUTE_NODE' in self.traits(), 'nova reports')
        assert self.inventory(self.name) == {}
        self.start_agent()
        self.wait(lambda: 'VCPU' in self.inventory(self.name), 'the agent')
        self.wait(
            lambda: self._ask_nova('/os-hypervisors')['hypervisors'],
            'the host is in its cell',
        )

    def plug_in(self, card):
        """Put a card into the host; return the name of its provider."""
        shutil.copy(CARDS / f'{card}.xml', self.nova.devices)
        return f'{self.name}_{card}'

    def reserved(self, name):
        """Return how much of each class of a provider is reserved."""
        found = self._of(name, 'inventories') or {}
        return {key: one['reserved'] for key, one in found.items()}

    def taken(self, uuid):
        """Return the devices that nova wanted libvirt to give a guest."""
        text = (self.nova.devices / f'{uuid}.hostdevs').read_text()
        return ElementTree.fromstring(f'<devices>{text}</devices>')

    def pci_devices(self):
        """Return the rows of nova's PCI tracker: address, status, guest."""
        file = self.nova.files[0].parent / 'cell1.sqlite'
        with contextlib.closing(sqlite3.connect(file, timeout=60)) as db:
            rows = 'select address, status, instance_uuid from pci_devices'
            return db.execute(rows).fetchall()

    def start_guest(self, name, **specs):
        """Ask nova for a guest with a flavor of its own; return its uuid.

        :param specs: the extra specs of the flavor
        """
        flavor = {'flavor': {'name': name, **FLAVOR}}
        made = self.nova.ask('POST', '/flavors', flavor)['flavor']['id']
        if specs:
            path = f'/flavors/{made}/os-extra_specs'
            self.nova.ask('POST', path, {'extra_specs': specs})
        server = {
            'name': name,
            'flavorRef': made,
            'imageRef': IMAGE,
            'networks': 'none',
        }
        asked = self.nova.ask('POST', '/servers', {'server': server})
        return asked['server']['id']

    def end_of_build(self, uuid):
        """Return what nova says of a guest once it tried to start it."""
        self.wait(lambda: self.guest(uuid)['status'] != 'BUILD', 'it is built')
        return self.guest(uuid)

    def expect_running(self, uuid):
        """See that nova and libvirt have the guest running."""
        built = self.end_of_build(uuid)
        assert built['status'] == 'ACTIVE', built
        assert built['OS-EXT-SRV-ATTR:hypervisor_hostname'] == self.name
        assert uuid in self.domains()

    def guest(self, uuid):
        """Return what nova says of a guest; None if it is gone."""
        found = self._ask_nova(f'/servers/{uuid}')
        return found and found['server']

    def delete_guest(self, uuid):
        """Have nova delete a guest; return when it gave all back."""
        self.nova.ask('DELETE', f'/servers/{uuid}')
        self.wait(lambda: self.guest(uuid) is None, 'it is deleted')
        self.wait(lambda: not self.allocations(uuid), 'its allocation, too')

    def allocations(self, uuid):
        """Return name of a provider → what the guest has of it."""
        names = {one['uuid']: name for name, one in self.providers().items()}
        found = self._ask('GET', f'/allocations/{uuid}')['allocations']
        return {names[key]: one['resources'] for key, one in found.items()}

    def domains(self):
        """Return libvirt's documents of the guests that run, by uuid."""
        libvirt = local_libvirt.binding()
        running = libvirt.VIR_CONNECT_LIST_DOMAINS_RUNNING
        with contextlib.closing(libvirt.open(self.libvirtd.uri)) as link:
            return {
                one.UUIDString(): ElementTree.fromstring(one.XMLDesc())
                for one in link.listAllDomains(running)
            }

    def is_quiet(self, refreshes=2):
        """See that nobody writes while nova reads its tree so many times.

        :return: the numbers of requests of nova and the agent meanwhile
        """
        self.wait_for_refreshes(1)
        mark = len(self.requests)
        since, said = len(self.nova.log), len(self.agent.log)
        self.wait_for_refreshes(refreshes)
        host_with_nova.Watched(
            requests=self.requests.since(mark),
            troubles=self.nova.troubles(since),
            said=self.agent.log[said:],
        ).check()
        return [
            len(self.requests.since(mark, writer))
            for writer in request_log.WRITERS
        ]

    def _ask_nova(self, path):
        return self.nova.ask('GET', path)


def others(image):
    """Return an application: glance with one image, and a neutron without."""
    content = image.read_bytes()
    shown = {
        'id': IMAGE,
        'name': 'blank',
        'status': 'active',
        'visibility': 'public',
        'disk_format': 'raw',
        'container_format': 'bare',
        'size': len(content),
        'min_disk': 0,
        'min_ram': 0,
        'protected': False,
        'tags': [],
        'created_at': '2026-01-01T00:00:00Z',
        'updated_at': '2026-01-01T00:00:00Z',
    }

    def application(environ, start):
        path = environ['PATH_INFO']
        status, kind, body = '200 OK', 'application/json', b'{}'
        if path == f'/glance/v2/images/{IMAGE}':
            body = json.dumps(shown).encode()
        elif path == f'/glance/v2/images/{IMAGE}/file':
            kind, body = 'application/octet-stream', content
        elif path == '/glance/v2/schemas/image':
            known = {key: {'is_base': True} for key in shown}
            schema = {'name': 'image', 'properties': known}
            body = json.dumps(schema).encode()
        elif path.startswith('/neutron/v2.0/'):
            subject = path.rpartition('/')[2].replace('-', '_')
            body = json.dumps({subject: []}).encode()
        else:
            status = '404 Not Found'
        headers = [('Content-Type', kind), ('Content-Length', str(len(body)))]
        start(status, headers)
        return [body]

    return application


@pytest.fixture
def others_url(tmp_path):
    """The address of glance and neutron."""
    image = tmp_path / 'blank.img'
    subprocess.run(
        ['qemu-img', 'create', '-q', '-f', 'raw', image, str(IMAGE_SIZE)],
        check=True,
    )
    listener = socket.create_server(('127.0.0.1', 0))
    server = wsgi_thread.WsgiThread(others(image), listener)
    yield f'http://127.0.0.1:{listener.getsockname()[1]}'
    server.stop()


@pytest.fixture(scope='module')
def libvirts_folder(_libvirtd):
    """The folder of libvirtd, which its user may enter.

    It runs guests without virtlogd for this module.
    """
    query = urllib.parse.urlsplit(_libvirtd.uri).query
    folder = pathlib.Path(urllib.parse.parse_qs(query)['socket'][0]).parent
    conf = folder / 'config' / 'libvirt' / 'qemu.conf'
    conf.write_text(QEMUS)
    _libvirtd.restart()
    yield folder
    conf.unlink()
    _libvirtd.restart()


@pytest.fixture
def guests_folder(libvirtd, libvirts_folder):
    """A folder for the disks of guests."""
    folder = libvirts_folder / 'guests'
    folder.mkdir()
    yield folder
    end_guests(libvirtd.uri)
    shutil.rmtree(folder)


def end_guests(uri):
    """End what a failed test left."""
    libvirt = local_libvirt.binding()
    with contextlib.closing(libvirt.open(uri)) as link:
        for one in link.listAllDomains():
            if one.isActive():
                one.destroy()
            one.undefine()


@pytest.fixture
def make_host(
    novas_databases,
    libvirtd,
    placement_server,
    others_url,
    guests_folder,
    tmp_path,
):
    """Return a maker of this host, from more lines of nova.conf."""
    with contextlib.ExitStack() as undo:

        def make(more='', agents=''):
            log = request_log.RequestLog()
            undo.callback(log.save, tmp_path / 'requests.jsonl')
            url = placement_server.listen(before=log.watch)
            (tmp_path / 'nova').mkdir()
            nova = WholeNova(
                novas_databases, tmp_path / 'nova', f'{url}/{request_log.NOVA}'
            )
            line = tmp_path / 'reported-by-agent.conf'
            line.write_text(
                NOVAS.format(
                    guests=guests_folder, others=others_url, more=more
                )
            )
            nova.more.append(line)
            agent = Agent(
                tmp_path / 'agent', f'{url}/{request_log.AGENT}', nova.files
            )
            agent.devices = str(nova.devices)
            agent.become_reporter(agents)
            made = Host(nova, agent, libvirtd, url, log)
            undo.callback(made.stop)
            return made

        yield make


def say(capsys, when, counts):
    nova, agent = counts
    with capsys.disabled():
        sys.stdout.write(f'\n{when}: nova {nova} requests, agent {agent}\n')


def test_a_guest_runs_on_what_the_agent_reported(make_host, capsys):
    host = make_host()
    host.start_both()
    guest = host.start_guest('plain')
    host.expect_running(guest)
    domain = host.domains()[guest]
    assert domain.findtext('vcpu') == str(FLAVOR['vcpus'])
    assert domain.find('memory').get('unit') == 'KiB'
    assert domain.findtext('memory') == str(FLAVOR['ram'] * 1024)
    assert host.allocations(guest) == {host.name: RESOURCES}
    say(capsys, 'with a guest', host.is_quiet())
    assert NOTHING in host.agent.run('plan')

    host.delete_guest(guest)
    assert host.domains() == {}
    say(capsys, 'after it', host.is_quiet())
    assert host.requests.conflicts() == []
    written = [one.path for one in host.requests.writes(0, request_log.NOVA)]
    assert written.count(f'/allocations/{guest}') == len(['PUT', 'DELETE'])
    assert not [path for path in written if 'inventories' in path]


def test_a_guest_has_a_device_of_the_agents_card(make_host, tmp_path, capsys):
    host = make_host(VGPUS)
    host.start_both()
    card = host.plug_in(CARD)
    host.wait(lambda: host.inventory(card) == {'VGPU': 16}, 'the card')
    host.wait_for_refreshes(1)
    guest = host.start_guest('one', **{'resources:VGPU': '1'})
    host.expect_running(guest)
    assert host.allocations(guest) == {
        host.name: RESOURCES,
        card: {'VGPU': 1},
    }
    (made,) = host.nova.devices.glob('mdev_*.xml')
    (device,) = host.taken(guest)
    assert device.get('type') == 'mdev'
    uuid = device.find('source/address').get('uuid')
    assert made.stem == f'mdev_{uuid.replace("-", "_")}_0000_5e_00_0'
    say(capsys, 'with a device', host.is_quiet())
    assert NOTHING in host.agent.run('plan')

    the_card_in_use_stays(host, card, tmp_path)
    nova_finds_a_card_that_it_has_not_read(host, guest, tmp_path)
    host.delete_guest(guest)
    assert host.domains() == {}


def the_card_in_use_stays(host, card, folder):
    """libvirt lists it no more, and then again."""
    file = host.nova.devices / f'{CARD}.xml'
    file.rename(folder / 'away')
    host.wait(lambda: host.reserved(card) == {'VGPU': 16}, 'it is reserved')
    assert 'it is not removed but to be reserved' in host.agent.run(
        'plan', code=1
    )
    (folder / 'away').rename(file)
    host.wait(lambda: host.reserved(card) == {'VGPU': 0}, 'it is back')
    assert NOTHING in host.agent.run('plan')


def nova_finds_a_card_that_it_has_not_read(host, running, folder):
    """nova reads the tree when it starts, and here very seldom after that."""
    mark = len(host.requests)
    host.nova.stop()
    (folder / 'seldom.conf').write_text(SELDOM)
    host.add_to_conf(folder / 'seldom.conf')
    host.nova.start()
    host.wait_for_refreshes(1)
    assert host.requests.writes(mark) == []
    assert running in host.domains()
    card = host.plug_in(OTHER_CARD)
    host.wait(lambda: host.inventory(card) == {BIG: 8}, 'the other card')

    refreshes = host.requests.refreshes()
    early = host.start_guest('early', **{f'resources:{BIG}': '1'})
    host.expect_running(early)
    assert host.allocations(early) == {host.name: RESOURCES, card: {BIG: 1}}
    # One request more, for the tree with the card.
    assert host.requests.refreshes() == refreshes + 1
    host.delete_guest(early)


@pytest.mark.parametrize('reports', [False, True])
def test_a_guest_has_a_pci_device_of_novas(make_host, capsys, reports):
    """nova tracks the device, in placement too if an option says so."""
    host = make_host(PCI.format(reports=reports))
    host.plug_in(CARD)
    host.start_both()
    child = f'{host.name}_0000:5E:00.0'
    host.wait(lambda: (child in host.providers()) is reports, 'the child')
    say(capsys, 'without a guest', host.is_quiet())
    guest = host.start_guest('one', **{'pci_passthrough:alias': 'card:1'})
    host.expect_running(guest)
    claimed = [('0000:5e:00.0', 'allocated', guest)]
    host.wait(lambda: host.pci_devices() == claimed, 'nova claims the device')
    (device,) = host.taken(guest)
    assert device.find('source/address').get('bus') == '0x5e'
    children = {child: {PCI_CLASS: 1}} if reports else {}
    assert host.allocations(guest) == {host.name: RESOURCES, **children}
    say(capsys, 'with a guest', host.is_quiet())
    assert NOTHING in host.agent.run('plan')
    host.delete_guest(guest)
    free = [('0000:5e:00.0', 'available', None)]
    host.wait(lambda: host.pci_devices() == free, 'nova has it back')
    nova_alone_wrote_it(host, child, is_there=reports)


def nova_alone_wrote_it(host, child, *, is_there):
    """Nor did anybody undo anything."""
    if is_there:
        assert host.inventory(child) == {PCI_CLASS: 1}
        assert host.traits(child) == {MANAGED, 'OWNER_NOVA'}
        uuid = host.providers()[child]['uuid']
        wrote = [
            (one.writer, one.method, one.path.rpartition('/')[2])
            for one in host.requests.writes()
            if uuid in one.path
        ]
        assert sorted(wrote) == [
            (request_log.NOVA, 'PUT', 'inventories'),
            (request_log.NOVA, 'PUT', 'traits'),
        ]
    agents = host.requests.writes(0, request_log.AGENT)
    root = host.providers()[host.name]['uuid']
    assert {one.path for one in agents} == {
        f'/resource_providers/{root}/traits',
        f'/resource_providers/{root}/inventories',
    }


def test_an_agent_that_does_not_report_pci_leaves_novas_devices(
    make_host, capsys
):
    host = make_host(
        PCI.format(reports=True), agents='[pci]\nreport_in_placement = false\n'
    )
    host.plug_in(CARD)
    host.start_both()
    child = f'{host.name}_0000:5E:00.0'
    host.wait(lambda: child in host.providers(), 'nova reports the device')
    say(capsys, 'without a guest', host.is_quiet())
    assert NOTHING in host.agent.run('plan')
    nova_alone_wrote_it(host, child, is_there=True)


def test_a_device_that_nova_does_not_know_yet_is_left_to_it(make_host, capsys):
    """nova reads libvirt's list of PCI devices when it starts."""
    host = make_host(PCI.format(reports=True))
    host.start_both()
    host.plug_in(CARD)
    host.wait_for_cycles(1)
    say(capsys, 'with a card more', host.is_quiet())
    child = f'{host.name}_0000:5E:00.0'
    assert child not in host.providers()
    host.nova.stop()
    host.nova.start()
    host.wait(lambda: child in host.providers(), 'nova reports the device')
    host.is_quiet()
    nova_alone_wrote_it(host, child, is_there=True)
