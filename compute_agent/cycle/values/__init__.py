# SPDX-License-Identifier: Apache-2.0
"""Pure parts of the cycle: the report client's methods, and the times of cycles.

No module here does I/O, reads the configuration, logs or knows the time. It may
import ``plan``, ``tree`` and the errors.
"""
