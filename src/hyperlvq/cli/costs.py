"""`hyperlvq costs`: the paper's table of what training costs, for given sizes."""

from typing import Annotated, Any

import typer

from hyperlvq.cli.options import JsonOption, give
from hyperlvq.cli.text import aligned


def costs(
    n_samples: Annotated[int, typer.Option(min=1, help="Training samples T.")],
    n_classes: Annotated[int, typer.Option(min=2, help="Classes L.")],
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Features K; with it, the costs of a prediction too.")
    ] = None,
    n_units: Annotated[int, typer.Option(min=1, help="Hidden units N.")] = 1000,
    prototypes_per_class: Annotated[int, typer.Option(min=1, help="Prototypes P.")] = 1,
    n_iter: Annotated[int, typer.Option(min=1, help="Iterations I of GLVQ.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show what training costs by Table I of the paper, and what a prediction of intRVFL costs.

    Example: hyperlvq costs --n-samples 1000 --n-classes 3 --n-units 500 --n-features 20
    """
    from hyperlvq.costs import glvq_flops, rls_flops, rls_qr_flops

    sizes = n_samples, n_units, n_classes
    training = {
        "RLS": rls_flops(*sizes),
        "RLS by QR": rls_qr_flops(*sizes),
        "GLVQ": glvq_flops(*sizes, prototypes_per_class, n_iter),
    }
    n_outputs = n_classes * prototypes_per_class
    prediction = {} if n_features is None else _prediction(n_features, n_units, n_outputs)
    values = {"training_flops": training, "prediction": prediction}
    give([*_training_lines(training), *_prediction_lines(prediction)], values, as_json, quiet=False)


def _prediction(n_features: int, n_units: int, n_outputs: int) -> dict[str, Any]:
    from hyperlvq.costs import prediction_cost

    return {
        form: prediction_cost("intrvfl", n_features, n_units, n_outputs, form=form)._asdict()
        for form in ("float", "integer")
    }


def _training_lines(training: dict[str, float]) -> list[str]:
    rows = [
        [name, f"{flops:.4g}", f"{flops / training['RLS']:.4f}"] for name, flops in training.items()
    ]
    return aligned([["training", "flops", "relative"], *rows])


def _prediction_lines(prediction: dict[str, Any]) -> list[str]:
    if not prediction:
        return []
    rows = [
        [f"intRVFL + GLVQ, {form}", str(cost["bytes"]), str(cost["operations"])]
        for form, cost in prediction.items()
    ]
    return ["", *aligned([["prediction", "bytes", "operations"], *rows])]
