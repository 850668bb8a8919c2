# SPDX-License-Identifier: Apache-2.0
"""Signs of a nova-compute that reports this host: its process, its files.

nova-compute reports its host to placement, unless its driver is one of
compute-agent-nova's, which this module cannot see. So an agent that would report
the same host asks first. ``cmd/wiring/`` connects
this module with the node planner.
"""

import pathlib
from collections.abc import Iterator, Sequence

from . import compute_id

_PROC = pathlib.Path('/proc')
_PROGRAM = 'nova-compute'
_INTERPRETER = 'python'
_ADVICE = (
    'to add to what nova-compute reports, set [compute_agent] mode = '
    'companion; to report the host in its place, give nova-compute the driver '
    'compute_agent.LibvirtDriver and set mode = reporter, or stop it for good '
    'and set mode = owner'
)
_NOTE = (
    'nova-compute runs on this host (process {}) and reports it to placement '
    f'too, so each undoes changes of the other; {_ADVICE}'
)


class NovaCompute:
    """Looks for a nova-compute that reports this host.

    :param directories: where the uuid of this host is kept: the agent's
        directory first, then those where nova may have written it
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        proc: pathlib.Path = _PROC,
    ) -> None:
        self._directories = directories
        self._proc = proc
        self._note: str | None = None

    def reason_to_wait(self, uuid: str) -> str:
        """Return why the root with this uuid is not created now, or ''.

        The processes and files are read at each call, because a person may
        stop nova-compute. A root that is not of this host does not wait.
        """
        files = compute_id.uuid_files(self._directories)
        if uuid not in files:
            return ''
        number = next(processes(self._proc), '')
        signs = [
            *([f'it runs as process {number}'] if number else []),
            *self._novas_file(uuid, files[uuid]),
        ]
        if not signs:
            return ''
        return (
            f'nova-compute lives on this host ({", and ".join(signs)}), and '
            'creates the root provider itself; nothing is written until you '
            f'decide which of the two reports the host: {_ADVICE}'
        )

    def note(self, uuid: str) -> str:
        """Return a line about a nova-compute that ran when the agent began.

        It is empty for a root that is not of this host.
        """
        if uuid not in compute_id.uuid_files(self._directories):
            return ''
        if self._note is None:
            number = next(processes(self._proc), '')
            self._note = _NOTE.format(number) if number else ''
        return self._note

    def _novas_file(self, uuid: str, file: str) -> list[str]:
        """Return the sign of a file that this agent did not write."""
        own = self._directories[0]
        if compute_id.known_host_uuid([own]) == uuid:
            return []
        return [f'the uuid of the host is in its file {file}']


def processes(proc: pathlib.Path = _PROC) -> Iterator[str]:
    """Yield the number of each process of a nova-compute that is seen."""
    try:
        found = [path for path in proc.iterdir() if path.name.isdecimal()]
    except OSError:
        return
    for path in found:
        try:
            line = (path / 'cmdline').read_bytes()
        except OSError:
            continue  # it ended, or this user may not see it
        if _is_nova_compute(line.split(b'\0')):
            yield path.name


def _is_nova_compute(words: list[bytes]) -> bool:
    """Return True for the program, as itself or as an interpreter's script."""
    names = [
        word.decode(errors='replace').rpartition('/')[2] for word in words
    ]
    if names[0].startswith(_INTERPRETER):
        return _PROGRAM in names[1:2]
    return names[0] == _PROGRAM
