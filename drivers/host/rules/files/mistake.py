# SPDX-License-Identifier: Apache-2.0
"""A mistake in a rule file: file, line, column, and what to write instead.

Pure: no I/O, configuration, logging or clock. ``parse.py`` finds several at
once, and ``files.py`` raises them together.
"""

import dataclasses
from collections.abc import Iterable

from compute_agent import errors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mistake:
    """One mistake; its text is one line."""

    path: str
    line: int
    column: int
    problem: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}:{self.column}: {self.problem}'


class WrongRules(errors.SeveralMistakes):
    """Rule files have mistakes; each is a line."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__(map(str, self.mistakes))
