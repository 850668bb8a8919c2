# SPDX-License-Identifier: Apache-2.0
"""The proofs of this package's drivers: ``make driver-checks`` writes them.

A driver's contract class is in ``tests/contract/``, because its world is a
recorded host or a double of Ironic, which the package does not contain. The
file with the result is in the package, beside the driver's module.
"""

import json
import pathlib
import runpy
import sys

import shipped

from compute_agent.testing import checking

DRIVERS = ('fake', 'host', 'ironic', 'libvirt')
_TOP = pathlib.Path(__file__).parents[2]


def file_of(name: str) -> pathlib.Path:
    """Return the file with the proof of a driver."""
    return _TOP / 'drivers' / name / 'driver-check.json'


def contract_class(name: str) -> type[shipped.ShippedContract]:
    """Return the contract class of a driver from its test file."""
    file = _TOP / 'tests/contract' / f'test_{name}.py'
    scope = runpy.run_path(str(file))
    found: type[shipped.ShippedContract] = scope[f'Test{name.capitalize()}']
    return found


def main() -> None:
    """Check each driver, and write its proof."""
    for name in sys.argv[1:] or DRIVERS:
        proof = checking.proof(name, contract_class(name), lambda _: None)
        text = json.dumps(proof, indent=2)
        file_of(name).write_text(f'{text}\n', 'utf-8')
        sys.stdout.write(f'{name}: {proof["result"]}\n')
        sys.stdout.flush()


if __name__ == '__main__':
    main()
