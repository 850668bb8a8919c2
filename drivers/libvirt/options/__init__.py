# SPDX-License-Identifier: Apache-2.0
"""Nova's options that the driver follows, and their values.

Nothing here is pure: the modules read configuration. ``guests.py`` has the
options about guests, ``inventory.py`` those about amounts and ``devices.py``
those about child providers; ``../conf.py`` registers all of them.
"""
