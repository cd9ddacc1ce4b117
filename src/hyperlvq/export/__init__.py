"""Fitted models as integer models for devices."""

from hyperlvq.export.budget import Budget, predict_budget
from hyperlvq.export.c import to_c
from hyperlvq.export.device import device_settings, device_units
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner, make_learner
from hyperlvq.export.onnx_graph import to_onnx
from hyperlvq.export.plan import Comparison, Plan, compare, make_plan

__all__ = [
    "Budget",
    "Comparison",
    "GLVQLearner",
    "PerceptronLearner",
    "Plan",
    "compare",
    "device_settings",
    "device_units",
    "make_learner",
    "make_plan",
    "predict_budget",
    "to_c",
    "to_onnx",
]
