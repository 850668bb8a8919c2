# SPDX-License-Identifier: Apache-2.0
"""How much the stateful test has tried: sequences, steps, rules by faults.

A cell counts the cycles that met this fault after this rule had changed
something since that agent's last whole cycle.
"""

import collections
import json
import pathlib


class Tally:
    """Counts; several runs' counts add up."""

    def __init__(self) -> None:
        self.sequences = 0
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
        return (
            f'{self.table()}\n{self.sequences} sequences, {self.steps} steps, '
            f'{self.cycles} cycles\n'
        )

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

    def write(self, path: pathlib.Path) -> None:
        """Keep the counts in a file."""
        path.write_text(
            json.dumps(
                {
                    'sequences': self.sequences,
                    'cycles': self.cycles,
                    'rules': self.rules,
                    'cells': [[*key, n] for key, n in self.cells.items()],
                }
            )
        )

    def add(self, path: pathlib.Path) -> None:
        """Add the counts of another run."""
        other = json.loads(path.read_text())
        self.sequences += other['sequences']
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
