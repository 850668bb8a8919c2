# SPDX-License-Identifier: Apache-2.0
"""The database; the stand-in has none."""
