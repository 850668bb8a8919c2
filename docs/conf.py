# SPDX-License-Identifier: Apache-2.0
"""The site of these pages: "make docs" builds it, without a network.

The pages are plain Markdown, so that a forge shows them as they are. Only the
pages in reference/ are made by the build: oslo.config lists the options,
cliff the commands, and generators/ the metrics.
"""

import importlib.metadata
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

project = 'compute-agent'
release = importlib.metadata.version('compute-agent')
version = release

extensions = [
    'myst_parser',
    'oslo_config.sphinxext',
    'cliff.sphinxext',
    'docs.generators.directives',
]
# A link may point to any heading down to the fourth level.
myst_heading_anchors = 4
# Indented blocks are commands, files and output; none is Python.
highlight_language = 'text'

html_theme = 'furo'
html_title = f'compute-agent {release}'
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

man_pages = [
    (
        'reference/commands',
        'compute-agent',
        'report the resources of hosts to OpenStack placement',
        '',
        1,
    )
]
