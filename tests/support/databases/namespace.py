# SPDX-License-Identifier: Apache-2.0
"""A network of its own for a process, with one cable; made by root.

The process reaches what listens at ``host``, so a relay there stands for each
server. ``cut`` pulls the cable: nothing arrives and nothing ends.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator

_NUMBERS = itertools.count(os.getpid() % 16000)
_TRIES = 100  # numbers that other processes may have


class Namespace:
    """A network namespace and its cable.

    :ivar host: the address of this machine at the other end
    :ivar inside: its own address
    """

    def __init__(self) -> None:
        number = next(_NUMBERS)
        self._name = f'fleet{number}'
        self._ours, self._theirs = f'fl{number}a', f'fl{number}b'
        # 198.18.0.0/15 is for tests of networks: nobody else is there.
        net = f'198.18.{number // 64 % 256}.'
        first = number % 64 * 4 + 1
        self.host, self.inside = f'{net}{first}', f'{net}{first + 1}'

    def command(self, *words: str) -> list[str]:
        """Return a command that runs in it."""
        return ['ip', 'netns', 'exec', self._name, *words]

    def cut(self) -> None:
        """Pull the cable."""
        _ip('link', 'set', self._ours, 'down')

    def mend(self) -> None:
        """Put the cable back."""
        _ip('link', 'set', self._ours, 'up')

    def claim(self) -> bool:
        """Make it, without a cable; return False if another process has it."""
        words = ['ip', 'netns', 'add', self._name]
        made = subprocess.run(words, check=False, capture_output=True)
        return made.returncode == 0

    def make(self) -> None:
        """Put the cable in place."""
        kind = ('type', 'veth', 'peer', 'name', self._theirs)
        _ip('link', 'add', self._ours, *kind, 'netns', self._name)
        _ip('address', 'add', f'{self.host}/30', 'dev', self._ours)
        self.mend()
        inside = ('-n', self._name)
        address = f'{self.inside}/30'
        _ip(*inside, 'address', 'add', address, 'dev', self._theirs)
        for device in ('lo', self._theirs):
            _ip(*inside, 'link', 'set', device, 'up')

    def delete(self) -> None:
        """Delete it with its cable."""
        _ip('netns', 'delete', self._name)


@contextlib.contextmanager
def made() -> Iterator[Namespace]:
    """Yield a namespace; it is deleted on exit."""
    free = (one for one in (Namespace() for _ in range(_TRIES)) if one.claim())
    namespace = next(free)
    try:
        namespace.make()
        yield namespace
    finally:
        namespace.delete()


def can_be_made() -> bool:
    """Return True if this machine lets us."""
    if os.geteuid() != 0 or shutil.which('ip') is None:
        return False
    with contextlib.suppress(subprocess.CalledProcessError), made():
        return True
    return False


def _ip(*words: str) -> None:
    subprocess.run(['ip', *words], check=True, capture_output=True)
