# SPDX-License-Identifier: Apache-2.0
"""Runs py-cpuinfo once per boot and keeps its answer in a file.

It does I/O. py-cpuinfo takes more than a second and starts processes, so it is
imported only if the file cannot be used. The file is used only if its shape is
valid and it was written for this boot, processor, microcode and release. The
kernel overrides the flags in the file as it overrides those of a fresh answer
(``cpu/findings.py``).
"""

import dataclasses
import functools
import importlib.metadata
import json
import logging
import pathlib
import tempfile
import threading
from collections.abc import Callable

from compute_agent import file_trust

from ..cpu.findings import ReportedFlags

LOG = logging.getLogger(__name__)

DISTRIBUTION = 'py-cpuinfo'
_LARGEST = 1_000_000  # bytes of an answer that was kept


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The circumstances of an answer; if one changes, py-cpuinfo runs again.

    :ivar boot_id: empty if it cannot be read; then no file is used
    """

    boot_id: str
    microcode: str
    model: str
    version: str


def ask() -> object:
    """Return py-cpuinfo's answer; it takes more than a second."""
    # Imported here because the import costs more than a cached answer.
    import cpuinfo  # noqa: PLC0415

    return cpuinfo.get_cpu_info()


@functools.cache
def version(distribution: str = DISTRIBUTION) -> str:
    """Return the installed release of py-cpuinfo, empty if there is none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ''


class CachedProbe:
    """py-cpuinfo's answer from memory, from the file, or from py-cpuinfo.

    A failure is kept in memory only. A daemon then does not repeat it in every
    cycle, and its next start tries again.
    """

    def __init__(
        self, path: pathlib.Path, asking: Callable[[], object] = ask
    ) -> None:
        self._path = path
        self._ask = asking
        self._lock = threading.Lock()
        self._last: tuple[Key, ReportedFlags] | None = None

    def reported(self, key: Key) -> ReportedFlags:
        """Return the flags that py-cpuinfo reports on the host of this key."""
        with self._lock:
            if self._last is None or self._last[0] != key:
                self._last = key, self._load(key) or self._fresh(key)
            return self._last[1]

    def _load(self, key: Key) -> ReportedFlags | None:
        if not key.boot_id:
            return None
        try:
            kept = json.loads(file_trust.read(str(self._path), _LARGEST))
        except FileNotFoundError:
            return None
        # Deeply nested brackets exhaust the parser's stack.
        except (OSError, ValueError, RecursionError) as exc:
            LOG.debug('%s is not used: %s', self._path, exc)
            return None
        if not isinstance(kept, dict) or kept.get('key') != _plain(key):
            LOG.debug(
                '%s is of another boot, processor or release', self._path
            )
            return None
        reported = read_answer(kept.get('answer'))
        return reported if reported.flags is not None else None

    def _fresh(self, key: Key) -> ReportedFlags:
        try:
            answer = self._ask()
        except Exception as exc:  # noqa: BLE001 it raises Exception
            LOG.warning('py-cpuinfo failed: %s', exc)
            return ReportedFlags(reason=f'py-cpuinfo failed: {exc}')
        reported = read_answer(answer)
        if key.boot_id and reported.flags is not None:
            self._save(key, reported.flags, reported.vendor)
        return reported

    def _save(self, key: Key, flags: frozenset[str], vendor: str) -> None:
        answer = {'flags': sorted(flags), 'vendor_id_raw': vendor}
        text = json.dumps({'key': _plain(key), 'answer': answer}, indent=1)
        try:
            _replace(self._path, text)
        except OSError as exc:
            LOG.warning(
                'cannot save the answer of py-cpuinfo in %s: %s; the next '
                'start runs py-cpuinfo again',
                self._path,
                exc.strerror,
            )


def read_answer(answer: object) -> ReportedFlags:
    """Return the flags and vendor of an answer, or why it is unusable."""
    if not isinstance(answer, dict):
        return ReportedFlags(reason='py-cpuinfo gave no answer')
    flags = answer.get('flags')
    vendor = answer.get('vendor_id_raw', '')
    sound = isinstance(flags, list) and all(isinstance(f, str) for f in flags)
    if not flags or not sound or not isinstance(vendor, str):
        return ReportedFlags(reason='py-cpuinfo gave no flags')
    return ReportedFlags(flags=frozenset(flags), vendor=vendor)


def _plain(key: Key) -> dict[str, str]:
    return dataclasses.asdict(key)


def _replace(path: pathlib.Path, text: str) -> None:
    """Replace a file atomically; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        'w', encoding='utf-8', dir=path.parent, prefix='.', delete=False
    ) as file:
        try:
            file.write(text)
            file.flush()
            pathlib.Path(file.name).replace(path)
        except BaseException:
            pathlib.Path(file.name).unlink(missing_ok=True)
            raise
