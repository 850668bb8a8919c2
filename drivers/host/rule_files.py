# SPDX-License-Identifier: Apache-2.0
"""The rules in force: the starter rules of the package, and the operator's.

It reads files, when the driver is made and on a reload. A set of rules is in
force as a whole: a set with a mistake is refused and never replaces a good one.
A file that the agent must not trust (a link, another user's, one that others may
write, a very large one) is left out at the start, with one line, and nothing
that rules gave before is then removed or begun; on a reload it refuses the set.

``Rules`` keeps the outcomes until facts or rules change, because those of equal
facts are the same. The driver makes this object; several threads may call it.
"""

import dataclasses
import errno
import logging
import os
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from compute_agent import error_text, errors, file_trust, yaml_file
from compute_agent.tree import provider_tree
from compute_agent.virt.values import finding, rule_results

from .facts.fact import Facts
from .rules import evaluate, findings, parse, placing
from .rules.language import expression
from .rules.positions import Mistake, Positions, WrongRules
from .rules.rule import Outcome, Rule, Vocabulary
from .rules.schema import SCHEMA

LOG = logging.getLogger(__name__)

STARTER = pathlib.Path(__file__).parent / 'rules' / 'starter'
SUFFIX = '.yaml'
MAX_SIZE = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The rules of all files, including those that are off.

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
    """Return the rules, switched on or off, and the mistakes.

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
    problem = (
        '' if folder == STARTER else file_trust.distrust(folder.stat(), folder)
    )
    if problem:
        raise OSError(errno.EPERM, problem)
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 (names)
        if name.endswith(SUFFIX) and not name.startswith('.'):
            yield folder / error_text.printable(name)


def _text(path: pathlib.Path) -> str:
    """Return the text of a rule file.

    A starter rule is as trusted as the code beside it.

    :raises OSError: the file cannot be read or must not be trusted
    """
    if path.parent == STARTER:
        return path.read_text('utf-8')
    content = file_trust.read(str(path), MAX_SIZE)
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as exc:
        raise OSError(
            errno.EILSEQ, f'byte {exc.start} is not UTF-8; save it as UTF-8'
        ) from exc


Read = Callable[[], RuleSet]


class Rules:
    """The rules in force.

    :ivar edition: how many sets of rules have been in force
    :param read: reads the set of all files
    :param clock: seconds, from any moment on
    :raises errors.ConfigError: a file has a mistake
    """

    def __init__(
        self,
        read: Read,
        words: Vocabulary,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._words = words
        self._clock = clock
        self._set = read()
        self.edition = 1
        self._kept: tuple[Facts, str, int, Sequence[Outcome]] | None = None
        for line in self._set.left_out:
            LOG.warning('%s', line)

    @property
    def left_out(self) -> tuple[str, ...]:
        """A line for each file that is not in force."""
        return self._set.left_out

    def reload(self) -> None:
        """Read the files again; if one cannot be used, the old set stays.

        :raises errors.ConfigError: a file has a mistake or cannot be trusted
        """
        found = self._read()
        if found.left_out:
            raise errors.SeveralMistakes(found.left_out)
        self._set = found
        self.edition += 1

    def outcomes(self, facts: Facts, node: str) -> Sequence[Outcome]:
        """Return the outcome of each rule that is on.

        :param node: the name of the node's root provider
        """
        edition, kept = self.edition, self._kept
        if kept is not None and kept[:3] == (facts, node, edition):
            return kept[3]
        run = evaluate.Evaluation(facts, self._words, node, self._clock)
        found = tuple(run.outcomes(self._set.rules))
        self._kept = (facts, node, edition, found)
        return found

    def place(
        self, tree: provider_tree.ProviderTree, nodename: str, facts: Facts
    ) -> None:
        """Put what the rules give into the node's tree."""
        found = self.outcomes(facts, tree.data(nodename).name)
        unread = '; '.join(self._set.left_out)
        placing.place(tree, nodename, found, unread)

    def findings(self, facts: Facts, node: str) -> list[finding.Finding]:
        """Return the evidence for each trait of the rules."""
        return findings.findings(self.outcomes(facts, node))

    def results(
        self, facts: Facts, node: str
    ) -> list[rule_results.RuleResult]:
        """Return the result of each rule, including those that are off."""
        return findings.results(self._set.rules, self.outcomes(facts, node))
