# SPDX-License-Identifier: Apache-2.0
"""Counts the objects that something keeps in memory.

A count of objects is exact, unlike the memory of a process.
"""

import collections.abc
import gc
import types
import weakref

# A weak reference keeps nothing. A connection of sqlite3 collects those to its
# old cursors, and drops the dead ones after every 200 cursors.
_SKIPPED = (
    types.ModuleType,
    types.FunctionType,
    type,
    weakref.ReferenceType,
)


def count(
    start: object, without: collections.abc.Iterable[object] = ()
) -> int:
    """Return the number of objects that are reachable from one object.

    Modules, classes, functions and weak references are neither counted nor
    followed.

    :param without: objects that are not followed either
    """
    met = {id(one) for one in without}
    pending, found = [start], 0
    while pending:
        one = pending.pop()
        if id(one) in met or isinstance(one, _SKIPPED):
            continue
        met.add(id(one))
        found += 1
        pending += gc.get_referents(one)
    return found
