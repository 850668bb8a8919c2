# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt through libvirt-python, over a connection that it reopens.

It does I/O; ``events.py`` hears what libvirt tells by itself. libvirt-python
is imported with the first question, so the driver also works where it is not
installed. Each host driver makes one connection.

libvirt has no time limit: a libvirtd that hangs would keep its callers, and so
the agent's cycle, for ever. ``BoundedCalls`` therefore asks each question in a
thread of its own and waits for a limited time.
"""

import contextlib
import importlib
import logging
import queue
import threading
import typing
from collections.abc import Callable, Mapping, Sequence

from ..libvirtd import hypervisor
from . import events, translation

_Result = typing.TypeVar('_Result')


class BoundedCalls:
    """Runs one call at a time; a call that takes too long runs on.

    Until it ends, every other call fails at once.

    :param limit: seconds
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._late: _Call | None = None
        self._thread: threading.Thread | None = None

    def run(
        self, call: Callable[[], _Result], limit: float | None = None
    ) -> _Result:
        """Return the result of a call, or raise its error.

        :param limit: the seconds for this call, in place of the usual limit
        :raises TimeoutError: it takes too long, or an earlier one still does
        """
        with self._lock:
            if self._late is not None and not self._late.ended.is_set():
                raise TimeoutError('an earlier question still has no answer')
            self._start()
            made = _Call(call)
            self._calls.put(made)
            seconds = self._limit if limit is None else limit
            if not made.ended.wait(seconds):
                self._late = made
                raise TimeoutError(f'no answer within {seconds:.0f} s')
        if made.error is not None:
            raise made.error
        return typing.cast('_Result', made.result)

    def close(self) -> None:
        """End the thread when its call has ended; wait for neither."""
        with self._lock:
            if self._thread is not None:
                self._calls.put(None)
                self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            # A daemon thread: a call that hangs must not keep the process.
            self._thread = threading.Thread(
                target=_run, args=(self._calls,), name='libvirt', daemon=True
            )
            self._thread.start()


