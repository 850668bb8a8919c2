# SPDX-License-Identifier: Apache-2.0
"""The amounts of a host: VCPU, PCPU, MEMORY_MB, DISK_GB and PMEM.

Pure: no I/O, configuration, logging or clock. ``cpus``, ``memory``, ``disk`` and
``pmem`` have the rules of one subject each, and ``numa`` divides the amounts
among the NUMA nodes. ``amounts`` has their common result: known records, and
classes that stay as placement has them because their amount is unknown.
``reading/root_inventory.py`` reads the host and calls these. The folder may
import ``compute_agent``, ``drivers/libvirtd/`` and, from the driver,
``devices``.
"""
