# SPDX-License-Identifier: Apache-2.0
"""The page of all metrics, made from the declarations that the daemon uses."""

import pathlib
import sys
from collections.abc import Iterator

from compute_agent.monitoring.values import declared_metrics
from compute_agent.monitoring.values.declared_metrics import Family, Kind

SOURCE = pathlib.Path(__file__).parents[1] / 'reference' / 'metrics.rst'


def page() -> str:
    """Return the page as Sphinx reads it, with the metrics in it."""
    return SOURCE.read_text().replace('.. metrics::\n', text())


def text() -> str:
    """Return all metrics as reStructuredText, a section for each subject."""
    lines: list[str] = []
    for subject, members in declared_metrics.SUBJECTS.items():
        lines += [subject, '-' * len(subject), '']
        for one in members:
            lines += _entry(one)
    return '\n'.join(lines)


def _entry(one: Family) -> Iterator[str]:
    """Yield a metric as an item of a definition list."""
    yield f'``{one.full_name}``'
    yield f'   {_escaped(one.text)}'
    yield ''
    yield f'   :type: {one.kind.value}{_series(one)}'
    yield f'   :unit: {one.unit}'
    for label, bound in one.labels.items():
        yield f'   :label {label}: {_escaped(bound)}'
    if one.option:
        yield f'   :only with: ``[compute_agent] {one.option}``'
    yield ''


def _series(one: Family) -> str:
    """Return what a histogram consists of."""
    if one.kind is not Kind.HISTOGRAM:
        return ''
    limits = ', '.join(f'{limit:g}' for limit in one.buckets)
    names = ', '.join(f'``{name}``' for name in one.series)
    return f' ({names}; upper limits {limits})'


def _escaped(words: str) -> str:
    r"""Return words in which ``a_`` is no link and ``*`` no emphasis."""
    return words.replace('\\', r'\\').replace('_', r'\_').replace('*', r'\*')


if __name__ == '__main__':
    sys.stdout.write(page())
