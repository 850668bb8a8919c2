# SPDX-License-Identifier: Apache-2.0
"""The facts that libvirt tells of its host.

It does I/O, through ``drivers/libvirtd/``. While libvirt does not answer, the
facts are unknown. The XML of capabilities is asked for once for each run of
libvirtd and each release.
"""

from collections.abc import Callable, Iterable

from ...libvirtd import hypervisor, xml
from ..facts.fact import Fact, Value

SOURCE = 'libvirt'
CAPABILITIES = 'libvirt capabilities'

_Key = tuple[int, hypervisor.Versions]


class LibvirtFacts:
    """The facts of the host behind a hypervisor."""

    def __init__(self, of: hypervisor.Hypervisor) -> None:
        self._libvirt = of
        self._kept: tuple[_Key, tuple[Fact, ...]] | None = None

    def read(self) -> tuple[Fact, ...]:
        """Return the facts; they are unknown if libvirt does not answer."""
        try:
            versions = self._libvirt.versions()
        except hypervisor.Unanswered as exc:
            return _unknown(_RELEASES + _OF_CAPABILITIES, SOURCE, str(exc))
        return (*_releases(versions), *self._capabilities(versions))

    def _capabilities(self, versions: hypervisor.Versions) -> tuple[Fact, ...]:
        key = (self._libvirt.session(), versions)
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        try:
            found = _parsed(self._libvirt.capabilities())
        except hypervisor.Unanswered as exc:
            return _unknown(_OF_CAPABILITIES, CAPABILITIES, str(exc))
        self._kept = key, found
        return found


_RELEASES = ('hypervisor', 'hypervisor_version', 'version')


def _releases(versions: hypervisor.Versions) -> tuple[Fact, ...]:
    values = (
        versions.kind,
        '.'.join(map(str, versions.hypervisor)),
        '.'.join(map(str, versions.libvirt)),
    )
    return tuple(
        _fact(name, value, SOURCE)
        for name, value in zip(_RELEASES, values, strict=True)
    )


def _texts(root: xml.Element, path: str, attribute: str = '') -> Value:
    return _unique(
        element.get(attribute) if attribute else element.text
        for element in root.iterfind(path)
    )


def _unique(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({text.strip() for text in texts if text}))


_ATTRIBUTES: dict[str, Callable[[xml.Element], Value]] = {
    'cpu_model': lambda root: root.findtext('host/cpu/model', ''),
    'cpu_vendor': lambda root: root.findtext('host/cpu/vendor', ''),
    'guest_architectures': lambda root: _texts(root, 'guest/arch', 'name'),
    'guest_types': lambda root: _texts(root, 'guest/arch/domain', 'type'),
    'iommu': lambda root: _texts(root, 'host/iommu', 'support') == ('yes',),
    'migration_transports': lambda root: _texts(
        root, 'host/migration_features/uri_transports/uri_transport'
    ),
    'security_models': lambda root: _texts(root, 'host/secmodel/model'),
}
_OF_CAPABILITIES = tuple(_ATTRIBUTES)


def _parsed(text: str) -> tuple[Fact, ...]:
    root = xml.parse(text, 'capabilities', 'capabilities')
    return tuple(
        _fact(name, of(root), CAPABILITIES) for name, of in _ATTRIBUTES.items()
    )


def _unknown(names: Iterable[str], source: str, why: str) -> tuple[Fact, ...]:
    return tuple(_fact(name, None, source, why) for name in names)


def _fact(name: str, value: Value, source: str, unknown: str = '') -> Fact:
    return Fact(
        name=f'libvirt.{name}', value=value, source=source, unknown=unknown
    )
