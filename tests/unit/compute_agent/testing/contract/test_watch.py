# SPDX-License-Identifier: Apache-2.0
"""The calls through seams are counted, and fail as they are told to.

A thread runs code of the driver, or of the agent, as its starter did.
"""

import threading
import types
from concurrent import futures

import pytest

from compute_agent import errors
from compute_agent.testing import Fault, Seam
from compute_agent.testing.contract import watch as watching
from compute_agent.testing.contract.watch import Failure, Watch


class Source:
    """A source with each kind of function."""

    def read(self, what='all'):
        return [1, 2, what]

    @staticmethod
    def plain():
        return 'plain'

    @classmethod
    def of_class(cls):
        return cls.__name__


class Fixed:
    """A source whose attributes cannot be set."""

    __slots__ = ()

    def read(self):
        return 1


def counted(watch):
    return [(str(call), call.number) for call in watch.calls]


def test_calls_are_counted_for_each_seam_with_their_arguments():
    source = Source()
    seams = [Seam('a', source, 'read'), Seam('b', Source, 'plain')]
    with Watch(seams).installed() as watch:
        assert source.read('x') == [1, 2, 'x']
        assert source.plain() == 'plain'
        source.read(what='y')
    assert counted(watch) == [
        ("a.read('x')", 1),
        ('b.plain()', 1),
        ("a.read(what='y')", 2),
    ]
    watch.clear()
    assert watch.calls == []


@pytest.mark.parametrize('attribute', ['read', 'plain', 'of_class'])
def test_a_function_of_a_class_is_replaced_for_its_objects_and_put_back(
    attribute,
):
    before = vars(Source)[attribute]
    answer = getattr(Source(), attribute)()
    with Watch([Seam('a', Source, attribute)]).installed() as watch:
        assert getattr(Source(), attribute)() == answer
        assert counted(watch) == [(f'a.{attribute}()', 1)]
    assert vars(Source)[attribute] is before


def test_an_object_s_own_attributes_are_as_before():
    source = Source()
    with Watch([Seam('a', source, 'read')]).installed():
        assert 'read' in vars(source)
    assert vars(source) == {}


def test_a_function_of_a_module_is_replaced():
    module = types.ModuleType('module')
    module.read = lambda: 'text'
    with Watch([Seam('a', module, 'read')]).installed() as watch:
        assert module.read() == 'text'
    assert len(watch.calls) == 1


def test_one_call_fails_and_the_others_do_not():
    source = Source()
    seam = Seam('a', source, 'read')
    with Watch([seam]).installed() as watch:
        source.read()
        failure = Failure(seam=seam, fault=Fault.TIMEOUT, number=2)
        with watch.failing(failure):
            assert source.read() == [1, 2, 'all']
            with pytest.raises(TimeoutError):
                source.read()
            assert source.read() == [1, 2, 'all']
        assert failure.hits == 1
        assert source.read() == [1, 2, 'all']


def test_all_calls_of_one_seam_fail():
    source = Source()
    seam, other = Seam('a', source, 'read'), Seam('b', source, 'plain')
    with Watch([seam, other]).installed() as watch:
        failure = Failure(seam=seam, fault=Fault.EXCEPTION)
        with watch.failing(failure):
            for _ in range(2):
                with pytest.raises(ConnectionResetError):
                    source.read()
            assert source.plain() == 'plain'
    assert failure.hits == 2


def test_each_bad_answer_of_a_fault_has_a_number():
    source = types.SimpleNamespace(read=lambda: {'rows': [1, 2]})
    seam = Seam('a', source, 'read')
    with Watch([seam]).installed() as watch:
        found = []
        for variant in range(3):
            failure = Failure(seam=seam, fault=Fault.EMPTY, variant=variant)
            with watch.failing(failure):
                found.append((source.read(), failure.hits))
    assert watch.variants == 2
    assert found == [({}, 1), ({'rows': []}, 1), ({'rows': [1, 2]}, 0)]


def test_answers_are_altered_by_their_questions():
    source = Source()

    def alter(key, answer):
        assert key == ('a.read', "'x'")
        return answer[::-1]

    with Watch([Seam('a', source, 'read')]).installed() as watch:
        with watch.altering(alter):
            assert source.read('x') == ['x', 2, 1]
        assert source.read('x') == [1, 2, 'x']


def test_the_last_answer_to_each_question_is_recorded_as_it_was():
    rows = {'rows': [1]}
    source = types.SimpleNamespace(read=lambda: rows)
    with Watch([Seam('a', source, 'read')]).installed() as watch:
        with watch.recording() as answers:
            source.read()['rows'].append(2)
            assert answers == {('a.read', ''): {'rows': [1]}}
            source.read()
        source.read()['rows'].append(3)
    assert answers == {('a.read', ''): {'rows': [1, 2]}}


@pytest.mark.parametrize(
    ('owner', 'attribute', 'line'),
    [
        (Source, 'reads', 'seam a.reads: Source has no function reads'),
        (Source, 'reads', "or a method; did you mean 'read'"),
        (types.SimpleNamespace(rows=[]), 'rows', 'has no function rows'),
        (
            Fixed(),
            'read',
            'does not let the suite replace read: name its class',
        ),
    ],
)
def test_a_seam_that_names_no_function_is_refused(owner, attribute, line):
    with (
        pytest.raises(errors.ConfigError, match=line),
        Watch([Seam('a', owner, attribute)]).installed(),
    ):
        pass


# --- whose call it is ---------------------------------------------------------


class Asks(threading.Thread):
    """A thread that keeps the answer."""

    answer = None

    def run(self):
        self.answer = watching.is_driver()


def asked():
    """Return the answer in a new thread."""
    with futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(watching.is_driver).result()


def test_everything_is_the_driver_s_except_what_the_agent_does():
    assert watching.is_driver()
    with watching.agent_runs():
        assert not watching.is_driver()
        with watching.driver_runs():
            assert watching.is_driver()
        assert not watching.is_driver()
    assert watching.is_driver()


def test_a_thread_belongs_to_its_starter_for_its_whole_life():
    with watching.following_threads():
        with watching.agent_runs():
            assert not asked()
            with watching.driver_runs():
                assert asked()
        assert asked()


def test_a_thread_of_a_thread_belongs_to_the_first_starter():
    with watching.following_threads():
        with watching.agent_runs(), futures.ThreadPoolExecutor(1) as pool:
            assert not pool.submit(asked).result()
        with futures.ThreadPoolExecutor(1) as pool:
            assert pool.submit(asked).result()


def test_a_thread_of_a_class_with_its_own_run_runs_it():
    with watching.following_threads(), watching.agent_runs():
        thread = Asks()
        thread.start()
    thread.join()
    assert thread.answer is False
    assert 'run' not in vars(thread)


def test_threads_start_as_before_afterwards():
    before = threading.Thread.start
    with watching.following_threads():
        assert threading.Thread.start is not before
    assert threading.Thread.start is before
