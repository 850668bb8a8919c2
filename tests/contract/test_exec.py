# SPDX-License-Identifier: Apache-2.0
"""A program keeps the contract, checked as the authors of programs do it.

The program and its world are in Python here; the examples in other languages
are checked with the real servers, where their interpreters are installed.
"""

import atexit
import pathlib
import sys
import tempfile
from typing import ClassVar

import pytest
import shipped

from compute_agent import errors, testing
from drivers.exec import contract

PROGRAM = """\
#!{python} -IS
import json, os, subprocess, sys
if sys.argv[1] not in ('list', 'describe', 'exists'):
    sys.exit(3)
asked = json.load(sys.stdin)
done = subprocess.run(['racks'], stdout=subprocess.PIPE, check=True)
racks = json.loads(done.stdout)
if racks['number'] != len(racks['racks']):
    sys.exit('the list of racks is not complete')
by_name = {{one['name']: one for one in racks['racks']}}
if len(by_name) != racks['number']:
    sys.exit('two racks have one name')
for one in by_name.values():
    if not isinstance(one['watts'], int) or one['watts'] < 1:
        sys.exit('the watts of a rack are odd')
name = asked.get('node', {{}}).get('name')
answer = {{'version': 1}}
if sys.argv[1] == 'list':
    answer['nodes'] = [
        {{'name': n, 'uuid': one['uuid'], 'facts': one['watts']}}
        for n, one in by_name.items()
    ]
elif sys.argv[1] == 'exists':
    answer['exists'] = 'yes' if name in by_name else 'no'
elif name not in by_name:
    sys.exit('there is no such rack')
else:
    answer['nodes'] = [{{
        'name': name,
        'inventories': {{'CUSTOM_WATT': by_name[name]['watts']}},
        'traits': ['CUSTOM_RACK'],
        'children': [{{'name': name + '_fan', 'traits': ['CUSTOM_FAN']}}],
    }}]
print(json.dumps(answer))
"""
WORLD = """\
#!{python} -IS
import json, pathlib, sys
here = pathlib.Path.cwd()
def write(number, watts):
    racks = [
        {{'name': f'rack{{n}}', 'watts': watts,
         'uuid': f'5a0c1e7e-2f4b-4c7a-9d0e-00000000000{{n}}'}}
        for n in range(number)
    ]
    text = json.dumps({{'number': number, 'racks': racks}})
    (here / 'racks.json').write_text(text)
if sys.argv[1] == 'start':
    write(1, 900)
    command = here / 'racks'
    command.write_text(f'#!/bin/sh\\ncat {{here}}/racks.json\\n')
    command.chmod(0o755)
    print(json.dumps({{'commands': {{'racks': str(command)}},
                      'several_nodes': True}}))
elif sys.argv[1] == 'change':
    write(1, 800)
else:
    write(int(sys.argv[2]), 900)
"""


def written():
    """Return the path of the program, in a folder that ends with Python."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = pathlib.Path(folder.name, 'racks-driver')
    for file, text in ((path, PROGRAM), (f'{path}.world', WORLD)):
        pathlib.Path(file).write_text(text.format(python=sys.executable))
        pathlib.Path(file).chmod(0o755)
    return str(path)


pytestmark = pytest.mark.long  # each call is a process, and there are many


class TestExec(
    shipped.ShippedContract, contract.ExecContract.for_target(written())
):
    capabilities = (testing.Capability.SEVERAL_NODES,)
    skips: ClassVar = {
        'CA022': 'a program sends no events',
        'CA031': 'this program moves nothing',
        'CA044': 'the world of a program has no statement of its amounts',
        **shipped.NO_SERVER,
        **shipped.NO_CHANGES,
    }


def test_a_world_that_fails_is_told(tmp_path):
    (tmp_path / 'p.world').write_text(
        '#!/bin/sh\necho "no disk" >&2; exit 1\n'
    )
    (tmp_path / 'p.world').chmod(0o755)
    with pytest.raises(errors.ConfigError) as caught:
        contract.World(f'{tmp_path}/p', tmp_path)
    assert str(caught.value) == (
        f'the world {tmp_path}/p.world start: it ended with status 1: no disk'
    )
