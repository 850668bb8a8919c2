# SPDX-License-Identifier: Apache-2.0
"""Nova's global state in this process, prepared as nova-compute does it.

Nova's options come from the agent's configuration files, into nova's own
``CONF``: the agent's options stay what they are. Nova uses threads, never
eventlet. Its loggers say warnings and errors, or everything in debug mode.
``driver.py`` calls ``prepare`` before it makes a driver.

The agent speaks to no conductor and no database of nova, so it changes nothing
there: ``NoConductor`` answers in the conductor's place. The few questions that
drivers ask before they describe a node have answers that hold for an agent: it
is the only compute service, and an instance on a node that the hypervisor's
service reports is this service's. Every other question is an error, because an
unknown answer is not an empty one.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import importlib
import logging
import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from compute_agent import errors

# The object and method of a question.
_Question = tuple[str, str]


class EveryInstance:
    """The instances of this service: any uuid that a node names counts."""

    def __contains__(self, uuid: object) -> bool:
        return uuid is not None


class NoConductor:
    """The indirection API of nova's objects without a conductor.

    :param objects: the module ``nova.objects``
    :param refusal: the exception that nova's code gets for other questions
    """

    def __init__(self, objects: Any, refusal: type[Exception]) -> None:
        self._refusal = refusal
        self._answers: Mapping[_Question, Callable[[], object]] = {
            ('ServiceList', 'get_all_computes_by_hv_type'): (
                lambda: objects.ServiceList(objects=[])
            ),
            ('InstanceList', 'get_uuids_by_host'): EveryInstance,
            ('PciDeviceList', 'get_by_compute_node'): (
                lambda: objects.PciDeviceList(objects=[])
            ),
        }
        # The free space on the disks of guests; no description has it.
        self._of_resources: Mapping[_Question, Callable[[], object]] = {
            ('InstanceList', 'get_by_filters'): (
                lambda: objects.InstanceList(objects=[])
            ),
            ('BlockDeviceMappingList', 'bdms_by_instance_uuid'): dict,
        }
        self._known: Mapping[_Question, Callable[[], object]] = self._answers

    @contextlib.contextmanager
    def asking_for_resources(self) -> Iterator[None]:
        """Also answer questions that only ``get_available_resource`` asks."""
        self._known = {**self._answers, **self._of_resources}
        try:
            yield
        finally:
            self._known = self._answers

    # The arguments are those of oslo.versionedobjects.

    def object_class_action_versions(  # noqa: D102
        self,
        _context: object,
        objname: str,
        objmethod: str,
        *_arguments: object,
    ) -> object:
        answer = self._known.get((objname, objmethod))
        if answer is None:
            raise self._refused(objname, objmethod)
        return answer()

    def object_action(  # noqa: D102
        self, _context: object, objinst: Any, objmethod: str, *_: object
    ) -> object:
        raise self._refused(type(objinst).__name__, objmethod)

    def object_backport_versions(  # noqa: D102
        self, _context: object, objinst: Any, *_: object
    ) -> object:
        raise self._refused(type(objinst).__name__, 'backport')

    def _refused(self, name: str, method: str) -> Exception:
        return self._refusal(
            f"it asks nova's conductor for {name}.{method}, and "
            'compute-agent does not speak to the conductor'
        )


_PATCHING = 'OS_NOVA_DISABLE_EVENTLET_PATCHING'


class NoIdentity(Exception):
    """There is no ``compute_id`` yet; nova's code would make one."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nova:
    """The parts of nova that the driver uses.

    :ivar conf: nova's options
    :ivar exception: the module of nova's exceptions
    :ivar node: the module of the host's identity
    """

    conf: Any
    exception: Any
    node: Any
    conductor: NoConductor


def prepare(files: Sequence[str], directories: Sequence[str]) -> Nova:
    """Return nova, with the options in these files.

    :raises cfg.Error: a file or an option is wrong
    :raises errors.ConfigError: eventlet is in this process
    """
    nova = _nova()
    arguments = [f'--config-file={path}' for path in files]
    arguments += [f'--config-dir={path}' for path in directories]
    nova.conf(
        arguments,
        project='nova',
        default_config_files=[],
        default_config_dirs=[],
    )
    # Groups whose names are in other options.
    for name in ('neutron', 'devices'):
        module: Any = importlib.import_module(f'nova.conf.{name}')
        module.register_dynamic_opts(nova.conf)
    _prepare_privileges(nova.conf)
    return nova


@functools.cache
def _nova() -> Nova:
    """Import nova, once for the process."""
    if 'eventlet' in sys.modules:
        raise errors.ConfigError(
            'another package imported eventlet in this process, and nova '
            'refuses to use threads beside it: run the driver of nova in an '
            'agent of its own'
        )
    # The agent's other threads and sessions would not survive eventlet.
    os.environ[_PATCHING] = '1'
    importlib.import_module('nova.monkey_patch').patch(backend='threading')
    nova = Nova(
        conf=importlib.import_module('nova.conf').CONF,
        exception=importlib.import_module('nova.exception'),
        node=importlib.import_module('nova.virt.node'),
        conductor=_without_conductor(),
    )
    # The agent keeps the host's identity; nova only reads it.
    nova.node.write_local_node_uuid = _refuse_identity
    threads: Any = importlib.import_module('nova.thread_pool_factory')
    threads.spawn = _spawn
    logger = logging.getLogger('nova')
    if logger.level == logging.NOTSET and not logger.isEnabledFor(
        logging.DEBUG
    ):
        logger.setLevel(logging.WARNING)
    return nova


def _without_conductor() -> NoConductor:
    objects = importlib.import_module('nova.objects')
    objects.register_all()
    answers = NoConductor(
        objects, importlib.import_module('nova.exception').NovaException
    )
    base: Any = importlib.import_module('nova.objects.base')
    base.NovaObject.indirection_api = answers
    database: Any = importlib.import_module('nova.db.main.api')
    database.DISABLE_DB_ACCESS = True
    return answers


def _prepare_privileges(conf: Any) -> None:
    """Have nova's privileged calls start the helper that nova-compute uses.

    :param conf: the configuration with the options that name the helper
    """
    helper = (
        'sudo'
        if conf.workarounds.disable_rootwrap
        else f'sudo nova-rootwrap {conf.rootwrap_config}'
    )
    privileges = importlib.import_module('oslo_privsep.priv_context')
    privileges.init(root_helper=shlex.split(helper))


def _spawn(
    func: Callable[..., Any], *args: Any, **kwargs: Any
) -> concurrent.futures.Future[Any]:
    """Call it in a thread that does not keep the process from ending.

    Nova's libvirt driver waits for events in such a thread for ever.
    """
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def call() -> None:
        try:
            future.set_result(func(*args, **kwargs))
        except Exception as exc:  # noqa: BLE001 (it is the future's)
            future.set_exception(exc)

    threading.Thread(target=call, name='nova', daemon=True).start()
    return future


def _refuse_identity(_uuid: str) -> None:
    raise NoIdentity
