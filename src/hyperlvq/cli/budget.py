"""`hyperlvq budget`: what a model takes of a device, before anything is built."""

from typing import Annotated

import typer

from hyperlvq.cli.device import Chip, InputOption, budget_lines, budget_values
from hyperlvq.cli.export import Bits
from hyperlvq.cli.options import JsonOption, ModelArgument, give, read_saved


def budget(
    model: ModelArgument,
    target: Annotated[Chip, typer.Option(help="The processor.")] = "cortex-m3",
    input_type: InputOption = "float",
    bits: Bits = "8",
    as_json: JsonOption = False,
) -> None:
    """Predict flash, RAM, stack and instructions of an exported model, to about 10 %.

    Example: hyperlvq budget model.hlvq --target avr --input int16
    """
    from hyperlvq.export import make_plan

    plan = make_plan(read_saved(model).model, input=input_type, bits=int(bits))
    values = budget_values(plan, target)
    give(budget_lines(values), values, as_json, quiet=False)
