# SPDX-License-Identifier: Apache-2.0
"""The meaning of libvirt-python's errors, by libvirt's number of the error.

Pure: no I/O, configuration, logging or clock. ``connection.py`` calls this.
"""

import errno
import typing

from . import hypervisor

# The call, the flag or the kind of guest is unknown, or not for this user.
_ALWAYS = (
    'VIR_ERR_NO_SUPPORT',
    'VIR_ERR_INVALID_ARG',
    'VIR_ERR_OPERATION_DENIED',
    'VIR_ERR_CONFIG_UNSUPPORTED',
    'VIR_ERR_ARGUMENT_UNSUPPORTED',
    'VIR_ERR_OPERATION_UNSUPPORTED',
    'VIR_ERR_ACCESS_DENIED',
)

# The agent's user may not have a full connection.
_REFUSALS = (
    'VIR_ERR_OPERATION_DENIED',
    'VIR_ERR_AUTH_FAILED',
    'VIR_ERR_AUTH_CANCELLED',
    'VIR_ERR_AUTH_UNAVAILABLE',
    'VIR_ERR_ACCESS_DENIED',
)


def kind(binding: typing.Any, exc: typing.Any) -> type[hypervisor.Unanswered]:
    """Return Unsupported if the same question always fails in this way."""
    always = {getattr(binding, name) for name in _ALWAYS}
    if exc.get_error_code() in always:
        return hypervisor.Unsupported
    return hypervisor.Unanswered


def is_refusal(binding: typing.Any, exc: typing.Any) -> bool:
    """Return True if libvirt, or the socket's mode, keeps the user out."""
    code = exc.get_error_code()
    if code == binding.VIR_ERR_SYSTEM_ERROR:
        return exc.get_int1() in (errno.EACCES, errno.EPERM)
    return code in {getattr(binding, name) for name in _REFUSALS}


def text(exc: Exception | None) -> str:
    """Return the error in one line."""
    return ' '.join(str(exc).split())
