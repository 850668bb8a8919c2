# SPDX-License-Identifier: Apache-2.0
"""How much the stateful test has tried: sequences, steps, rules by faults.

A cell counts the cycles that met this fault after this rule had changed
something since that agent's last whole cycle.
"""

import collections
import json
import pathlib


class Tally:
    """Counts; several runs' counts add up.

    :ivar failures: the batches that failed, in lines
    """

    def __init__(self, path: pathlib.Path | None = None) -> None:
        """Begin at zero.

        :param path: the file that ``keep`` writes
        """
        self._path = path
        self.sequences = 0
        self.failures: list[str] = []
        self.cells: collections.Counter[tuple[str, str]] = (
            collections.Counter()
        )
        self.rules: collections.Counter[str] = collections.Counter()
        self.cycles = 0

    @property
    def steps(self) -> int:
        """Steps of all sequences."""
        return sum(self.rules.values())

    def __str__(self) -> str:
        total = (
            f'{self.sequences} sequences, {self.steps} steps, '
            f'{self.cycles} cycles, {len(self.failures)} batches failed\n'
        )
        return '\n'.join([self.table(), *self.failures, total])

    def sequence(self) -> None:
        """Count one more sequence."""
        self.sequences += 1

    def step(self, rule: str) -> None:
        """Count one step."""
        self.rules[rule] += 1

    def cycle(self, since: set[str], fault: str) -> None:
        """Count one cycle, after these rules."""
        self.cycles += 1
        self.rules[f'cycle: {fault}'] += 1
        for rule in since:
            self.cells[rule, fault] += 1

    def keep(self) -> None:
        """Write the counts to the file, if there is one."""
        if self._path is not None:
            self._path.write_text(self._dumped())

    def _dumped(self) -> str:
        return json.dumps(
            {
                'sequences': self.sequences,
                'failures': self.failures,
                'cycles': self.cycles,
                'rules': self.rules,
                'cells': [[*key, n] for key, n in self.cells.items()],
            }
        )

    def add(self, path: pathlib.Path) -> None:
        """Add the counts of another run."""
        other = json.loads(path.read_text())
        self.sequences += other['sequences']
        self.failures += other['failures']
        self.cycles += other['cycles']
        self.rules.update(other['rules'])
        for rule, fault, n in other['cells']:
            self.cells[rule, fault] += n

    def table(self) -> str:
        """Return the cells as a table for people."""
        faults = sorted({fault for _, fault in self.cells})
        rules = sorted({rule for rule, _ in self.cells})
        width = max(map(len, rules), default=0)
        widths = [max(len(fault), 6) for fault in faults]
        lines = [
            ' ' * width
            + '  '
            + '  '.join(
                f.rjust(w) for f, w in zip(faults, widths, strict=True)
            )
        ]
        for rule in rules:
            cells = (
                str(self.cells[rule, f] or '.').rjust(w)
                for f, w in zip(faults, widths, strict=True)
            )
            lines.append(f'{rule.ljust(width)}  {"  ".join(cells)}')
        return '\n'.join(lines)
