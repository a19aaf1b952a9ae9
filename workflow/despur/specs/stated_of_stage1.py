"""What a data set's file states for the stage 1 that a method reads."""

from collections.abc import Mapping

from despur.specs.declarations import paper_hyperparameters, read_declarations
from despur.specs.settings import Setting, Settings, spell

Declaration = Mapping[str, Setting]


class DerivedText(str):
    """The text of a setting that no name says; ``origin`` says where it comes from."""

    origin: str

    def __new__(cls, text: str, origin: str) -> "DerivedText":
        derived = super().__new__(cls, text)
        derived.origin = origin
        return derived


def spell_file(dataset: str) -> str:
    """Where a data set's file states settings."""
    return f"stated in datasets/{dataset}.py"


def select_stated(declaration: Declaration, presets: Settings, overrides: Settings, dataset: str) -> dict[str, str]:
    """What a data set's file states for the stage 1 of a component, of the settings that this stage 1 has. Empty where
    the name takes another stage 1 than the one declared or stated, or where none is read (``groups=oracle``)."""
    of_stage1 = {
        key: DerivedText(spell(value), spell_file(dataset))
        for key, value in presets.items()
        if key.startswith("stage1.")
    }
    if of_stage1 and "stage1" not in declaration and "groups" in overrides:
        declaration, presets = (
            read_declarations("inference", overrides["groups"])["SETTINGS"],
            paper_hyperparameters(dataset, overrides["groups"], "groups"),
        )
    if not of_stage1 or "stage1" not in declaration:
        return {}
    named = presets.get("stage1", declaration["stage1"].default)
    stage1_settings = read_declarations("methods", named)["SETTINGS"] if overrides.get("stage1", named) == named else {}
    return {key: value for key, value in of_stage1.items() if key.split(".")[1] in stage1_settings}


def spell_as_alone(method: str, dataset: str) -> dict[str, str]:
    """The settings that a data set's file states for a method only as a stage-1 model, with their values elsewhere.
    Those (CNC's ERM, regularized) are for inferring groups: a model that a method starts from is trained without."""
    as_stage1, as_run = (paper_hyperparameters(dataset, method, stage) for stage in ("stage1", ""))
    if as_stage1 == as_run:
        return {}
    declaration: Declaration = read_declarations("methods", method)["SETTINGS"]
    changed = sorted(key for key, _ in as_stage1.items() - as_run.items() if key in declaration)
    return {
        f"stage1.{key}": DerivedText(spell(as_run.get(key, declaration[key].default)), f"as {method} is trained alone")
        for key in changed
    }
