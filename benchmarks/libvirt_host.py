# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver's own time to describe a host.

``make bench-libvirt`` runs this. It describes a recorded host with 408 node
devices, this machine as a libvirtd of its own shows it, and this machine
without libvirt. *own* is the processor time of the thread that describes,
without that for libvirt's answers. It prints figures and no verdict.
"""

import contextlib
import dataclasses
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
import typing
from collections.abc import Sequence

import local_libvirt
import recorded_hosts
import recorded_libvirt

from drivers.libvirt import driver
from drivers.libvirt.reading import sources

HOST = recorded_hosts.HOSTS / 'intel-sapphire-rapids'
CARDS, FUNCTIONS = 8, 50
RUNS = 100
NOVA_CONF = """
[DEFAULT]
instances_path = {folder}
[libvirt]
virt_type = {virt_type}
[pci]
report_in_placement = true
device_spec = {{"vendor_id": "15b3", "product_id": "1018"}}
device_spec = {{"vendor_id": "1af4"}}
"""
PF, VF = '1017', '1018'
_DEVICE = """<device>
  <name>{name}</name>
  <path>/sys/devices/pci0000:00/{address}</path>
  <parent>computer</parent>
  <driver><name>mlx5_core</name></driver>
  <capability type='pci'>
    <class>0x020000</class>
    <domain>0</domain>
    <bus>{bus}</bus>
    <slot>{slot}</slot>
    <function>{function}</function>
    <product id='0x{product}'>MT27800 Family [ConnectX-5]</product>
    <vendor id='0x15b3'>Mellanox Technologies</vendor>
    {functions}
    <iommuGroup number='{bus}{slot}'/>
    <numa node='0'/>
    <pci-express>
      <link validity='cap' port='0' speed='8' width='16'/>
      <link validity='sta' speed='8' width='16'/>
    </pci-express>
  </capability>
</device>
"""


class Timed:
    """A hypervisor that tells the cost of its answers.

    :ivar used: the seconds of this thread's processor time until now
    """

    def __init__(self, asked: object) -> None:
        self._asked = asked
        self.used = 0.0

    def __getattr__(self, name: str) -> typing.Any:
        found = getattr(self._asked, name)
        if not callable(found):
            return found

        def timed(*words: object, **options: object) -> object:
            began = time.thread_time()
            try:
                return found(*words, **options)
            finally:
                self.used += time.thread_time() - began

        return timed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The seconds of one description: in all, and of the driver's own work."""

    wall: float
    own: float


class Measured:
    """A driver, its clock, and what placement has of the host."""

    def __init__(self, of: sources.Sources, nova_conf: pathlib.Path) -> None:
        self._timed = Timed(of.libvirt)
        libvirt = typing.cast('typing.Any', self._timed)
        self._driver = driver.LibvirtDriver.on_host(
            recorded_hosts.configuration(nova_conf),
            dataclasses.replace(of, libvirt=libvirt),
        )
        self._name = self._driver.get_available_nodes()[0]
        self._placed: recorded_hosts.Plain = {
            self._name: {'inventory': {}, 'traits': []}
        }

    def describe(self) -> Description:
        """Describe the host as it is in placement since the last time."""
        tree = recorded_hosts.placed(self._placed)
        asked = self._timed.used
        began, used = time.perf_counter(), time.thread_time()
        self._driver.update_provider_tree(tree, self._name)
        found = Description(
            wall=time.perf_counter() - began,
            own=time.thread_time() - used - (self._timed.used - asked),
        )
        self._placed = recorded_hosts.plain(tree)
        return found

    @property
    def providers(self) -> int:
        """The number of providers."""
        return len(self._placed)


def many_devices(folder: pathlib.Path) -> sources.Sources:
    """Return the recorded host with its devices, made in a folder."""
    host = shutil.copytree(HOST, folder / 'host')
    devices = host / 'libvirt' / 'node_devices'
    devices.mkdir(exist_ok=True)
    for bus in range(1, CARDS + 1):
        addresses = [(bus, 1 + n // 8, n % 8, VF) for n in range(FUNCTIONS)]
        parts = ''.join(
            f"<address domain='0x0000' bus='{bus:#04x}' slot='{slot:#04x}' "
            f"function='{function:#x}'/>"
            for bus, slot, function, _ in addresses
        )
        one = f"<address domain='0x0000' bus='{bus:#04x}' slot='0x00' function='0x0'/>"
        _write(devices, (bus, 0, 0, PF), 'virt_functions', parts)
        for address in addresses:
            _write(devices, address, 'phys_function', one)
    return recorded_hosts.sources_of(host)


def _write(
    folder: pathlib.Path,
    device: tuple[int, int, int, str],
    kind: str,
    functions: str,
) -> None:
    bus, slot, function, product = device
    name = f'pci_0000_{bus:02x}_{slot:02x}_{function:x}'
    text = _DEVICE.format(
        name=name,
        address=f'0000:{bus:02x}:{slot:02x}.{function:x}',
        bus=bus,
        slot=slot,
        function=function,
        product=product,
        functions=f"<capability type='{kind}'>{functions}</capability>",
    )
    (folder / f'{name}.xml').write_text(text)


def this_host(folder: pathlib.Path, uri: str) -> sources.Sources:
    """Return the sources of this machine.

    :param folder: the agent's state directory
    """
    conf = recorded_hosts.configuration()
    conf.set_override('state_path', str(folder))
    return sources.of_this_host(conf, uri)


def figures(measured: Measured) -> str:
    """Return the figures of the first description, and of later ones."""
    first = measured.describe()
    later = [measured.describe() for _ in range(RUNS)]
    return (
        f'first: {_ms(first.wall)} ms, own {_ms(first.own)} ms; '
        f'later: {_spread([one.wall for one in later])} ms, '
        f'own {_spread([one.own for one in later])} ms; '
        f'{measured.providers} providers'
    )


def _spread(seconds: Sequence[float]) -> str:
    median = statistics.median(seconds)
    return f'{_ms(median)} ({_ms(min(seconds))} to {_ms(max(seconds))})'


def _ms(seconds: float) -> str:
    return f'{seconds * 1000:.1f}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host to describe.

    :ivar virt_type: of the guests, as in nova.conf
    """

    title: str
    of: sources.Sources
    virt_type: str = 'kvm'


def hosts(
    stack: contextlib.ExitStack, folder: pathlib.Path
) -> typing.Iterator[Host]:
    """Yield the hosts, in turn."""
    title = f'{HOST.name}, recorded, with {CARDS * (1 + FUNCTIONS)} devices'
    yield Host(title=title, of=many_devices(folder))
    nothing = recorded_libvirt.Recorded(folder / 'nothing')
    for title in ('py-cpuinfo asked', "py-cpuinfo's answer kept"):
        of = dataclasses.replace(this_host(folder, ''), libvirt=nothing)
        yield Host(title=f'this machine without libvirt, {title}', of=of)
    libvirtd = stack.enter_context(local_libvirt.running())
    of = this_host(folder, libvirtd.uri)
    stack.callback(of.libvirt.close)
    yield Host(title='this machine, libvirtd', of=of, virt_type='qemu')


def main() -> int:
    """Print the figures of each host."""
    with contextlib.ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix='bench-libvirt-')
        folder = pathlib.Path(stack.enter_context(made))
        nova_conf = folder / 'nova.conf'
        for host in hosts(stack, folder):
            text = NOVA_CONF.format(folder=folder, virt_type=host.virt_type)
            nova_conf.write_text(text)
            found = figures(Measured(host.of, nova_conf))
            sys.stdout.write(f'{host.title}\n  {found}\n')
            sys.stdout.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main())
