# SPDX-License-Identifier: Apache-2.0
"""Whether the tests notice: defects planted one by one in a copy of the tree.

``python -m tests.mutation``, or ``make test-mutation``. ``make mutmut`` makes
small changes of any kind to the parts that observe, plan and apply.
"""
