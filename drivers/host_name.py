# SPDX-License-Identifier: Apache-2.0
"""The name of the host that the agent runs on.

It does I/O. The drivers of hosts name their node so where libvirt does not
answer.
"""

import socket

LOCALHOST = 'localhost'


def canonical() -> str:
    """Return this host's name as libvirt does: with its domain, if any.

    A short name is resolved. It stays short if it cannot be resolved, or
    resolves to localhost.
    """
    name = socket.gethostname()
    if '.' in name or name.startswith(LOCALHOST):
        return name
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME)
    except OSError:
        return name
    canonical = found[0][3]
    return name if canonical.startswith(LOCALHOST) else canonical or name
