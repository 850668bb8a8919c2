# SPDX-License-Identifier: Apache-2.0
"""The identity of the host."""

LOCAL_NODE_UUID: str | None = None


def get_local_node_uuid() -> str:
    """Return it, or make one."""
    if LOCAL_NODE_UUID is None:
        write_local_node_uuid('made by nova')
    return str(LOCAL_NODE_UUID)


def write_local_node_uuid(uuid: str) -> None:
    """Write a new one; the agent must not let this happen."""
    raise AssertionError(uuid)
