# SPDX-License-Identifier: Apache-2.0
"""Answers for nova's objects, which otherwise ask nova's conductor.

The agent speaks to no conductor and no database of nova, so it changes nothing
there. The few questions that drivers ask before they describe a node have
answers that hold for an agent: it is the only compute service, and an instance
on a node that the hypervisor's service reports is this service's. Every other
question is an error, because an unknown answer is not an empty one.
``process.py`` sets it as the indirection API of nova's objects.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# The object and method of a question.
_Question = tuple[str, str]


class EveryInstance:
    """The instances of this service: any uuid that a node has is one."""

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
        """Answer as well what only ``get_available_resource`` asks."""
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
