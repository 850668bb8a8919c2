# SPDX-License-Identifier: Apache-2.0
"""A module that lacks something."""

import there_is_no_such_module  # type: ignore[import-not-found] # noqa: F401
