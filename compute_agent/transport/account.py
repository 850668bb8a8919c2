# SPDX-License-Identifier: Apache-2.0
"""The account that a service is asked with, in the words of its origin.

Pure: no I/O, configuration, logging or clock. An account comes from the
options of a group, from a cloud in ``clouds.yaml`` or from the environment. A
message about it must name the option that the operator wrote. ``clouds.py``
makes the values; no secret is in one.
"""

import dataclasses
import enum

# The same option in a group, in clouds.yaml and, in capitals, as a variable.
_OTHER_NAMES = {
    'cafile': 'cacert',
    'certfile': 'cert',
    'keyfile': 'key',
    'valid_interfaces': 'interface',
}
_ONLY_OPTIONS = {'service_type'}
_SERVICES = {'ironic': 'baremetal', 'nova': 'compute'}
_OWN = 'endpoint_override'  # clouds.yaml has one for each service


class Origin(enum.Enum):
    """The place that an account comes from."""

    OPTIONS = 'options'
    CLOUD = 'cloud'
    ENVIRONMENT = 'environment'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account and its origin.

    :ivar section: the group of options that it is for
    :ivar origin: the kind of place
    :ivar place: the file; empty if unknown, or for the environment
    :ivar cloud: the name of the cloud; empty for options
    :ivar is_credential: True for an application credential
    """

    section: str
    origin: Origin = Origin.OPTIONS
    place: str = ''
    cloud: str = ''
    is_credential: bool = False

    def option(self, name: str) -> str:
        """Return an option of the group, as this origin spells it."""
        if self.origin is Origin.OPTIONS:
            return f'[{self.section}] {name}'
        if self.origin is Origin.ENVIRONMENT:
            return self._plain(name)
        return f'{self._plain(name)} of the cloud {self.cloud}'

    def options(self, *names: str) -> str:
        """Return options and their place, such as "a and b in [placement]"."""
        if self.origin is not Origin.OPTIONS:
            names = tuple(n for n in names if n not in _ONLY_OPTIONS)
        words = _listed([self._plain(name) for name in names])
        return f'{words} in {self.holder}'

    def advice(self, *more: str) -> str:
        """Return the advice for an account that keystone refuses.

        :param more: options to check, too
        """
        if not self.is_credential:
            options = self.options('auth_type', *more, 'username', 'password')
            return f'check {options}'
        names = ('application_credential_id', 'application_credential_secret')
        return (
            f'check {self.options("auth_type", *more, *names)}, and that it '
            'has not expired ("openstack application credential show")'
        )

    @property
    def holder(self) -> str:
        """The place of all the options, without the file."""
        match self.origin:
            case Origin.OPTIONS:
                return f'[{self.section}]'
            case Origin.CLOUD:
                return f'the cloud {self.cloud}'
            case Origin.ENVIRONMENT:
                return 'the environment'

    def _plain(self, name: str) -> str:
        if self.origin is Origin.OPTIONS:
            return name
        plain = _OTHER_NAMES.get(name, name)
        if name == _OWN:
            service = _SERVICES.get(self.section, self.section)
            plain = f'{service}_{name}'
        is_variable = self.origin is Origin.ENVIRONMENT
        return f'OS_{plain.upper()}' if is_variable else plain

    def __str__(self) -> str:
        file = f' in {self.place}' if self.place else ''
        if self.origin is Origin.ENVIRONMENT:
            return 'the OS_* variables of the environment'
        return f'{self.holder}{file}'


def _listed(words: list[str]) -> str:
    *most, last = words
    return f'{", ".join(most)} and {last}' if most else last
