# SPDX-License-Identifier: Apache-2.0
"""Only results reach stdout while a command runs; other prints do not."""

import io
import sys

import pytest

from compute_agent.cmd.app import output


@pytest.mark.catches('a driver prints among the results')
def test_prints_of_others_go_to_stderr(capsys):
    stream = io.StringIO()
    out = output.Out(stream)
    with out.alone():
        sys.stdout.write('from a driver\n')
        out.write('a result\n')
    assert stream.getvalue() == 'a result\n'
    assert capsys.readouterr().err == 'from a driver\n'


def test_stdout_is_as_it_was_afterwards():
    before = sys.stdout
    alone = output.Out(io.StringIO()).alone()
    with pytest.raises(ValueError, match='no rack'), alone:
        raise ValueError('no rack')
    assert sys.stdout is before
