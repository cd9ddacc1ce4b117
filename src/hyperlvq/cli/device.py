"""Sizes that fit a device, and what a model takes of one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hyperlvq.checks import InputError
from hyperlvq.cli.text import facts

if TYPE_CHECKING:
    from hyperlvq.export import Plan

Chip = Literal["cortex-m3", "avr", "riscv32"]
Input = Literal["float", "int16", "int32"]
DEFAULT_CHIP: Chip = "cortex-m3"
DEFAULT_INPUT: Input = "float"
InputOption = Annotated[
    Input, typer.Option("--input", help="The type of a feature on the device; integers: no floats.")
]
#: More units hardly help, and search would take long.
MOST_UNITS = 2000
#: To choose among, as far as they are not given.
PROTOTYPES = (1, 2, 3)
#: The budget is that of the largest clip that tuning tries.
LARGEST_CLIP = 7
EXPORTED_BITS = 8


@dataclass(frozen=True)
class Device:
    """A chip, the type of features on it, and the bytes that a model may take."""

    chip: Chip
    input: Input
    max_flash: int | None
    max_ram: int | None

    @classmethod
    def parsed(
        cls,
        chip: Chip | None,
        input_type: Input | None,
        max_flash: str | None,
        max_ram: str | None,
    ) -> "Device | None":
        """Return the device of the command line's options; None where there is no limit."""
        from hyperlvq.export.budget import parse_size

        limits = [None if text is None else parse_size(text) for text in (max_flash, max_ram)]
        if limits != [None, None]:
            return cls(chip or DEFAULT_CHIP, input_type or DEFAULT_INPUT, *limits)
        for option, value in {"--chip": chip, "--input": input_type}.items():
            if value is not None:
                raise InputError(
                    f"{option} needs --max-flash or --max-ram: without them it changes nothing"
                )
        return None

    def sizes(
        self, hidden: str, readout: str, given: dict[str, Any]
    ) -> Callable[[int, int], list[dict[str, Any]]]:
        """Return what finds the settings that fit, for so many features and classes."""
        from hyperlvq.registry import recipe_records

        records = recipe_records(hidden, readout)
        if hidden == "features" or any(each.export_refusal is not None for each in records):
            raise InputError(
                f"--max-flash and --max-ram: {hidden} with {readout} cannot be exported to a device"
            )

        def fitting(n_features: int, n_classes: int) -> list[dict[str, Any]]:
            per_class = _prototypes("prototypes_per_class" in records[-1].parameters, given)
            found = {
                count: self._units(n_features, n_classes, count, readout, given)
                for count in per_class
            }
            settings = [
                _setting(units, count, {*records[0].parameters, *records[-1].parameters}, given)
                for count, units in found.items()
                if units
            ]
            if not settings:
                raise InputError(
                    f"no model of {n_features} features and {n_classes} classes fits the device"
                )
            return settings

        return fitting

    def budget_of(self, model: Any) -> dict[str, Any]:
        """Return what a fitted model takes of this device."""
        from hyperlvq.export import make_plan

        return budget_values(make_plan(model, input=self.input, bits=EXPORTED_BITS), self.chip)

    def _units(
        self, n_features: int, n_classes: int, per_class: int, readout: str, given: dict[str, Any]
    ) -> int:
        """Return the units to take, or 0 where none fit."""
        from hyperlvq.export.budget import largest_units

        most = largest_units(
            n_features,
            n_classes,
            per_class,
            max_flash=self.max_flash,
            max_ram=self.max_ram,
            target=self.chip,
            clip=given.get("clip", LARGEST_CLIP),
            bits=EXPORTED_BITS,
            input=self.input,
            readout=readout,
        )
        wanted = given.get("n_units", MOST_UNITS)
        if most is None or ("n_units" in given and wanted > most):
            return 0
        return min(most, wanted)


def _prototypes(has_several: bool, given: dict[str, Any]) -> tuple[int, ...]:
    if "prototypes_per_class" in given:
        return (given["prototypes_per_class"],)
    return PROTOTYPES if has_several else (1,)


def _setting(
    units: int, per_class: int, known: Collection[str], given: dict[str, Any]
) -> dict[str, Any]:
    setting = {"n_units": units, "prototypes_per_class": per_class}
    return {name: value for name, value in setting.items() if name not in given and name in known}


def budget_values(plan: "Plan", chip: str) -> dict[str, Any]:
    """Return what a plan takes of a chip, as plain values."""
    from hyperlvq.export.budget import predict_budget
    from hyperlvq.export.layout import Layout
    from hyperlvq.export.words import avr_complaint

    return {
        "target": chip,
        "input": plan.input,
        "bits": plan.bits,
        **predict_budget(plan, chip)._asdict(),
        "complaint": (avr_complaint(Layout(plan).table_bytes) if chip == "avr" else "") or None,
    }


def budget_lines(values: dict[str, Any]) -> list[str]:
    """Return a budget as text."""
    pairs = [
        ("target", f"{values['target']}, features as {values['input']}, {values['bits']} bits"),
        ("flash", f"{values['flash']} bytes, tables and code"),
        ("RAM", f"{values['ram']} bytes static, {values['stack']} bytes of stack"),
        ("instructions", f"{values['instructions']} a prediction"),
    ]
    if values["complaint"]:
        pairs.append(("does not fit", values["complaint"]))
    return facts(pairs)
