"""Fitted pipelines as integer models for devices."""

from hyperlvq.export.c import to_c
from hyperlvq.export.comparison import Comparison, compare
from hyperlvq.export.learning import GLVQLearner, PerceptronLearner, make_learner
from hyperlvq.export.onnx_graph import to_onnx
from hyperlvq.export.plan import Plan, make_plan

__all__ = [
    "Comparison",
    "GLVQLearner",
    "PerceptronLearner",
    "Plan",
    "compare",
    "make_learner",
    "make_plan",
    "to_c",
    "to_onnx",
]
