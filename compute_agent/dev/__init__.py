# SPDX-License-Identifier: Apache-2.0
"""What only development, demos and tests need: servers of our own."""
