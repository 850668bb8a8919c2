# SPDX-License-Identifier: Apache-2.0
"""The options of ``make bench``, checked. Pure; ``__main__.py`` acts on them."""

import argparse
import pathlib
from collections.abc import Sequence

from . import scenarios

POSTGRESQL, SQLITE = 'postgresql', 'sqlite'
RESULTS = pathlib.Path(__file__).parents[1] / 'results'


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog='benchmarks.sync_cycles',
        description='Measure cycles of this agent beside those of nova.',
    )
    made.add_argument(
        '--nodes',
        type=_counts,
        default=[1, 100, 1000, 10000],
        help='numbers of nodes of the flat clouds, separated by commas; nova '
        f'is measured up to {scenarios.NOVA_AT_MOST} (%(default)s)',
    )
    made.add_argument(
        '--shapes',
        type=_shapes,
        default=list(scenarios.Shape),
        help='shapes of clouds: flat, nested, crowded (all)',
    )
    made.add_argument(
        '--databases',
        type=_databases,
        default=[POSTGRESQL],
        help='postgresql (two workers), sqlite (one worker)',
    )
    made.add_argument(
        '--repeats',
        type=_count,
        default=3,
        help='number of repetitions (%(default)s)',
    )
    made.add_argument(
        '--results',
        type=pathlib.Path,
        default=RESULTS,
        help='directory for the results',
    )
    made.add_argument(
        '--add-to',
        type=_file,
        metavar='FILE',
        help='continue with these results instead of new ones',
    )
    made.add_argument(
        '--render',
        type=_file,
        metavar='FILE',
        help='only make the tables and the plot again from these results',
    )
    return made


def _file(text: str) -> pathlib.Path:
    """Return the path of an existing file."""
    path = pathlib.Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f'{text!r} is not a results file')
    return path


def _count(text: str) -> int:
    """Return the number in an option's value."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(
            f'write a number of at least 1, not {text!r}'
        )
    return int(text)


def _counts(text: str) -> list[int]:
    """Return the numbers in an option's value."""
    numbers = [int(one) for one in text.split(',') if one.isdecimal()]
    if len(numbers) != text.count(',') + 1 or not all(numbers):
        raise argparse.ArgumentTypeError(
            f'write numbers of at least 1, separated by commas, not {text!r}'
        )
    return numbers


def _databases(text: str) -> list[str]:
    """Return the databases in an option's value."""
    return _known(text, (POSTGRESQL, SQLITE))


def _shapes(text: str) -> list[scenarios.Shape]:
    """Return the shapes in an option's value."""
    names = _known(text, [one.value for one in scenarios.Shape])
    return [scenarios.Shape(name) for name in names]


def _known(text: str, names: Sequence[str]) -> list[str]:
    for name in text.split(','):
        if name not in names:
            raise argparse.ArgumentTypeError(
                f'{name!r} is not one of {", ".join(names)}'
            )
    return text.split(',')
