# SPDX-License-Identifier: Apache-2.0
"""Defects that no test suite may let pass, one for each way to lose something.

A module for each kind: ``ownership`` (what may be written, and what may go),
``unknown`` (what is not known must change nothing), ``writes`` (what is sent,
in which order, after which read), ``memory`` (what is remembered, and when),
``bounds`` (what keeps a cycle from doing too much, or the same thing for
ever), ``servers`` (what a server may not do), ``people`` (what people are
told), ``former`` (what this agent once did), ``nova_libvirt`` (what nova's
libvirt driver reports wrongly), ``nova_drivers`` (what a driver of nova's may
not do) and ``beside_nova`` (what belongs to a nova-compute on the host). A
defect replaces a part of the product that the module imports. The tests that
must notice it are marked ``catches`` with its name.
"""

from planted import (
    beside_nova,
    bounds,
    former,
    memory,
    nova_drivers,
    nova_libvirt,
    ownership,
    people,
    servers,
    unknown,
    writes,
)
from planted.catalogue import VARIANTS

__all__ = [
    'VARIANTS',
    'beside_nova',
    'bounds',
    'former',
    'memory',
    'nova_drivers',
    'nova_libvirt',
    'ownership',
    'people',
    'servers',
    'unknown',
    'writes',
]
