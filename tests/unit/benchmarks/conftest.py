# SPDX-License-Identifier: Apache-2.0
"""The benchmarks as a package, though the checkout need not be importable."""

import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[3] / 'benchmarks'

if 'benchmarks' not in sys.modules:
    spec = importlib.util.spec_from_file_location(
        'benchmarks',
        ROOT / '__init__.py',
        submodule_search_locations=[str(ROOT)],
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules['benchmarks'] = package
    spec.loader.exec_module(package)
