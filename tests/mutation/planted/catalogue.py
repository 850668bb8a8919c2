# SPDX-License-Identifier: Apache-2.0
"""Where the modules beside this one enter their defects.

``plant(part, 'what goes wrong')`` decorates a substitute for a part of the
product. The substitute receives the original first, then what the part itself
would receive.
"""

import variants

_CATALOGUE = variants.Catalogue()

VARIANTS = _CATALOGUE.variants
plant = _CATALOGUE.plant
