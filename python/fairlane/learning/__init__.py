"""Learners: environments of Gymnasium and PettingZoo in which an agent sets the window and the pacing rate of a flow at each step.

`FlowEnv` has one agent, `FlowsEnv` several. The flow's control is `external`. Needs `pip install 'fairlane[rl]'`.
"""

from __future__ import annotations

from ..base.extras import need

need("rl")

import gymnasium as _gymnasium  # noqa: E402

from .episode import ACTIONS, OBSERVED, Quantity, Reward  # noqa: E402
from .flow_env import FlowEnv  # noqa: E402
from .flows_env import FlowsEnv  # noqa: E402

__all__ = ["ACTIONS", "OBSERVED", "FlowEnv", "FlowsEnv", "Quantity", "Reward"]

ID = "fairlane/Flow-v0"
"""Name of `FlowEnv` for `gymnasium.make("fairlane.learning:fairlane/Flow-v0")`."""

if ID not in _gymnasium.registry:
    _gymnasium.register(ID, entry_point="fairlane.learning:FlowEnv")
