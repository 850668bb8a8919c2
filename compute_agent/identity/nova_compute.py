# SPDX-License-Identifier: Apache-2.0
"""Signs of a nova-compute that reports this host: its process, its files.

An agent without ``[compute_agent] mode`` asks before it reports a host on which
nova-compute lives. ``cmd/wiring/`` connects this module with the node planner.
"""

import pathlib
from collections.abc import Sequence

from . import compute_id, nova_marker, nova_process

_BOTH = (
    'nova-compute runs on this host (process {}) and may report it to placement '
    f'too, so that each undoes changes of the other; {nova_marker.ADVICE}'
)
_SILENT = (
    'nova-compute runs on this host and reports no resources ({}): set '
    '[compute_agent] mode = reporter'
)


class NovaCompute:
    """Looks for a nova-compute that reports this host.

    :param directories: where the uuid of this host is kept: the agent's
        directory first, then those where nova may have written it
    """

    def __init__(
        self,
        directories: Sequence[pathlib.Path],
        proc: pathlib.Path = nova_process.PROC,
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
        number = next(nova_process.processes(self._proc), '')
        signs = [
            *([f'it runs as process {number}'] if number else []),
            *self._novas_file(uuid, files[uuid]),
        ]
        if not signs:
            return ''
        return (
            f'nova-compute lives on this host ({", and ".join(signs)}), and '
            'creates the root provider itself; nothing is written until you '
            f'decide which of the two reports the host: {nova_marker.ADVICE}'
        )

    def note(self, uuid: str) -> str:
        """Return a line about a nova-compute that ran when the agent began.

        It is empty for a root that is not of this host.
        """
        if uuid not in compute_id.uuid_files(self._directories):
            return ''
        if self._note is None:
            number = next(nova_process.processes(self._proc), '')
            sign = nova_marker.look(self._directories, self._proc)
            if sign.state is nova_marker.NovaState.SILENT:
                self._note = _SILENT.format(sign.fact)
            else:
                self._note = _BOTH.format(number) if number else ''
        return self._note

    def _novas_file(self, uuid: str, file: str) -> list[str]:
        """Return the sign of a file that this agent did not write."""
        own = self._directories[0]
        if compute_id.known_host_uuid([own]) == uuid:
            return []
        return [f'the uuid of the host is in its file {file}']
