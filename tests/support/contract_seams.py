# SPDX-License-Identifier: Apache-2.0
"""The seams of the drivers of hosts, for the contract suite."""

import errno
from collections.abc import Iterator

from compute_agent import testing
from drivers import host_files

_WHOLE = 'the kernel gives such a file or folder whole, or not at all'


def of_files(files: host_files.HostFiles) -> Iterator[testing.Seam]:
    """Yield the reading of a host's files, folders and links."""
    for attribute in ('read', 'listed', 'link'):
        yield testing.Seam(
            'files',
            files,
            attribute,
            timeout=lambda: OSError(errno.ETIMEDOUT, 'Connection timed out'),
            error=lambda: OSError(errno.EIO, 'Input/output error'),
            silent={
                testing.Fault.HALF: _WHOLE,
                testing.Fault.EMPTY: _WHOLE,
                testing.Fault.GARBAGE: _WHOLE,
            },
            is_remote=False,
            most=6,
        )
