# SPDX-License-Identifier: Apache-2.0
"""The lines of standard input, for the argument "-" of a command.

The words of a line are quoted as in a shell. Empty lines, and lines that begin
with "#", do not count.
"""

import dataclasses
import shlex
from collections.abc import Iterable, Sequence

from ... import errors
from . import command

STDIN = '-'
_COMMENT = '#'
_SHOWN = 20  # mistakes that are printed
_OPEN = (
    'a quotation mark or a backslash is open: close it, or quote the name '
    'that contains it'
)
_LONGEST = 65_536  # characters of a line; the time grows with their square
_MOST_MB = 64  # of the whole input, which is kept in memory


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of standard input.

    :ivar number: counted from 1, with empty lines
    """

    number: int
    words: Sequence[str]

    def mistake(self, why: object) -> str:
        """Return a mistake in this line, or its failure, as one line."""
        return f'line {self.number}: {why}'

    @property
    def hint(self) -> str:
        """Advice for a line with commas between its words, else ''."""
        if len(self.words) == 1 and ',' in self.words[0]:
            return '; write blanks between the words of a line, not commas'
        return ''


def read(asking: command.AgentCommand) -> list[Line]:
    """Return the lines of standard input, without empty ones and comments.

    :raises errors.ConfigError: it cannot be read, is too much, or is not text
    :raises errors.SeveralMistakes: lines with an open quotation, a NUL
        character, or too many characters
    """
    lines, mistakes = [], []
    for number, text in enumerate(_text(asking).split('\n'), 1):
        line = Line(number=number, words=[text])
        why = _mistake(text)
        if why:
            mistakes.append(line.mistake(why))
            continue
        if not text.strip() or text.lstrip().startswith(_COMMENT):
            continue
        try:
            lines.append(dataclasses.replace(line, words=shlex.split(text)))
        except ValueError:
            mistakes.append(line.mistake(_OPEN))
    refuse(mistakes)
    return lines


def _mistake(text: str) -> str:
    """Return why a line is not split into words; empty if it is."""
    if len(text) > _LONGEST:
        return (
            f'it has {len(text)} characters, and the most are {_LONGEST}: '
            'give fewer words'
        )
    if '\0' in text:
        return 'it has a NUL character: give text'
    return ''


def refuse(mistakes: Iterable[str]) -> None:
    """Raise the mistakes in lines, if any line has one.

    :raises errors.SeveralMistakes: the first mistakes, and the number of the
        others
    """
    every = list(mistakes)
    if not every:
        return
    more = len(every) - _SHOWN
    last = f'{more} more lines are wrong; ' if more > 0 else ''
    raise errors.SeveralMistakes(
        [*every[:_SHOWN], f'{last}nothing was written; correct the input']
    )


def _text(asking: command.AgentCommand) -> str:
    stdin = asking.app.stdin  # None if the shell closed it
    if stdin is None:
        raise errors.ConfigError('standard input is closed: "-" reads it')
    if stdin.isatty():
        asking.say('reading lines from the terminal; Ctrl-D ends them')
    try:
        content = stdin.buffer.read(_MOST_MB * 2**20 + 1)
        if len(content) > _MOST_MB * 2**20:
            raise errors.ConfigError(
                f'standard input has more than {_MOST_MB} MiB: give it in '
                'parts'
            )
        return str(content, 'utf-8-sig')
    except UnicodeDecodeError as exc:
        raise errors.ConfigError(
            f'standard input is not UTF-8 text: {exc.reason} at byte '
            f'{exc.start}'
        ) from exc
    except OSError as exc:
        raise errors.ConfigError(
            f'standard input cannot be read: {exc.strerror}'
        ) from exc
