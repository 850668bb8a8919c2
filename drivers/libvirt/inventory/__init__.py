# SPDX-License-Identifier: Apache-2.0
"""The amounts of a host: VCPU, PCPU, MEMORY_MB, DISK_GB and PMEM.

Begin with ``root.py``, which reads the host and puts the amounts together.
``cpus``, ``memory``, ``disk`` and ``pmem`` have the rules of one subject each,
and ``numa`` divides the amounts among the NUMA nodes. ``amounts`` has their
common result: known records, and classes that stay as placement has them
because their amount is unknown. All of these are pure but ``root``.
``options`` turns nova's options into values, and ``conf`` registers them. It
may import ``compute_agent``, ``drivers/libvirtd/`` and, from the driver,
``sources`` and ``devices``.
"""
