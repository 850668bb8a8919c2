# SPDX-License-Identifier: Apache-2.0
"""A directive of Sphinx that puts the list of metrics into a page."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from . import metrics_page


class Metrics(SphinxDirective):
    """``.. metrics::`` is replaced by all metrics, a section per subject."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return self.parse_text_to_nodes(
            metrics_page.text(), allow_section_headings=True
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive; Sphinx calls this."""
    app.add_directive('metrics', Metrics)
    return {'parallel_read_safe': True}
