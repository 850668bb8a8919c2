# SPDX-License-Identifier: Apache-2.0
"""The documentation: pages in Markdown, and ``generators/``.

A package only so that the tests can import the generators.
"""
