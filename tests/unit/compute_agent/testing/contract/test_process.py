# SPDX-License-Identifier: Apache-2.0
"""A change of the process is named and put back."""

import contextlib
import os
import pathlib
import signal
import sys

from compute_agent.testing.contract import process, watch


@contextlib.contextmanager
def watched():
    """Yield a guest of this moment: pytest changes the environment, too."""
    made = process.Guest()
    with made.watched():
        yield made


def test_nothing_is_named_if_nothing_changes():
    with watched() as guest:
        assert guest.change() == ''


def test_a_change_is_named_and_put_back(tmp_path):
    with watched() as guest:
        before = pathlib.Path.cwd()
        os.chdir(tmp_path)
        found = guest.change()
        assert found.startswith(f'the working directory was {str(before)!r}')
        assert ' and is ' in found
        assert pathlib.Path.cwd() == before
        assert guest.change() == ''


def test_a_variable_is_named_without_its_value():
    with watched() as guest:
        os.environ['RACKS_SECRET'] = 'secret'
        assert guest.change() == 'the environment has another RACKS_SECRET'
        assert 'RACKS_SECRET' not in os.environ


def test_a_handler_of_a_signal_is_named_and_not_set():
    with watched() as guest:
        before = signal.getsignal(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        assert guest.change().startswith('the handler of SIGUSR1 is ')
        assert signal.getsignal(signal.SIGUSR1) == before


def test_only_what_the_driver_prints_counts():
    with watched() as guest:
        with watch.agent_runs():
            sys.stdout.write('the agent')
        assert guest.change() == ''
        sys.stderr.write('the driver')
        assert guest.change() == "the driver printed 'the driver'"


def test_the_import_of_a_module_is_tried_elsewhere(tmp_path, monkeypatch):
    (tmp_path / 'loud_module.py').write_text('print("hello")\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert process.import_change('loud_module') == (
        "the driver printed 'hello'"
    )
    assert process.import_change('no_such_module') == ''


def test_all_is_put_back_at_the_end():
    hook = sys.excepthook
    with process.restored():
        sys.excepthook = print
    assert sys.excepthook is hook
