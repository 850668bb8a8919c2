# SPDX-License-Identifier: Apache-2.0
"""What is compared reads the same list, and the table says how."""

import io
import json

import pytest

from benchmarks import row_stream
from report_client.http.messages import codec


def body(count):
    return ''.join(row_stream.written(count)).encode()


@pytest.mark.parametrize('way', ['json.loads', 'list_stream.py'])
@pytest.mark.parametrize('count', [0, 1, 200])
def test_each_way_reads_all_of_it(way, count):
    found = row_stream.WAYS[way](io.BytesIO(body(count)))
    assert found == codec.listed_providers(json.loads(body(count)))
    assert len({row.uuid for row in found}) == count


def test_a_process_prints_what_it_took(tmp_path, capsys):
    path = tmp_path / 'body.json'
    path.write_bytes(body(50))
    row_stream.measured('list_stream.py', path)
    count, cpu, grown = capsys.readouterr().out.split()
    assert int(count) == 50
    assert float(cpu) >= 0
    assert float(grown) >= 0


def test_a_ratio_is_to_all_at_once_with_as_many_rows():
    took = row_stream.Took
    found = {
        1000: {
            'json.loads': took(cpu=0.02, grown=4.0),
            'list_stream.py': took(cpu=0.01, grown=1.0),
        },
    }
    header, base, other = row_stream.table(found).splitlines()
    named = ['rows', 'way', 'CPU', 'ratio', 'memory', 'ratio']
    assert header.split() == named
    assert base.split()[2:] == ['20', 'ms', '1.00', '4.0', 'MiB', '1.00']
    assert other.split()[2:] == ['10', 'ms', '0.50', '1.0', 'MiB', '0.25']
    assert len({len(header), len(base), len(other)}) == 1
