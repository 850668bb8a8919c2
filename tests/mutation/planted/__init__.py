# SPDX-License-Identifier: Apache-2.0
"""The catalogue of planted defects: one for each way to lose something.

A defect is a substitute for a part of the product, which the module imports,
and the tests that must notice it, which are marked ``catches`` with its name.
A module for each kind: ``ownership`` (what may be written, and what may go),
``unknown`` (what is not known must change nothing), ``writes`` (what is sent,
in which order, after which read), ``reading`` (what is read, how often),
``inputs`` (what a tree, a file and Ironic let in), ``ironic_changes`` (what
Ironic tells of changes), ``memory`` (what is remembered, and when), ``fleet``
(which of several agents may write), ``bounds`` (what keeps a cycle from doing
too much, or the same thing for ever), ``servers`` (what a server may not do),
``people`` (what people are told), ``former`` (what this agent once did),
``nova_libvirt`` (what nova's libvirt driver reports wrongly),
``nova_drivers`` (what a driver of nova's may not do), ``beside_nova`` (what
belongs to a nova-compute on the host), ``shared_record`` (what would part the
agents of a share), ``changes`` (what drivers tell between two lists) and
``explore`` (who may look at a page, and what it may hold).
``catalogue.py`` says how a defect is entered.
"""

from planted import (  # noqa: F401 (each enters its defects)
    beside_nova,
    bounds,
    changes,
    explore,
    fleet,
    former,
    inputs,
    ironic_changes,
    memory,
    nova_drivers,
    nova_libvirt,
    ownership,
    people,
    reading,
    servers,
    shared_record,
    unknown,
    writes,
)
from planted.catalogue import VARIANTS as VARIANTS
