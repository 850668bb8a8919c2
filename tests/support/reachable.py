# SPDX-License-Identifier: Apache-2.0
"""Counts the objects that something keeps in memory.

A count of objects is exact, unlike the memory of a process.
"""

import collections.abc
import gc
import types

_CODE = (types.ModuleType, types.FunctionType, type)


def count(
    start: object, without: collections.abc.Iterable[object] = ()
) -> int:
    """Return the number of objects that are reachable from one object.

    Modules, classes and functions are neither counted nor followed.

    :param without: objects that are not followed either
    """
    met = {id(one) for one in without}
    pending, found = [start], 0
    while pending:
        one = pending.pop()
        if id(one) in met or isinstance(one, _CODE):
            continue
        met.add(id(one))
        found += 1
        pending += gc.get_referents(one)
    return found