class _Call:
    """A call, and its result or error."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.ended = threading.Event()
        self.result: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._call()
        except BaseException as exc:  # noqa: BLE001 (the caller's to handle)
            self.error = exc
        self.ended.set()


def _run(calls: 'queue.SimpleQueue[_Call | None]') -> None:
    while (call := calls.get()) is not None:
        call.run()


LOG = logging.getLogger(__name__)

BINDING = 'libvirt'
# Seconds for one answer. The first question makes libvirtd ask each emulator,
# which takes some seconds for each.
LIMIT = 120.0
GRACE = 1.0  # seconds that closing a connection may take

_Answer = typing.TypeVar('_Answer')


def load_binding() -> typing.Any:
    """Return libvirt-python.

    :raises hypervisor.Unsupported: libvirt-python is not installed, or cannot
        be loaded
    """
    try:
        binding = importlib.import_module(BINDING)
    except ImportError as exc:
        raise hypervisor.Unsupported(
            f'libvirt-python cannot be imported: {exc}; install '
            "'compute-agent[libvirt]'"
        ) from exc
    # Otherwise the library prints each error to stderr.
    binding.registerErrorHandler(lambda *_: None, None)
    return binding


class Connection:
    """A hypervisor behind a libvirt connection.

    libvirt refuses some questions on a read-only connection, because they name
    a program that it then runs: domain capabilities and the CPU of a
    hypervisor. So the connection has full rights if libvirt grants them to the
    agent's user. If libvirt refuses that, and only then, it is read-only: a
    libvirtd that is starting must not leave a read-only connection. The agent
    only asks.

    :param uri: libvirt's name of the hypervisor, for example qemu:///system
    :param load: returns libvirt-python
    """

    def __init__(
        self, uri: str, load: Callable[[], typing.Any] = load_binding
    ) -> None:
        self._uri = uri
        self._load = load
        self._lock = threading.Lock()
        self._opened: typing.Any = None
        self._number = 0
        self._is_read_only = False
        self._events = events.Events(uri, load)
        self._calls = BoundedCalls(LIMIT)
        self._unanswered = ''

    def hostname(self) -> str:
        """Return the host's name, which names its provider."""
        return self._ask('the host name', lambda _, c: str(c.getHostname()))

    def versions(self) -> hypervisor.Versions:
        """Return the releases of libvirt and of the hypervisor."""
        return self._ask('the releases', translation.versions)

    def session(self) -> int:
        """Return the number of times that the connection was opened."""
        return self._number

    def unanswered(self) -> str:
        """Return why a question had no answer since the last call, or ''."""
        with self._lock:
            first, self._unanswered = self._unanswered, ''
        return first

    def capabilities(self) -> str:
        """Return the XML of the host's capabilities."""
        return self._ask('capabilities', lambda _, c: str(c.getCapabilities()))

    def domain_capabilities(
        self, request: hypervisor.DomainCapabilitiesRequest, flags: int = 0
    ) -> str:
        """Return the XML of what a guest of this kind can have."""
        return self._ask(
            'domain capabilities',
            lambda _, c: str(
                c.getDomainCapabilities(
                    *translation.guest_kind(request), flags
                )
            ),
        )

    def baseline_hypervisor_cpu(
        self,
        request: hypervisor.DomainCapabilitiesRequest,
        cpu_xml: str,
        *,
        expand: bool,
    ) -> str:
        """Return the CPU that the hypervisor gives such a guest, as XML."""
        return self._ask(
            'the CPU of a hypervisor',
            lambda libvirt, c: str(
                c.baselineHypervisorCPU(
                    *translation.guest_kind(request),
                    [cpu_xml],
                    translation.expansion(libvirt, expand=expand),
                )
            ),
        )

    def baseline_cpu(self, cpu_xml: Sequence[str], *, expand: bool) -> str:
        """Return the CPU that all these CPUs contain, as XML."""
        return self._ask(
            'a baseline CPU',
            lambda libvirt, c: str(
                c.baselineCPU(
                    list(cpu_xml),
                    translation.expansion(libvirt, expand=expand),
                )
            ),
        )

    def memory_mib(self) -> int:
        """Return the host's memory."""
        return self._ask('the memory', lambda _, c: int(c.getInfo()[1]))

    def processors(self) -> hypervisor.Processors:
        """Return the processors that are present, and those online."""
        return self._ask('the processors', translation.processors)

    def node_devices(self) -> Mapping[str, str]:
        """Return libvirt's name of a device → XML."""
        return self._ask('the node devices', translation.node_devices)

    def domains(self) -> Mapping[str, str]:
        """Return uuid → XML of the guests that are defined or running."""
        return self._ask('the guests', translation.domains)

    def subscribe(
        self,
        wake: Callable[[], object],
        *,
        awaits_guests: Callable[[], bool],
    ) -> None:
        """Call ``wake`` when the host may have changed.

        :param awaits_guests: True while the start and stop of guests matter
        """
        self._events.start(wake, awaits_guests)

    def close(self) -> None:
        """End what ``subscribe`` began, and the connection."""
        self._events.stop()
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            error = self._load().libvirtError
            with contextlib.suppress(error, TimeoutError):
                self._calls.run(opened.close, GRACE)
        self._calls.close()

    def _ask(
        self,
        subject: str,
        question: Callable[[typing.Any, typing.Any], _Answer],
    ) -> _Answer:
        """Return libvirt's answer, or raise Unanswered after a time."""
        binding = self._load()
        try:
            return self._calls.run(
                lambda: self._asked(binding, subject, question)
            )
        except hypervisor.Unsupported:
            raise
        except hypervisor.Unanswered as exc:
            self._note_unanswered(str(exc))
            raise
        except TimeoutError as exc:
            why = f'libvirt at {self._uri} does not tell {subject}: {exc}'
            self._note_unanswered(why)
            raise hypervisor.Unanswered(why) from exc

    def _note_unanswered(self, why: str) -> None:
        with self._lock:
            self._unanswered = self._unanswered or why

    def _asked(
        self,
        binding: typing.Any,
        subject: str,
        question: Callable[[typing.Any, typing.Any], _Answer],
    ) -> _Answer:
        """Return libvirt's answer.

        A connection that broke, for example because libvirtd was restarted, is
        opened again, and the question repeated once.
        """
        problem: Exception | None = None
        kind = hypervisor.Unanswered
        for _ in range(2):
            opened = self._connected(binding)
            try:
                return question(binding, opened)
            except binding.libvirtError as exc:
                problem = exc
                if _is_alive(opened, binding):
                    kind = translation.error_class(binding, exc)
                    break
            except Exception as exc:  # noqa: BLE001 the binding cannot read it
                problem = exc
                break
            self._forget(binding, opened)
        raise kind(
            f'libvirt at {self._uri} does not tell {subject}: '
            f'{translation.error_line(problem)}'
        ) from problem

    def _connected(self, binding: typing.Any) -> typing.Any:
        with self._lock:
            if self._opened is None:
                self._opened = self._open(binding)
                self._number += 1
            return self._opened

    def _open(self, binding: typing.Any) -> typing.Any:
        problem: Exception
        try:
            opened = binding.open(self._uri)
        except binding.libvirtError as exc:
            problem = exc
        else:
            self._is_read_only = False
            return opened
        if translation.is_refusal(binding, problem):
            with contextlib.suppress(binding.libvirtError):
                opened = binding.openReadOnly(self._uri)
                self._note_read_only(problem)
                return opened
        raise hypervisor.Unanswered(
            f'libvirt does not answer at {self._uri}: '
            f'{translation.error_line(problem)}'
        ) from problem

    def _note_read_only(self, refusal: Exception) -> None:
        """Tell the operator once that libvirt refuses a full connection."""
        if not self._is_read_only:
            LOG.warning(
                'the connection to libvirt at %s is read-only (%s), so libvirt '
                "does not tell what guests can have: add the agent's user to "
                "libvirt's group",
                self._uri,
                translation.error_line(refusal),
            )
        self._is_read_only = True

    def _forget(self, binding: typing.Any, broken: typing.Any) -> None:
        """Close a connection that broke: its error would keep it for long."""
        with self._lock:
            if self._opened is broken:
                self._opened = None
        with contextlib.suppress(binding.libvirtError):
            broken.close()


def _is_alive(opened: typing.Any, binding: typing.Any) -> bool:
    try:
        return bool(opened.isAlive())
    except binding.libvirtError:
        return False
