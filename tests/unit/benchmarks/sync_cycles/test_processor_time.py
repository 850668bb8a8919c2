# SPDX-License-Identifier: Apache-2.0
"""The processor time of a process and of all below it."""

import os
import subprocess
import sys

from benchmarks.sync_cycles import processor_time

# Many ticks of the clock that processor time is counted in (10 ms).
BUSY = 'import time\nwhile time.process_time() < 0.1: pass'


def test_a_name_with_spaces_and_brackets_does_not_shift_the_fields():
    rest = 'S 7 1 1 0 -1 0 0 0 0 0 30 4 2 1 20 0'
    assert processor_time.parsed(f'12 (a) b (c) {rest}') == (7, 37)


def test_what_an_ended_child_used_is_counted():
    before = processor_time.of_tree(os.getpid())
    subprocess.run([sys.executable, '-c', BUSY], check=True)
    assert processor_time.of_tree(os.getpid()) > before


def test_what_a_running_child_used_is_counted():
    code = f'{BUSY}\nprint(flush=True); input()'
    with subprocess.Popen(
        [sys.executable, '-c', code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        child.stdout.readline()
        alone = processor_time.of_tree(child.pid)
        with_us = processor_time.of_tree(os.getpid())
        child.communicate(b'\n')
    assert 0 < alone <= with_us


def test_a_process_that_is_not_there_used_nothing():
    with subprocess.Popen([sys.executable, '-c', '']) as child:
        pass
    assert processor_time.of_tree(child.pid) == 0
