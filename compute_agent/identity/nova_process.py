# SPDX-License-Identifier: Apache-2.0
"""The processes of this host that are a nova-compute, by their command lines."""

import pathlib
from collections.abc import Iterator, Sequence

PROC = pathlib.Path('/proc')
_PROGRAM = 'nova-compute'
_MODULE = 'nova.cmd.compute'
_INTERPRETER = 'python'
_WITH_ARGUMENT = frozenset({'-W', '-X'})  # options of the interpreter


def processes(proc: pathlib.Path = PROC) -> Iterator[str]:
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
        words = line.decode(errors='replace').split('\0')
        if _is_nova_compute(words):
            yield path.name


def _is_nova_compute(words: Sequence[str]) -> bool:
    """Return True for the program, as itself or run by an interpreter."""
    program, *rest = words
    if not _name(program).startswith(_INTERPRETER):
        return _name(program) == _PROGRAM
    words_left = iter(rest)
    for word in words_left:
        if word == '-m':
            return next(words_left, '') == _MODULE
        if word in _WITH_ARGUMENT:
            next(words_left, '')
        elif not word.startswith('-'):
            return _name(word) == _PROGRAM
    return False


def _name(word: str) -> str:
    return word.rpartition('/')[2]
