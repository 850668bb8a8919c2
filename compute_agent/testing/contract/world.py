# SPDX-License-Identifier: Apache-2.0
"""A world: the options that a driver is made with, and its sources.

The author writes one; each rule gets a fresh one.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from ...virt import driver as virt
from . import seam

Conf = Mapping[str, Mapping[str, object]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One world of a driver.

    :ivar conf: group → option → value; a tuple is an option that is given
        several times
    :ivar seams: the calls of the driver's on the world outside
    :ivar make: makes the driver in place of ``from_conf``, for a driver whose
        sources the options do not name
    :ivar change: alters the world so that the description of a node changes
    :ivar nodes: makes the world have this number of nodes: always the first
        ones of the same row
    :ivar reshape: alters the world so that inventory moves to another provider
    :ivar event: has the source tell its listeners of a change
    :ivar is_shared: True if another process sees the same world, because the
        options name files or servers; determinism is then tried with other
        hash seeds
    """

    conf: Conf = dataclasses.field(default_factory=dict)
    seams: Sequence[seam.Seam] = ()
    make: Callable[[], virt.ComputeDriver] | None = None
    change: Callable[[], object] | None = None
    nodes: Callable[[int], object] | None = None
    reshape: Callable[[], object] | None = None
    event: Callable[[], object] | None = None
    is_shared: bool = False
