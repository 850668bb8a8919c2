# SPDX-License-Identifier: Apache-2.0
"""The optional parts of the driver contract: Protocols, and their values.

All of it is pure: no I/O, configuration, logging or clock. Driver authors
import these modules. They may import ``tree``, ``extra_specs`` and the errors.
"""
