# SPDX-License-Identifier: Apache-2.0
"""The ways in which a class breaks the driver contract, without calling it.

The loader refuses such a class, so that it fails when it is loaded and not in
the middle of a cycle.
"""

import inspect
import sys
from collections.abc import Callable, Mapping

from . import driver as virt

# The calls the agent makes, with stand-ins for their arguments.
_CALLS: Mapping[str, tuple[object, ...]] = {
    'subscribe': ('wake',),
    'reload': (),
    'close': (),
    'get_available_nodes': (),
    'get_nodenames_by_uuid': (),
    'get_titles': (),
    'node_exists': ('node',),
    'facts': ('node',),
    'update_provider_tree': ('tree', 'node'),
    'get_inventory': ('node',),
    'get_traits': ('node',),
    'get_available_resource': ('node',),
}
_DESCRIBING = (
    'update_provider_tree',
    'get_inventory',
    'get_available_resource',
)


def problems(driver_class: object) -> list[str]:
    """Return the ways in which a class breaks the contract."""
    base = f'{virt.ComputeDriver.__module__}.{virt.ComputeDriver.__name__}'
    if not isinstance(driver_class, type):
        return [f'{driver_class!r} is not a class']
    if not issubclass(driver_class, virt.ComputeDriver):
        return [f'it is not a subclass of {base}']
    found = [
        f'{method} is missing'
        for method in sorted(driver_class.__abstractmethods__)
    ]
    if not any(_overrides(driver_class, method) for method in _DESCRIBING):
        found.append(f'it has none of {", ".join(_DESCRIBING)}')
    for method, arguments in _CALLS.items():
        signature = _signature(getattr(driver_class, method))
        try:
            signature.bind('self', *arguments)
        except TypeError:
            found.append(
                f'{method}{signature} cannot be called with '
                f'{len(arguments)} arguments'
            )
    return found


def _signature(method: Callable[..., object]) -> inspect.Signature:
    """Return a method's signature.

    Its annotations may name what only type checkers import: since Python 3.14
    that is no error before somebody asks for their values.
    """
    if sys.version_info >= (3, 14):
        import annotationlib  # noqa: PLC0415 (before 3.14 there is none)

        return inspect.signature(
            method, annotation_format=annotationlib.Format.STRING
        )
    return inspect.signature(method)


def _overrides(driver_class: type[virt.ComputeDriver], method: str) -> bool:
    own = getattr(driver_class, method)
    return own is not getattr(virt.ComputeDriver, method)
