# SPDX-License-Identifier: Apache-2.0
"""A defect as a value: which text becomes which, and which tests must notice.

It knows no list (``defects.py`` has that) and runs nothing (``trial.py``).
"""

import dataclasses
import pathlib

EVERYTHING = ('tests/functional',)


class Moved(Exception):
    """The text is not there exactly once."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One change to one file that no test suite may let pass.

    :ivar name: what goes wrong with it
    :ivar file: below the root of the tree
    :ivar find: text that is in the file exactly once
    :ivar tests: as pytest takes them; at least one must fail
    """

    name: str
    file: str
    find: str
    put: str
    tests: tuple[str, ...] = EVERYTHING

    def planted(self, text: str) -> str:
        """Return the file's text with the defect in it.

        :raises Moved: it cannot be planted
        """
        found = text.count(self.find)
        if found != 1:
            raise Moved(
                f'{self.name}: the code moved, mend the defect in '
                f'tests/mutation/defects.py: its text is {found} times in '
                f'{self.file}, and must be there once'
            )
        return text.replace(self.find, self.put)

    def check(self, root: pathlib.Path) -> None:
        """Make sure that it can be planted, and that its tests are there.

        :raises Moved: not so
        """
        self.planted((root / self.file).read_text())
        for test in self.tests:
            path, _, function = test.partition('[')[0].partition('::')
            there = root / path
            if not there.exists() or function not in _text(there, function):
                raise Moved(
                    f'{self.name}: there is no test {test}; mend the defect '
                    'in tests/mutation/defects.py'
                )


def _text(path: pathlib.Path, function: str) -> str:
    return path.read_text() if function else ''
