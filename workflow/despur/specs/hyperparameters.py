"""Sets of settings that methods share: of training, of the stage-1 model. Those of learning without labels:
selfsupervised_hyperparameters.py.

A method's ``SETTINGS`` begins with such sets, ``{**sgd(...), ...}``. The method's own settings follow. They replace
those of the same name."""

from despur.specs.settings import Setting, around, choice, component, float_, int_, log_uniform, without


def on_stage1(base: str, selection: str, source: str) -> dict[str, Setting]:
    """For a method whose inputs are a stage-1 model's representations, not the data set's."""
    return {
        "stage1": component("methods", base, source),
        "stage1_selection": choice(
            selection, "which of its steps: the best on validation data, or the last", "best", "last"
        ),
    }


def on_held_out(share: float, source: str) -> dict[str, Setting]:
    """For a method that trains on labeled held-out data instead of training data."""
    told = f"{source}; which share of the split that selects trains instead, by seed"
    return {"held_out_share": float_(share, told, above=0, below=1)}


def from_stage1(base: str, selection: str, source: str) -> dict[str, Setting]:
    """For a method whose encoder is a stage-1 model's and starts with its weights."""
    return {
        "stage1": component("methods", base, source),
        "stage1_weights": choice(
            selection, "of which of its steps: the best on validation data, or the last", "best", "last"
        ),
    }


def sgd(
    learning_rate: float, momentum: float, weight_decay: float, epochs: int, source: str, batch_size: int = 0
) -> dict[str, Setting]:
    """The settings that every method trained by stochastic gradient descent shares; no batch size for one that builds
    its own batches."""
    return {
        **_training("sgd", learning_rate, weight_decay, epochs, source, batch_size),
        "momentum": float_(momentum, source, at_least=0, below=1),
    }


SUBPOPBENCH = "the same for all methods in SubpopBench, tuned; here as ERM"


def as_erm(
    source: str, learning_rate: float = 1e-3, weight_decay: float = 5e-4, epochs: int = 100
) -> dict[str, Setting]:
    """:func:`sgd` as Zhang et al. 2022 train ERM on CMNIST* (App. E.2.2), from which most methods differ little."""
    return sgd(learning_rate, 0.9, weight_decay, epochs, source, batch_size=32)


def inferred_domains() -> dict[str, Setting]:
    """The domains of methods that read them from stage 1 (App. A.2 of Zhang et al. 2022)."""
    return {
        "groups": component(
            "inference", "predictions", "App. A.2: the stage-1 model's predicted class", as_class="domain=majority"
        ),
        "domain": choice(
            "attribute", "App. A.2: the stage-1 prediction; majority: whether it is right", "attribute", "majority"
        ),
    }


def on_embeddings() -> dict[str, Setting]:
    """What the methods of Zhang & Re 2022 share that train a small network on a foundation model's embeddings: no
    encoder to choose."""
    source = "released code; the paper's appendix is missing"
    return {
        **without(
            sgd(learning_rate=1e-3, momentum=0.9, weight_decay=5e-5, batch_size=128, epochs=100, source=source),
            "encoder",
        ),
        **on_stage1("zero_shot", "last", "Sec. 3.2: a foundation model's embeddings of samples and class prompts"),
    }


def adam(
    learning_rate: float, weight_decay: float, epochs: int, source: str, batch_size: int = 0
) -> dict[str, Setting]:
    """As :func:`sgd`, for a method whose paper trains it with Adam."""
    return {
        **_training("adam", learning_rate, weight_decay, epochs, source, batch_size),
        "momentum": float_(0.9, "of sgd and lars", at_least=0, below=1),
    }


RULES = (  # by which a step can be the best; all but the first read no attribute
    "worst_group_accuracy",
    "average_accuracy",
    "log_likelihood",  # minus the loss
    "worst_class_accuracy",
    "balanced_accuracy",
)


def criterion(default: str, source: str) -> Setting:
    """What decides which step is best, and when patience is over."""
    told = f"{source}: which step is best, and when patience is over; last: the last step counts"
    return choice(default, told, *RULES, "last")


def _training(
    optimizer: str, learning_rate: float, weight_decay: float, epochs: int, source: str, batch_size: int
) -> dict[str, Setting]:
    batch = {"batch_size": int_(batch_size, source, at_least=1)} if batch_size else {}
    return {
        **batch,
        "encoder": component("encoders", "lenet", source),
        "optimizer": choice(optimizer, source, "sgd", "adam", "adamw", "lars"),
        "learning_rate": float_(
            learning_rate, source, above=0, search=around(10, "SubpopBench, of images: 1e-4 to 1e-2, default 1e-3")
        ),
        "decay": choice(
            "none",
            "of the learning rate: linearly to 0; times decay_factor every decay_every epochs (step), or after "
            "so many evaluations in a row"
            " in which the criterion did not fall (plateau: released code of Shen et al. 2021, 3 and .5; it "
            "takes the loss for a score)",
            *("none", "linear", "step", "plateau"),
        ),
        "decay_every": int_(20, "with decay=step: epochs; plateau: evaluations", at_least=1),
        "decay_factor": float_(0.9, "with decay=step, plateau", above=0, at_most=1),
        "clip": float_(0.0, "largest norm of a step's gradient; 0: any", at_least=0),
        "weight_decay": float_(weight_decay, source, at_least=0, search=log_uniform(1e-6, 1e-3, "SubpopBench")),
        "epochs": int_(epochs, source, at_least=1),
        "evaluate_every": int_(0, "0: once an epoch; else every so many optimizer steps, too", at_least=0),
        "evaluations": int_(
            0,
            "0: as evaluate_every says; else so many in all, evenly spaced, so that all methods choose among equally "
            "many models",
            at_least=0,
        ),
        "snapshots": int_(
            0, "every so many epochs the model is kept and evaluated too, as selection epoch=n; 0: never", at_least=0
        ),
        "selections": choice(
            "criterion",
            "which steps' models are kept and evaluated: the best by the criterion, and the last; rules: also the best "
            "by each rule that a criterion can be, as the selection of its name",
            "criterion",
            "rules",
        ),
        "criterion": criterion("worst_group_accuracy", "of validation data"),
        "ties": choice(
            "average",
            "which of evaluations with the same criterion; not stated: that with the highest average accuracy, or the "
            "first",
            "average",
            "first",
        ),
        "patience": int_(0, "evaluations without a better criterion before training stops; 0: never", at_least=0),
    }
