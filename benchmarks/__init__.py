# SPDX-License-Identifier: Apache-2.0
"""Speed, measured by hand on a quiet machine; no part of wheel or tests."""
