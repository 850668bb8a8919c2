# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt which features the processors of guests get.

It does I/O, through ``libvirtd/``. The sources, in this order: domain
capabilities with expanded features; the host model of domain capabilities,
expanded by ``baselineHypervisorCPU``; the host's CPU in capabilities, expanded
by ``baselineCPU``. A question that libvirt never answers leads to the next
source, and after the last one to the kernel. A question that fails otherwise
makes all features unknown. ``guests.py`` calls this.
"""

import dataclasses
from collections.abc import Iterator

from ...libvirtd import hypervisor, xml
from ..cpu import cpu_traits, guest_cpu

CUSTOM = 'custom'
HOST_MODEL = 'host-model'
HOST_PASSTHROUGH = 'host-passthrough'
NONE = 'none'

# The model of a guest whose domain XML names none; QEMU's default.
_DEFAULT_MODELS = {'i686': 'qemu32', 'x86_64': 'qemu64'}

_AARCH64 = 'aarch64'
# libvirt has names for all features of x86, and for the models of POWER.
_LISTED = (cpu_traits.X86, 'ppc64le')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GuestSource:
    """libvirt as a source of the features of one kind of guest.

    :ivar request: the kind of guest; its architecture is the host's
    :ivar host_cpu: the element ``host/cpu`` of capabilities, or None
    """

    libvirt: hypervisor.Hypervisor
    request: hypervisor.DomainCapabilitiesRequest
    host_cpu: guest_cpu.Element | None = None

    def read(self, options: guest_cpu.CpuOptions) -> guest_cpu.GuestCpu:
        """Return the features that guests get with these options."""
        if options.virt_type not in (guest_cpu.KVM, guest_cpu.QEMU):
            return guest_cpu.GuestCpu(
                problem='libvirt does not tell the processors of guests with '
                f'virt_type {options.virt_type}'
            )
        try:
            found = self._by_mode(options)
            offered = self._offered(found, options)
        except hypervisor.Unsupported as exc:
            return without_libvirt(options, self._arch, str(exc))
        except hypervisor.Unanswered as exc:
            return guest_cpu.GuestCpu(problem=str(exc), is_temporary=True)
        if options.mode == NONE:
            return found
        return guest_cpu.with_flags(found, options, offered)

    @property
    def _arch(self) -> str:
        return self.request.arch

    def _by_mode(self, options: guest_cpu.CpuOptions) -> guest_cpu.GuestCpu:
        mode = mode_of(options, self._arch)
        if mode == NONE:
            return self._default()
        if mode == CUSTOM:
            return self._custom(options)
        return self._host_mode(mode, options)

    def _offered(
        self, found: guest_cpu.GuestCpu, options: guest_cpu.CpuOptions
    ) -> guest_cpu.GuestCpu:
        """Return everything that the hypervisor can give."""
        if options.added and mode_of(options, self._arch) == CUSTOM:
            return self._host_mode(HOST_MODEL, options)
        return found

    def _host_mode(
        self, name: str, options: guest_cpu.CpuOptions
    ) -> guest_cpu.GuestCpu:
        try:
            answer, is_expanded = self._capabilities()
        except hypervisor.Unsupported:
            return self._host(options)
        if refusal := _refusal(answer, name, options):
            return refusal
        self._check_listed()
        # libvirt lists features for the host model only. They are those of
        # "host-passthrough" too, as far as libvirt has names for them.
        mode = guest_cpu.mode(answer, HOST_MODEL)
        if mode is None or mode.get('supported') != 'yes':
            return self._host(options)
        if is_expanded:
            return _of_mode(mode, f'domainCapabilities/cpu/mode[{HOST_MODEL}]')
        return self._expanded(mode, options)

    def _capabilities(self) -> tuple[xml.Element, bool]:
        """Return domain capabilities; True if their features are expanded."""
        subject = 'domain capabilities'
        try:
            answer = self.libvirt.domain_capabilities(
                self.request, hypervisor.EXPAND_CPU_FEATURES
            )
        except hypervisor.Unsupported:
            answer = self.libvirt.domain_capabilities(self.request)
            return xml.parse(answer, subject, 'domainCapabilities'), False
        return xml.parse(answer, subject, 'domainCapabilities'), True

    def _expanded(
        self, mode: xml.Element, options: guest_cpu.CpuOptions
    ) -> guest_cpu.GuestCpu:
        try:
            answer = self.libvirt.baseline_hypervisor_cpu(
                self.request, guest_cpu.as_cpu(mode), expand=True
            )
        except hypervisor.Unsupported:
            if self._has_features:
                return self._host(options)
            return _of_mode(mode, f'domainCapabilities/cpu/mode[{HOST_MODEL}]')
        expanded = xml.parse(answer, 'a baseline CPU', 'cpu')
        source = f'baselineHypervisorCPU of mode[{HOST_MODEL}]'
        return _of_cpu(expanded, source, mode.findtext('vendor'))

    def _check_listed(self) -> None:
        """Check that libvirt has names for all features, or the models.

        :raises hypervisor.Unsupported: libvirt has names for only some of them
        """
        if cpu_traits.family(self._arch) not in _LISTED:
            raise hypervisor.Unsupported(
                f'libvirt does not list the features of {self._arch}'
            )

    @property
    def _has_features(self) -> bool:
        """True if libvirt knows features of this architecture, not models."""
        return cpu_traits.family(self._arch) == cpu_traits.X86

    def _host(self, options: guest_cpu.CpuOptions) -> guest_cpu.GuestCpu:
        """Return the features of the host's own processors.

        :raises hypervisor.Unsupported: the host's processors say nothing about
            guests
        """
        cpu = self.host_cpu
        if (
            options.virt_type != guest_cpu.KVM
            or not self._has_features
            or cpu is None
            or not cpu.findtext('model')
        ):
            raise hypervisor.Unsupported(
                'libvirt does not tell the features of guests'
            )
        answer = self.libvirt.baseline_cpu(
            [guest_cpu.element_xml(cpu)], expand=True
        )
        expanded = xml.parse(answer, 'a baseline CPU', 'cpu')
        source = 'baselineCPU of capabilities/host/cpu'
        return _of_cpu(expanded, source, cpu.findtext('vendor'))

    def _default(self) -> guest_cpu.GuestCpu:
        """Return the features of QEMU's default model."""
        name = _DEFAULT_MODELS.get(self._arch)
        if name is None:
            return guest_cpu.GuestCpu(
                problem="libvirt does not tell QEMU's default CPU for "
                f'{self._arch}'
            )
        return self._of_model(name, '')

    def _custom(self, options: guest_cpu.CpuOptions) -> guest_cpu.GuestCpu:
        answer, _ = self._capabilities()
        if refusal := _refusal(answer, CUSTOM, options):
            return refusal
        self._check_listed()
        custom = guest_cpu.mode(answer, CUSTOM)
        listed = {} if custom is None else guest_cpu.models(custom)
        unlisted = [n for n in options.models if n.lower() not in listed]
        known = [n.lower() for n in options.models if n.lower() in listed]
        if not known:
            names = ', '.join(unlisted) or 'no model'
            return guest_cpu.GuestCpu(
                problem=f'[libvirt] cpu_models has {names}; libvirt lists '
                'the models that it knows with "virsh cpu-models"'
            )
        found = guest_cpu.union(
            cpu for name in known for cpu in self._model(listed[name])
        )
        if not unlisted:
            return found
        note = f'libvirt knows no model {", ".join(unlisted)}'
        return dataclasses.replace(found, note=note)

    def _model(self, model: guest_cpu.Model) -> Iterator[guest_cpu.GuestCpu]:
        found = self._of_model(model.name, model.vendor)
        if model.usable == 'yes':
            yield found
            return
        surely = model.usable == 'no'
        word = 'is not' if surely else 'may not be'
        blockers = ', '.join(model.blockers)
        without = f' for want of {blockers}' if blockers else ''
        why = f'the model {model.name} {word} usable here{without}'
        yield guest_cpu.unusable(found, why, surely=surely)

    def _of_model(self, name: str, vendor: str) -> guest_cpu.GuestCpu:
        text = guest_cpu.model_xml(self._arch, name)
        try:
            answer = self.libvirt.baseline_hypervisor_cpu(
                self.request, text, expand=True
            )
            source = f'baselineHypervisorCPU of {name}'
        except hypervisor.Unsupported:
            if not self._has_features:
                return guest_cpu.from_policies({name: 'require'}, name)
            answer = self.libvirt.baseline_cpu([text], expand=True)
            source = f'baselineCPU of {name}'
        return _of_cpu(
            xml.parse(answer, 'a baseline CPU', 'cpu'), source, vendor
        )


