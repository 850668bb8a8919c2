# SPDX-License-Identifier: Apache-2.0
"""Where the modules beside this one enter their defects.

``plant(part, 'what goes wrong')`` decorates a function that stands in for a
part of the product: it receives the original first, then what the part itself
would receive. ``stand_in`` decorates a subclass that stands in for its class;
``together`` enters a defect of several parts. With ``in_runs=True`` the random
runs of ``tests/stateful`` must find the defect by themselves: this agent once
had it. With ``in_fleets=True`` those of its fleets must.
"""

import variants

_CATALOGUE = variants.Catalogue()

VARIANTS = _CATALOGUE.variants
plant = _CATALOGUE.plant
stand_in = _CATALOGUE.stand_in
together = _CATALOGUE.together
