# SPDX-License-Identifier: Apache-2.0
"""Devices that libvirt lists beside the host's own, from a folder of XML.

It stands between a program and libvirt-python, and runs in nova's environment
and in the agent's: ``listed_devices.py FOLDER -m MODULE WORD…`` runs a module
so. Each file is a node device, as in ``tests/hosts``; a mediated device that
the program makes becomes one more file, and its parent offers one less.
A guest with such a device is started without it.
"""

import pathlib
import re
import runpy
import sys
import typing
from xml.etree import ElementTree as ET

import libvirt  # type: ignore[import-not-found]

_HOSTDEV = re.compile(r'<hostdev\b.*?</hostdev>', re.DOTALL)
_MDEV = """\
<device>
  <name>{name}</name>
  <parent>{parent}</parent>
  <capability type='mdev'>
    <type id='{kind}'/>
    <uuid>{uuid}</uuid>
  </capability>
</device>
"""
_FLAGS = {
    'pci': libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV,
    'mdev': libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV,
    'mdev_types': libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV_TYPES,
}
_INACTIVE = libvirt.VIR_CONNECT_LIST_NODE_DEVICES_INACTIVE
_Real: typing.TypeAlias = typing.Callable[..., typing.Any]


class Device:
    """A node device of the folder, as libvirt-python gives one."""

    def __init__(self, file: pathlib.Path) -> None:
        self._file = file

    def name(self) -> str:
        """Return libvirt's name of it."""
        return self._file.stem

    def XMLDesc(self, flags: int = 0) -> str:  # noqa: N802 (libvirt's name)
        """Return its document."""
        del flags
        return self._file.read_text('utf-8')

    def setAutostart(self, autostart: int) -> int:  # noqa: N802 (libvirt's)
        """Do nothing: the test's host does not start again."""
        del autostart
        return 0

    def listCaps(self) -> list[str]:  # noqa: N802 (libvirt's name)
        """Return the capabilities that the document names."""
        found = ET.fromstring(self.XMLDesc()).iter('capability')
        return [str(one.get('type')) for one in found]

    def offer_one_less(self, kind: str) -> None:
        """Note that a mediated device of this type was made."""
        tree = ET.fromstring(self.XMLDesc())
        for one in tree.iter('type'):
            left = one.find('availableInstances')
            if one.get('id') == kind and left is not None:
                left.text = str(int(left.text or 0) - 1)
        self._file.write_text(ET.tostring(tree, 'unicode'))


class Devices:
    """The devices of the folder, for all connections of this process."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def install(self) -> None:
        """Have libvirt-python tell of them, too."""
        replaced = {
            'listAllDevices': self._list_all,
            'listDevices': self._list_names,
            'nodeDeviceLookupByName': self._look_up,
            'nodeDeviceCreateXML': self._create,
            'nodeDeviceDefineXML': self._define,
            'defineXML': self._define_guest,
        }
        for name, ours in replaced.items():
            setattr(
                libvirt.virConnect,
                name,
                _between(getattr(libvirt.virConnect, name), ours),
            )

    def _all(self) -> list[Device]:
        return [Device(one) for one in sorted(self._folder.glob('*.xml'))]

    def _named(self, name: str) -> Device | None:
        return next((one for one in self._all() if one.name() == name), None)

    def _list_all(self, real: _Real, flags: int = 0) -> list[typing.Any]:
        wanted = {kind for kind, flag in _FLAGS.items() if flags & flag}
        ours = [] if flags & _INACTIVE else self._all()
        return [
            *real(flags),
            *(one for one in ours if not flags or wanted & {*one.listCaps()}),
        ]

    def _list_names(self, real: _Real, kind: str, flags: int = 0) -> list[str]:
        ours = [one.name() for one in self._all() if kind in one.listCaps()]
        return [*real(kind, flags), *ours]

    def _look_up(self, real: _Real, name: str) -> typing.Any:
        return self._named(name) or real(name)

    def _create(self, real: _Real, text: str, flags: int = 0) -> typing.Any:
        tree = ET.fromstring(text)
        parent = self._named(tree.findtext('parent', ''))
        if parent is None:
            return real(text, flags)
        kind = str(tree.findall('capability/type')[0].get('id'))
        parent.offer_one_less(kind)
        name = _name(tree)
        text = _MDEV.format(
            name=name,
            parent=parent.name(),
            kind=kind,
            uuid=tree.findtext('capability/uuid'),
        )
        (self._folder / f'{name}.xml').write_text(text, 'utf-8')
        return self._named(name)

    def _define(self, real: _Real, text: str, flags: int = 0) -> typing.Any:
        """Return the device: it was created before."""
        found = self._named(_name(ET.fromstring(text)))
        return found or real(text, flags)

    def _define_guest(self, real: _Real, text: str) -> typing.Any:
        """Define a guest without the devices that only the test lists.

        They are kept in a file of the guest's uuid.
        """
        guest = real(_HOSTDEV.sub('', text))
        taken = self._folder / f'{guest.UUIDString()}.hostdevs'
        taken.write_text(''.join(_HOSTDEV.findall(text)), 'utf-8')
        return guest


def _between(real: _Real, ours: _Real) -> _Real:
    def call(
        self: typing.Any, *words: typing.Any, **more: typing.Any
    ) -> typing.Any:
        def bound(*given: typing.Any, **rest: typing.Any) -> typing.Any:
            return real(self, *given, **rest)

        return ours(bound, *words, **more)

    return call


def _name(tree: ET.Element) -> str:
    uuid = tree.findtext('capability/uuid', '').replace('-', '_')
    parent = tree.findtext('parent', '').removeprefix('pci_')
    return f'mdev_{uuid}_{parent}'


def main() -> None:
    """Run a module as a program, with the devices of a folder."""
    folder, _, module, *words = sys.argv[1:]
    Devices(pathlib.Path(folder)).install()
    sys.argv = [module, *words]
    runpy.run_module(module, run_name='__main__', alter_sys=True)


if __name__ == '__main__':
    main()
