# SPDX-License-Identifier: Apache-2.0
"""The accounts of ``clouds.yaml`` and of OS_* variables, as options of groups.

``settle`` writes the account over the options of keystoneauth in a group, so
that the callers read the group as if the operator had written it there. The
cloud of ``[compute_agent] os_cloud`` (``--os-cloud``) replaces the group's
options, and the environment counts only if the group has none and
``allow_environment`` was called: for the commands of people, never for the
daemon. ``cmd/`` and the Ironic driver call it before they make a session;
``cloud_account.py`` finds the cloud, and nothing is sent.
"""

import dataclasses
import os
import typing
from collections.abc import Iterable, Mapping

from oslo_config import cfg, types

from .account import Account, Origin

if typing.TYPE_CHECKING:
    from openstack.config import cloud_region

OWN_GROUP = 'compute_agent'  # conf/compute_agent.py registers os_cloud
_ENVIRONMENT = 'environment_account'
_ACCOUNT = 'account'
_LENT = 'lent_cloud'
_BACKSLASH = 'backslash'
# One of these variables is enough to say which account is meant.
_VARIABLES = ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE', 'OS_ENDPOINT')


def allow_environment(conf: cfg.ConfigOpts) -> None:
    """Let the environment give the account where no option does."""
    _note(conf, OWN_GROUP, _ENVIRONMENT, value=True)


def lend(conf: cfg.ConfigOpts, region: 'cloud_region.CloudRegion') -> None:
    """Give each group the account of a cloud that OpenStack's client found."""
    _note(conf, OWN_GROUP, _LENT, value=region)


def account_of(conf: cfg.ConfigOpts, group: str) -> Account:
    """Return the account of a group, for messages."""
    found = _noted(conf, group, _ACCOUNT)
    if found is None:
        found = Account(section=group, place=_file(conf, group))
    return dataclasses.replace(
        typing.cast(Account, found), is_credential=_is_credential(conf, group)
    )


def _is_credential(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return True if the account is an application credential."""
    options = conf[group]
    if options.auth_section and options.auth_section in conf:
        options = conf[options.auth_section]
    kind = options.auth_type if 'auth_type' in options else None
    return 'applicationcredential' in (kind or '')


def settle(conf: cfg.ConfigOpts, group: str) -> Account:
    """Write the account that counts into a group, and return its origin.

    A group whose options count is not changed.

    :raises errors.ConfigError: the cloud is not known, or not complete
    """
    if _noted(conf, group, _ACCOUNT) is None:
        _find_section(conf, group)
        _note(conf, group, _ACCOUNT, value=_settled(conf, group))
    return account_of(conf, group)


def _find_section(conf: cfg.ConfigOpts, group: str) -> None:
    """Register the options of the section that ``auth_section`` gives.

    The section's name is known only after the files were read.
    """
    if conf[group].auth_section:
        from keystoneauth1 import loading  # noqa: PLC0415 (slow)

        loading.register_auth_conf_options(conf, group)


def _settled(conf: cfg.ConfigOpts, group: str) -> Account:
    if not _is_of_cloud(conf, group):
        return Account(section=group, place=_file(conf, group))
    from . import cloud_account  # noqa: PLC0415 (slow)

    lent = _noted(conf, OWN_GROUP, _LENT)
    if lent is not None:
        cloud = cloud_account.lent(
            typing.cast('cloud_region.CloudRegion', lent)
        )
    else:
        name = _noted(conf, OWN_GROUP, 'os_cloud')
        cloud = cloud_account.find(
            str(name) if name else os.environ.get('OS_CLOUD') or None
        )
    _write(conf, group, *cloud.options(conf[group].service_type))
    return Account(
        section=group,
        origin=Origin.CLOUD if cloud.name else Origin.ENVIRONMENT,
        place=cloud.file,
        cloud=cloud.name,
    )


def _is_of_cloud(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return False if the group's own options count."""
    if _noted(conf, OWN_GROUP, _LENT) is not None:
        return True
    if _noted(conf, OWN_GROUP, 'os_cloud'):
        return True
    if _has_own(conf, group) or not _noted(conf, OWN_GROUP, _ENVIRONMENT):
        return False
    return any(os.environ.get(each) for each in _VARIABLES)


def _has_own(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return True if the group's options name an account."""
    options = conf[group]
    return bool(
        options.auth_section  # without it, auth_type is in this group
        or options.auth_type
        or ('embedded' in options and options.embedded)
    )


def _file(conf: cfg.ConfigOpts, group: str) -> str:
    """Return the file or variable that sets the group's ``auth_type``."""
    try:
        found = conf.get_location('auth_type', group)
    except cfg.Error:
        return ''
    if found is None or not found.location.is_user_controlled:
        return ''
    return str(found.detail)


def _write(
    conf: cfg.ConfigOpts,
    group: str,
    options: Iterable[cfg.Opt],
    values: Mapping[str, object],
) -> None:
    """Set the options of keystoneauth in a group to those of a cloud."""
    conf.register_opts([*options], group=group)
    if 'embedded' in conf[group]:
        values = {**values, 'embedded': False}
    _note(conf, group, _BACKSLASH, value='\\')
    for name, value in values.items():
        conf.set_override(name, _escaped(value, group), group=group)


def _escaped(value: object, group: str) -> object:
    """Return a value that oslo.config reads back as it is.

    oslo.config takes "$" for the begin of a reference, and a backslash before
    it for an escape.
    """
    if not isinstance(value, str):
        return value
    plain = value.replace('$', '$$')
    return plain.replace('\\$', f'${{{group}.{_BACKSLASH}}}$')


def _note(
    conf: cfg.ConfigOpts, group: str, name: str, *, value: object
) -> None:
    """Keep a value beside the options of a group; no file can set it."""
    conf.register_opt(cfg.Opt(name, type=_AsItIs()), group=group)
    conf.set_override(name, value, group=group)


def _noted(conf: cfg.ConfigOpts, group: str, name: str) -> object:
    """Return a value that ``_note`` kept, or None."""
    if group not in conf or name not in conf[group]:
        return None
    return typing.cast(object, conf[group][name])


class _AsItIs(types.ConfigType):
    """The type of a value that no file has."""

    def __call__(self, value: object) -> object:
        """Return the value."""
        return value

    def _formatter(self, value: object) -> str:
        return str(value)
