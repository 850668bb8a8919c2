# SPDX-License-Identifier: Apache-2.0
"""The rules for drivers of several nodes: cost, departures, threads."""

from ....virt import driver as virt
from .. import contents
from ..rule import Broken, DoesNotApply
from ..trial import Trial

_SIZES = (2, 4, 8)
_SLACK = 2  # calls that a page more of a listing may take
_WORKERS = 4
_ROUNDS = 3


def cost_is_linear(trial: Trial) -> None:
    """Check that the calls of a cycle grow in step with the nodes."""
    if not trial.world.seams:
        raise DoesNotApply('the world has no seams to count the calls of')
    small, middle, large = (_calls(trial, size) for size in _SIZES)
    if large - middle > 2 * (middle - small) + _SLACK:
        raise Broken(
            'get_available_nodes and update_provider_tree',
            f'cycles of {_SIZES[0]}, {_SIZES[1]} and {_SIZES[2]} nodes make '
            f'{small}, {middle} and {large} calls through the seams',
            'read what nodes share once, in get_available_nodes, and describe '
            'the nodes from it',
        )
    trial.notes.append(
        f'{small}, {middle} and {large} calls for {_SIZES[0]}, {_SIZES[1]} '
        f'and {_SIZES[2]} nodes'
    )


def _calls(trial: Trial, size: int) -> int:
    """Return the calls of one cycle of a world with this number of nodes."""
    _set_nodes(trial, size)
    trial.sync()
    trial.watch.clear()
    trial.cycle()
    return len(trial.watch.calls)


def departed_nodes(trial: Trial) -> None:
    """Check the answer about a node that left, and that it may come back."""
    _set_nodes(trial, 3)
    trial.sync()
    before = trial.held()
    left = _left(trial)
    answer = trial.recorder.driver.node_exists(left)
    _check_answer(trial, left, answer)
    for _ in range(2):
        trial.cycle()
    if answer is virt.Existence.NO and left in trial.held():
        raise Broken(
            f'node_exists({left!r})',
            'it returned Existence.NO, and the provider is still there',
            'return the same answer in each cycle',
        )
    _set_nodes(trial, 3)
    trial.sync()
    changed = contents.difference(before, trial.held())
    if changed:
        raise Broken(
            'get_available_nodes() after a node came back',
            changed,
            'list and describe a node that is back as the node that it was',
        )


def _left(trial: Trial) -> str:
    """Have the last of three nodes leave; return its name."""
    driver = trial.recorder.driver
    was = list(driver.get_available_nodes())
    _set_nodes(trial, 2)
    left = [n for n in was if n not in driver.get_available_nodes()]
    if len(left) != 1:
        raise Broken(
            'get_available_nodes() after World.nodes(2)',
            f'{len(left)} of 3 nodes left the list',
            'list the nodes that the source has now',
        )
    return left[0]


def _check_answer(trial: Trial, left: str, answer: virt.Existence) -> None:
    if answer is virt.Existence.YES:
        raise Broken(
            f'node_exists({left!r})',
            'it returned Existence.YES for a node that the source has no more',
            'return NO if the source says so, UNKNOWN if it cannot tell',
        )
    if answer is virt.Existence.UNKNOWN:
        trial.notes.append(
            'the driver cannot tell that a node is gone: nothing of it is '
            'ever deleted'
        )


def parallel_is_equal(trial: Trial) -> None:
    """Check that nodes described side by side are described the same."""
    _set_nodes(trial, _SIZES[-1])
    trial.sync()
    trial.workers = _WORKERS
    for _ in range(_ROUNDS):
        trial.restart()
        trial.quiet_cycle(
            f'a cycle with {_WORKERS} threads',
            'keep nothing of one node in an attribute that the description of '
            'another one reads',
        )


def _set_nodes(trial: Trial, count: int) -> None:
    if trial.world.nodes is None:
        raise DoesNotApply('World.nodes is not given')
    trial.world.nodes(count)
