# SPDX-License-Identifier: Apache-2.0
"""The rule files: the starter rules of the package, and the operator's.

It reads files. A set of rules is in force as a whole: a set with a mistake is
refused and never replaces a good one. A file that the agent must not trust (a
link, another user's, one that others may write, a very large one) is left
out at the start, with one line, and nothing that rules gave before is then
removed or begun; on a reload it refuses the set. The driver calls this.
"""

import dataclasses
import errno
import logging
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence

from compute_agent import error_text, errors, file_trust, yaml_file

from ..language import expression
from ..rule import Rule
from ..vocabulary import Vocabulary
from . import parse
from .mistake import Mistake, WrongRules
from .positions import Positions
from .schema import SCHEMA

LOG = logging.getLogger(__name__)

STARTER = pathlib.Path(__file__).parents[1] / 'starter'
SUFFIX = '.yaml'
MAX_SIZE = 1_000_000
MAX_RULES = 1000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The rules of all files, those that are off included.

    :ivar left_out: a line for each file that is not in force
    """

    rules: tuple[Rule, ...] = ()
    left_out: tuple[str, ...] = ()


def read(
    location: str, words: Vocabulary, *, given: bool, starter: bool = True
) -> RuleSet:
    """Return the rules of all files.

    :param location: the operator's directory
    :param given: an operator named the directory, so it has to exist
    :raises WrongRules: files have mistakes
    :raises errors.ConfigError: the directory cannot be read
    """
    try:
        return _read(location, words, given=given, starter=starter)
    except expression.LibraryMissing as exc:
        return RuleSet(left_out=(f'no rule is in force: {exc}',))


def _read(
    location: str, words: Vocabulary, *, given: bool, starter: bool
) -> RuleSet:
    left_out: list[str] = []
    files: list[parse.File] = []
    mistakes: list[Mistake] = []
    paths = [*_paths(STARTER)] if starter else []
    for path in [*paths, *_operators(location, given=given)]:
        try:
            text = _text(path)
        except OSError as exc:
            left_out.append(
                f'{path} is left out: {file_trust.why_unread(exc)}'
            )
            continue
        try:
            files.append(_parsed(path, text, words))
        except yaml_file.FileError as exc:
            mistakes.append(
                Mistake(
                    path=exc.path, line=exc.line, column=1, problem=exc.problem
                )
            )
    rules, more = _united(files, certain=not left_out and not mistakes)
    mistakes += more
    if mistakes:
        raise WrongRules(mistakes)
    return RuleSet(rules=rules, left_out=tuple(left_out))


def _parsed(path: pathlib.Path, text: str, words: Vocabulary) -> parse.File:
    document = yaml_file.parse(text, str(path), SCHEMA)
    positions = Positions(document=document, text=text)
    return parse.parse(document.data, positions, words)


# --- all files together -------------------------------------------------------


def _united(
    files: Iterable[parse.File], *, certain: bool
) -> tuple[tuple[Rule, ...], list[Mistake]]:
    """Return the rules, on or off as the switches say, and what is wrong.

    :param certain: no file is missing, so a name that is in none is a mistake
    """
    listed = list(files)
    mistakes = [m for file in listed for m in file.mistakes]
    rules: dict[str, Rule] = {}
    for rule in (rule for file in listed for rule in file.rules):
        first = rules.setdefault(rule.marker, rule)
        if first is not rule:
            mistakes.append(_twice(rule, first))
    by_name = {rule.name: rule for rule in rules.values()}
    switches = [s for file in listed for s in file.switches]
    mistakes += _wrong_switches(switches, by_name, certain=certain)
    for switch in switches:
        if switch.name in by_name:
            by_name[switch.name] = dataclasses.replace(
                by_name[switch.name], enabled=switch.on
            )
    return tuple(by_name.values()), mistakes


def _twice(rule: Rule, first: Rule) -> Mistake:
    path, _, line = rule.place.rpartition(':')
    return Mistake(
        path=path,
        line=int(line),
        column=1,
        problem=f'rule {rule.name}: there is a rule {first.name} at '
        f'{first.place}; give this one another name',
    )


def _wrong_switches(
    switches: Sequence[parse.Switch],
    rules: dict[str, Rule],
    *,
    certain: bool,
) -> Iterator[Mistake]:
    seen: dict[str, parse.Switch] = {}
    for switch in switches:
        if switch.name not in rules and certain:
            advice = expression.suggestion(switch.name, rules)
            yield switch.mistake(f'there is no rule {switch.name}{advice}')
        first = seen.setdefault(switch.name, switch)
        if first.on is not switch.on:
            yield switch.mistake(
                f'rule {switch.name} is also under '
                f'{"enabled" if first.on else "disabled"} at {first.path}:'
                f'{first.line}; keep one of the two lines'
            )


# --- one file -----------------------------------------------------------------


def _operators(location: str, *, given: bool) -> list[pathlib.Path]:
    """Return the operator's files.

    :raises errors.ConfigError: the directory cannot be read, or it is missing
        and an operator named it
    """
    folder = pathlib.Path(location).absolute()
    try:
        if folder.resolve() == STARTER.resolve():
            return []
        return list(_paths(folder))
    except FileNotFoundError as exc:
        if not given:
            return []
        raise errors.ConfigError(
            f'[rules] directory: the directory {folder} does not exist; '
            'create it or correct the option'
        ) from exc
    except OSError as exc:
        raise errors.ConfigError(
            f'[rules] directory: {folder} cannot be read '
            f'({exc.strerror}); give this user the right to read it, or write '
            'another directory'
        ) from exc


def _paths(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the rule files of a directory, by name."""
    problem = '' if folder == STARTER else file_trust.distrust(folder.stat())
    if problem:
        raise OSError(errno.EPERM, problem)
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 (names)
        if name.endswith(SUFFIX) and not name.startswith('.'):
            yield folder / error_text.printable(name)


def _text(path: pathlib.Path) -> str:
    """Return the text of a rule file.

    A starter rule is as trusted as the code beside it.

    :raises OSError: it cannot be read or must not be trusted
    """
    if path.parent == STARTER:
        return path.read_text('utf-8')
    descriptor = os.open(path, file_trust.READ_FLAGS)
    with open(descriptor, 'rb') as file:  # noqa: PTH123 (a descriptor)
        problem = file_trust.distrust_file(os.fstat(descriptor), MAX_SIZE)
        if problem:
            raise OSError(errno.EPERM, problem)
        content = file.read(MAX_SIZE + 1)
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as exc:
        raise OSError(
            errno.EILSEQ, f'byte {exc.start} is not UTF-8; save it as UTF-8'
        ) from exc
