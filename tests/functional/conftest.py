# SPDX-License-Identifier: Apache-2.0
"""Hosts without libvirt-python, wherever the tests run.

The libvirt driver asks libvirt where it is installed. These tests are about
what the driver reads itself; those with a libvirtd are in ``full/libvirt``.
"""

import os
import pathlib
import sys

import pytest

from compute_agent.cycle.planning import decide as deciding
from compute_agent.plan.needs import Known, Needs

HIDING = pathlib.Path(__file__).parents[1] / 'support' / 'no_libvirt'


@pytest.fixture(autouse=True)
def no_libvirt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide libvirt-python from this process and from those it starts."""
    monkeypatch.setitem(sys.modules, 'libvirt', None)
    more = filter(None, [str(HIDING), os.environ.get('PYTHONPATH')])
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(more))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that a plan was made for, each time that one was made."""
    made, real = list[str](), deciding.decide

    def decide(
        inputs: deciding.Inputs, known: Known
    ) -> deciding.Decision | Needs:
        decision = real(inputs, known)
        if not isinstance(decision, Needs):
            made.append(inputs.seen.node_uuid)
        return decision

    monkeypatch.setattr(deciding, 'decide', decide)
    return made