def mode_of(options: guest_cpu.CpuOptions, arch: str) -> str:
    """Return the mode in the options, or nova's default."""
    default = HOST_PASSTHROUGH if arch == _AARCH64 else HOST_MODEL
    return options.mode or default


def without_libvirt(
    options: guest_cpu.CpuOptions, arch: str, why: str
) -> guest_cpu.GuestCpu:
    """Return the features if libvirt never tells them.

    The processors of KVM guests in the host's modes are those of the host, so
    the kernel decides. Otherwise the features are unknown.
    """
    mode = mode_of(options, arch)
    if options.virt_type != guest_cpu.KVM:
        what = f'[libvirt] virt_type = {options.virt_type}'
    elif mode not in (HOST_MODEL, HOST_PASSTHROUGH):
        what = f'[libvirt] cpu_mode = {mode}'
    else:
        found = guest_cpu.GuestCpu()
        return guest_cpu.with_flags(found, options, found)
    return guest_cpu.GuestCpu(problem=f'with {what} only libvirt knows; {why}')


def _refusal(
    answer: xml.Element, name: str, options: guest_cpu.CpuOptions
) -> guest_cpu.GuestCpu | None:
    """Return the answer if the mode is not supported, or not mentioned."""
    mode = guest_cpu.mode(answer, name)
    where = f'domainCapabilities/cpu/mode[{name}]'
    if mode is None:
        return guest_cpu.GuestCpu(problem=f'libvirt has no {where}')
    if mode.get('supported') == 'yes':
        return None
    note = (
        f"{where} is supported='no': libvirt starts no {options.virt_type} "
        'guest with it'
    )
    return guest_cpu.GuestCpu(complete=True, note=note)


def _of_mode(mode: xml.Element, source: str) -> guest_cpu.GuestCpu:
    return _of_cpu(mode, source, mode.findtext('vendor'))


def _of_cpu(
    cpu: xml.Element, source: str, vendor: str | None
) -> guest_cpu.GuestCpu:
    """Return the features of a CPU whose list of features is complete.

    :raises hypervisor.Unanswered: the CPU has no model, so its list may be
        incomplete
    """
    policies = dict(guest_cpu.policies(cpu))
    model = (cpu.findtext('model') or '').strip()
    if not model:
        raise hypervisor.Unanswered(f'{source} names no model')
    policies.setdefault(model, 'require')
    return guest_cpu.from_policies(
        policies, source, guest_cpu.vendor_id(vendor)
    )
