# SPDX-License-Identifier: Apache-2.0
"""Why a request got no answer, in the few words an operator needs.

Pure: no I/O, configuration, logging or clock. Libraries wrap an error of the
operating system several times; the innermost one says what to look at.
"""

import re

_ERRNO = re.compile(r'\[Errno -?\d+\] ([\w ]+)')
# keystoneauth's and requests' own, which wrap nothing that says more.
_TIMEOUTS = {'ConnectTimeout', 'ReadTimeout'}
_MOST = 120  # characters


def cause(exc: BaseException) -> str:
    """Return the innermost reason of a failed request."""
    if match := _ERRNO.search(str(exc)):
        return match[1]
    if _TIMEOUTS & {kind.__name__ for kind in type(exc).__mro__}:
        return 'no answer in time'
    while (inner := exc.__cause__ or exc.__context__) is not None:
        exc = inner
    return short(exc) or type(exc).__name__


def short(exc: BaseException) -> str:
    """Return what an exception says as one line of bounded length."""
    return ' '.join(str(exc).split())[:_MOST]
