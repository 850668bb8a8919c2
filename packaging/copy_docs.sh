#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copy the pages that a package installs into a directory: README.md, and
# beside it the files that it and the other pages link to.
set -euo pipefail
to=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p "$to/docs/reference" "$to/benchmarks/results"
cp README.md "$to"
cp benchmarks/README.md "$to/benchmarks"
cp benchmarks/results/*.md benchmarks/results/*.svg "$to/benchmarks/results"
cp -r docs/*.md docs/*.json docs/pictures "$to/docs"
.venv/bin/python -m docs.generators.metrics_page >"$to/docs/reference/metrics.rst"
