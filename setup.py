# SPDX-License-Identifier: Apache-2.0
"""Everything is declared in setup.cfg; this file is for tools that ask."""

import setuptools

setuptools.setup()
