"""Fitted pipelines as integer models for devices."""

from hyperlvq.export.c import to_c
from hyperlvq.export.plan import Comparison, Plan, compare, make_plan

__all__ = ["Comparison", "Plan", "compare", "make_plan", "to_c"]
