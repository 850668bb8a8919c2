# SPDX-License-Identifier: Apache-2.0
"""Turns what ``compute-agent probe --raw -f json`` printed into a case.

Run it as ``python tests/support/save_host.py host.json NAME``. It writes the
folder ``tests/hosts/NAME`` with an ``expected.yaml`` that says what the driver
finds today. Read that file: what is wrong in it is what the case is for.
"""

import json
import pathlib
import sys
import typing

import recorded_hosts
import yaml

from compute_agent import testing


def save(report: typing.Any, folder: pathlib.Path) -> None:
    """Write the first node of a report as a case."""
    testing.save_host(report, folder)
    libvirt = recorded_hosts.driver_on(folder)
    tree = recorded_hosts.empty_tree(libvirt)
    recorded_hosts.describe(libvirt, tree)
    found = {'tree': recorded_hosts.plain(tree)}
    (folder / 'expected.yaml').write_text(yaml.safe_dump(found), 'utf-8')


if __name__ == '__main__':
    source, name = sys.argv[1:]
    text = pathlib.Path(source).read_text('utf-8')
    save(json.loads(text), recorded_hosts.HOSTS / name)
