# SPDX-License-Identifier: Apache-2.0
"""A seam on a class that the agent uses, too, is about the driver's calls only.

The agent and its client of placement send their requests through
``requests.Session`` and read files by ``pathlib.Path``. Only the driver's own
calls fail and count, in whichever thread the driver makes them.
"""

import json
import pathlib
from concurrent import futures

import pytest
import requests

from compute_agent import errors, testing
from compute_agent.testing.contract import runner
from compute_agent.testing.contract.rules import catalogue
from compute_agent.testing.fixtures import in_process
from compute_agent.virt import driver

pytestmark = pytest.mark.long

NODES = [f'shelf-{number}' for number in range(8)]
UUID = '2f1c7d52-0000-4000-8000-00000000000{}'
SEVERAL = (testing.Capability.SEVERAL_NODES,)


class Shelves:
    """A server with a page that lists shelves, and a page of each."""

    def __init__(self):
        self.count = 2
        self.session = in_process.session(self.answer)

    def answer(self, sent):
        name = sent.path_url.removeprefix('/')
        body = {'watts': 7} if name else NODES[: self.count]
        return in_process.response(sent, 200, json.dumps(body).encode())

    def nodes(self, count):
        self.count = count


SHELVES = Shelves()


class Asking(driver.ComputeDriver):
    """Asks in the thread of the agent that calls it."""

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def ask(self, path):
        try:
            return self.answer(path)
        except requests.RequestException as exc:
            raise errors.DriverError(f'no answer: {exc}') from exc

    def answer(self, path):
        url = f'{in_process.URL}/{path}'
        return SHELVES.session.request('GET', url).json()

    def get_available_nodes(self):
        self._nodes = self.ask('')
        return self._nodes

    def get_nodenames_by_uuid(self):
        return {UUID.format(n): name for n, name in enumerate(self._nodes)}

    def update_provider_tree(self, tree, nodename, allocations=None):
        watts = self.ask(nodename)['watts']
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': watts}})


class AskingInThreads(Asking):
    """Asks in a thread that each call starts."""

    def answer(self, path):
        with futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(super().answer, path).result()


class AskingInOneThread(Asking):
    """Asks in a thread that runs for the life of the driver."""

    def __init__(self):
        self._pool = futures.ThreadPoolExecutor(1)
        self._pool.submit(int).result()

    def answer(self, path):
        return self._pool.submit(super().answer, path).result()

    def close(self):
        self._pool.shutdown()


@pytest.fixture(params=[Asking, AskingInThreads, AskingInOneThread])
def asking(request):
    SHELVES.count = 2
    return request.param


def world():
    return testing.World(
        nodes=SHELVES.nodes,
        seams=[
            testing.Seam(
                'HTTP',
                requests.Session,
                'request',
                timeout=lambda: requests.ConnectTimeout('timed out'),
                error=lambda: requests.ConnectionError('refused'),
            )
        ],
    )


def check(number, driver_class, in_world, declared=SEVERAL):
    rule = catalogue.BY_NUMBER[number]
    outcome = runner.check(rule, driver_class, in_world, declared)
    assert outcome.status is runner.Status.PASSED, outcome.reason
    return outcome.notes


def test_each_call_of_the_driver_fails_and_none_of_the_agent(asking):
    # Three calls of a cycle of two nodes, in a later one and after a restart.
    assert check('CA010', asking, world()) == ('6 faults tried',)


def test_only_the_calls_of_the_driver_count(asking):
    notes = check('CA028', asking, world())
    assert [note.partition(' make ')[2] for note in notes] == [
        '3, 5 and 9 calls'
    ] * 2


def test_the_calls_of_the_agent_s_threads_do_not_meet(asking):
    (note,) = check('CA030', asking, world())
    assert note.startswith('threads met in ')


def test_a_driver_is_made_without_a_call_though_its_options_are_read():
    """The suite reads the configuration by pathlib, too."""

    class Idle(Asking):
        """Asks nothing when it is made."""

    remote = [testing.Seam('files', pathlib.Path, 'read_text')]
    check('CA001', Idle, testing.World(seams=remote))


class FromFile(Asking):
    """Reads a file in each cycle."""

    FILE = pathlib.Path()

    def get_available_nodes(self):
        try:
            self._nodes = json.loads(self.FILE.read_bytes())
        except OSError as exc:
            raise errors.DriverError(f'no file: {exc}') from exc
        return self._nodes

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': 7}})


def test_only_the_files_of_the_driver_cannot_be_read(tmp_path, monkeypatch):
    file = tmp_path / 'shelves.json'
    file.write_text(json.dumps(NODES[:1]))
    monkeypatch.setattr(FromFile, 'FILE', file)
    seam = testing.Seam('file', pathlib.Path, 'read_bytes', is_remote=False)
    notes = check('CA010', FromFile, testing.World(seams=[seam]))
    assert notes == ('2 faults tried',)
