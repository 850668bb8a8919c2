# SPDX-License-Identifier: Apache-2.0
"""Asks py-cpuinfo once per boot, and keeps its answer in a file.

I/O. py-cpuinfo takes more than a second and starts processes, so it is
imported only where the file does not serve. The file is checked, not trusted:
its shape, and that it is of this boot, processor, microcode and release. What
it says passes the kernel's veto like a fresh answer (``findings.py``).
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

from . import findings

LOG = logging.getLogger(__name__)

DISTRIBUTION = 'py-cpuinfo'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What an answer is good for; another value of any means: ask again.

    :ivar boot_id: empty if the kernel does not tell; then no file is used
    """

    boot_id: str
    microcode: str
    model: str
    version: str


def ask() -> object:
    """Return what py-cpuinfo says; takes more than a second."""
    # Imported here: the import alone costs more than a cached answer.
    import cpuinfo  # noqa: PLC0415

    return cpuinfo.get_cpu_info()


@functools.cache
def version(distribution: str = DISTRIBUTION) -> str:
    """Return the release of py-cpuinfo that is installed, empty if none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ''


class CachedProbe:
    """py-cpuinfo's answer: from memory, from the file, or from the thing.

    An answer that failed is kept in memory alone, so that a daemon does not
    pay for it every cycle and its next start tries again.
    """

    def __init__(
        self, path: pathlib.Path, asking: Callable[[], object] = ask
    ) -> None:
        self._path = path
        self._ask = asking
        self._lock = threading.Lock()
        self._last: tuple[Key, findings.Claims] | None = None

    def claims(self, key: Key) -> findings.Claims:
        """Return what py-cpuinfo says of the host that this key is of."""
        with self._lock:
            if self._last is None or self._last[0] != key:
                self._last = key, self._load(key) or self._fresh(key)
            return self._last[1]

    def _load(self, key: Key) -> findings.Claims | None:
        if not key.boot_id:
            return None
        try:
            kept = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None
        # A deep nest of brackets exhausts the parser's stack.
        except (OSError, ValueError, RecursionError) as exc:
            LOG.debug('%s is not used: %s', self._path, exc)
            return None
        if not isinstance(kept, dict) or kept.get('key') != _plain(key):
            LOG.debug(
                '%s is of another boot, processor or release', self._path
            )
            return None
        claims = read_claims(kept.get('answer'))
        return claims if claims.flags is not None else None

    def _fresh(self, key: Key) -> findings.Claims:
        try:
            answer = self._ask()
        except Exception as exc:  # noqa: BLE001 it raises the bare class
            LOG.warning('py-cpuinfo failed: %s', exc)
            return findings.Claims(reason=f'py-cpuinfo failed: {exc}')
        claims = read_claims(answer)
        if key.boot_id and claims.flags is not None:
            self._save(key, claims.flags, claims.vendor)
        return claims

    def _save(self, key: Key, flags: frozenset[str], vendor: str) -> None:
        answer = {'flags': sorted(flags), 'vendor_id_raw': vendor}
        text = json.dumps({'key': _plain(key), 'answer': answer}, indent=1)
        try:
            _replace(self._path, text)
        except OSError as exc:
            LOG.warning(
                'py-cpuinfo is asked again at the next start: its answer '
                'cannot be kept in %s: %s',
                self._path,
                exc.strerror,
            )


def read_claims(answer: object) -> findings.Claims:
    """Return an answer's flags and maker, or that it is no answer."""
    if not isinstance(answer, dict):
        return findings.Claims(reason='py-cpuinfo gave no answer')
    flags = answer.get('flags')
    vendor = answer.get('vendor_id_raw', '')
    sound = isinstance(flags, list) and all(isinstance(f, str) for f in flags)
    if not flags or not sound or not isinstance(vendor, str):
        return findings.Claims(reason='py-cpuinfo gave no flags')
    return findings.Claims(flags=frozenset(flags), vendor=vendor)


def _plain(key: Key) -> dict[str, str]:
    return dataclasses.asdict(key)


def _replace(path: pathlib.Path, text: str) -> None:
    """Put a file of this text there at once, readable by its owner alone."""
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
