# SPDX-License-Identifier: Apache-2.0
"""Delete the providers of nova's compute nodes, as deleting a service does.

It runs in nova's environment: ``delete_service.py --config-file FILE``. nova-api
makes this call when a compute service is deleted.
"""

from nova import monkey_patch  # type: ignore[import-not-found]

monkey_patch.patch(backend='threading')  # before anything else of nova

import sys  # noqa: E402

from nova import config, context, objects  # noqa: E402
from nova.scheduler.client import report  # type: ignore[import-not-found]  # noqa: E402

config.parse_args(['nova', *sys.argv[1:]])
objects.register_all()
admin = context.get_admin_context()
client = report.SchedulerReportClient()
for mapping in objects.CellMappingList.get_all(admin):
    if mapping.name == 'cell1':
        with context.target_cell(admin, mapping) as cell:
            for node in objects.ComputeNodeList.get_all(cell):
                client.delete_resource_provider(cell, node, cascade=True)
