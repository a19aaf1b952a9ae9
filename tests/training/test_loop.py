"""The training loop: selection, early stopping, interruption and resume, bad losses."""

import copy
import math

import numpy as np
import pytest
import torch
from helpers import CPU, build, labels, task
from torch import nn

from despur.compute.machine import Machine
from despur.compute.named_losses import require_loss
from despur.compute.optimizers import load_optimizer
from despur.compute.task import encode
from despur.storage.store import InputError
from despur.training.loop import Trainer, TrainingError

FIRST = {(0, 0): 12, (0, 1): 6, (1, 1): 11, (1, 0): 7}


class Interruption(Exception):
    """Power went out."""


class Scripted:
    """A method without images: each step returns the next of these losses and counts in its only weight."""

    TRANSIENT = ("calls", "script", "told", "drawn", "epoch")
    epochs_done = 0

    def __init__(self, losses=(), steps=4, **settings):
        self.settings = {"epochs": 3, "evaluate_every": 0, "snapshots": 0, "patience": 0, "ties": "average"}
        self.settings |= {"evaluations": 0, **settings}
        self.networks = nn.ModuleDict()
        self.networks.register_buffer("steps", torch.zeros(()))
        self.script, self.length, self.calls, self.found = list(losses), steps, 0, []
        self.told, self.drawn = [], []  # before each step; what each epoch, step and evaluation can draw

    def epoch_batches(self, rng):
        self.drawn.append(rng.random())
        return iter(np.arange(self.length * 2).reshape(self.length, 2))

    def step(self, batch, rng):
        self.calls += 1
        self.networks.steps += 1
        self.told.append((self.epochs_done, self.steps_done, self.epoch))
        self.drawn += [rng.random(), torch.rand(()).item()]
        return {"loss": torch.tensor(self.script.pop(0) if self.script else 1.0), "part": torch.tensor(2.0)}

    def read_ahead(self, batches):
        return iter(batches)

    def set_learning_rate(self, epoch):
        self.epoch = epoch

    def before_eval(self, rng):
        self.drawn.append(rng.random())

    def on_validation_end(self, criterion):
        self.found.append(criterion)

    def count_images(self, batch):
        return 10

    def state(self):
        return {"networks": self.networks.state_dict()}

    def load(self, state):
        self.networks.load_state_dict(state["networks"])


def scores(*pairs):
    """An evaluation that gives these (worst, average) one after the other."""
    rest = iter(pairs)
    return lambda method: dict(zip(("worst", "average"), next(rest), strict=True))


def constant(method):
    return {"worst": 0.0, "average": 0.0}


def trained(method, tmp_path, evaluate=constant, seconds=1e9):
    return Trainer(method, "key", evaluate, Machine(CPU, checkpoint_seconds=seconds), tmp_path / "checkpoint.pt").run()


def looks(progress, name="worst"):
    """(step, value) of each evaluation."""
    return [(row["step"], row["value"]) for row in progress.history if row["name"] == name]


# what is trained, looked at and logged


@pytest.mark.parametrize(("terminal", "tick", "count"), [(True, 10, 3), (False, 1, 0), (False, 10, 1), (False, 30, 3)])
def test_a_line_of_progress_with_the_time_left_is_rewritten_on_a_terminal_and_rare_in_a_log(
    tmp_path, monkeypatch, capsys, terminal, tick, count
):
    """``tick``: what each look at the clock adds to it, in seconds."""
    clock = iter(range(0, 100_000, tick))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    trained(Scripted(), tmp_path)
    lines = capsys.readouterr().err.split("\r" if terminal else "\n")[:-1]
    assert len(lines) == count
    assert all(
        line.startswith("\x1b[Kkey: epoch" if terminal else "key: epoch") and "min left" in line for line in lines
    )


def test_every_epoch_is_trained_and_looked_at(tmp_path):
    method = Scripted()
    progress = trained(method, tmp_path)
    assert method.calls == progress.step == 12 and progress.epoch == 3 and progress.finished
    assert progress.images == 120
    assert [step for step, _ in looks(progress)] == [4, 8, 12]
    assert method.told == [(step // 4, step, step / 4) for step in range(12)]


def test_each_epoch_step_and_evaluation_draws_anew_and_again_the_same(tmp_path):
    first, again = Scripted(), Scripted()
    for which, of in enumerate((first, again)):
        trained(of, tmp_path / str(which))
    assert len(first.drawn) == len(set(first.drawn)) == 3 + 2 * 12 + 3 and again.drawn == first.drawn


@pytest.mark.parametrize(
    ("every", "expected"), [(3, [3, 4, 6, 8, 9, 12]), (4, [4, 8, 12]), (5, [4, 5, 8, 10, 12]), (100, [4, 8, 12])]
)
def test_evaluate_every_adds_looks_between_the_ends_of_epochs(every, expected, tmp_path):
    assert [step for step, _ in looks(trained(Scripted(evaluate_every=every), tmp_path))] == expected


@pytest.mark.parametrize(
    ("steps", "epochs", "count", "expected"),
    [
        (4, 3, 2, [6, 12]),  # half of the steps, all
        (4, 3, 5, [3, 5, 8, 10, 12]),  # 12/5 = 2.4, 4.8, 7.2, 9.6, 12, rounded up
        (2, 3, 100, [1, 2, 3, 4, 5, 6]),  # never more than steps
        (7, 9, 9, list(range(7, 64, 7))),  # as many as epochs: their ends
    ],
)
def test_evaluations_are_so_many_in_all_evenly_spaced(steps, epochs, count, expected, tmp_path):
    method = Scripted(steps=steps, epochs=epochs, evaluations=count, evaluate_every=1)
    assert [step for step, _ in looks(trained(method, tmp_path))] == expected


def test_the_method_is_told_the_criterion_where_there_is_one(tmp_path):
    method, silent = Scripted(), Scripted()
    trained(method, tmp_path, scores((0.1, 0.5), (0.3, 0.5), (0.2, 0.5)))
    trained(silent, tmp_path / "other", lambda of: {})
    assert method.found == [0.1, 0.3, 0.2] and silent.found == []


def test_history_holds_mean_losses_since_the_last_look(tmp_path):
    progress = trained(Scripted([1.0, 2.0, 6.0, 3.0, 5.0, 5.0], steps=4, epochs=1, evaluate_every=3), tmp_path)
    assert looks(progress, "loss") == [(3, 3.0), (4, 3.0)]
    assert looks(progress, "part") == [(3, 2.0), (4, 2.0)]


def test_an_epoch_without_a_batch_is_an_error(tmp_path):
    with pytest.raises(TrainingError, match=r"key: an epoch without a batch.*epochs"):
        trained(Scripted(steps=0), tmp_path)


# selection


def test_the_best_score_is_kept_ties_broken_by_the_average_the_first_one_kept(tmp_path):
    evaluate = scores((0.1, 0.9), (0.3, 0.2), (0.3, 0.4), (0.3, 0.4), (0.2, 1.0), (0.3, 0.3))
    method = Scripted(steps=2, epochs=6)
    progress = trained(method, tmp_path, evaluate)
    assert progress.best_step == 6 and progress.scores["best"] == (0.3, 0.4)
    assert progress.states[progress.best_step]["steps"] == 6  # the weights of then
    assert method.networks.steps == 12  # the method is left as it was at the last step


def test_with_ties_first_the_first_of_equal_criteria_is_kept(tmp_path):
    evaluate = scores((0.1, 0.9), (0.3, 0.2), (0.3, 0.4), (0.3, 0.4), (0.2, 1.0), (0.3, 0.3))
    progress = trained(Scripted(steps=2, epochs=6, ties="first"), tmp_path, evaluate)
    assert progress.best_step == 4 and progress.scores["best"] == (0.3, 0.2)


def test_a_score_of_zero_is_kept_too(tmp_path):
    progress = trained(Scripted(), tmp_path, scores((0.0, 0.1), (0.0, 0.1), (0.0, 0.0)))
    assert progress.best_step == 4 and progress.states[progress.best_step]["steps"] == 4


def test_patience_stops_after_that_many_looks_without_a_better_one(tmp_path):
    evaluate = scores((0.1, 0), (0.3, 0), (0.2, 0), (0.3, 0), (0.9, 0))
    method = Scripted(epochs=9, patience=2)
    progress = trained(method, tmp_path, evaluate)
    assert progress.step == method.calls == 16 and progress.best_step == 8 and progress.finished


def test_a_better_look_renews_patience(tmp_path):
    evaluate = scores((0.3, 0), (0.1, 0), (0.4, 0), (0.1, 0), (0.5, 0), (0.1, 0), (0.1, 0), (0.9, 0))
    progress = trained(Scripted(epochs=8, patience=2), tmp_path, evaluate)
    assert progress.step == 28 and progress.best_step == 20


def test_a_better_average_breaks_ties_and_renews_patience(tmp_path):
    progress = trained(
        Scripted(epochs=9, patience=2),
        tmp_path,
        scores((0.3, 0.1), (0.3, 0.2), (0.3, 0.3), (0.2, 0.9), (0.3, 0.2), (0.9, 0.9)),
    )
    assert progress.step == 20 and progress.best_step == 12 and progress.scores["best"] == (0.3, 0.3)


def test_patience_stops_within_an_epoch(tmp_path):
    progress = trained(Scripted(evaluate_every=1, patience=2), tmp_path)
    assert progress.step == 3 and progress.best_step == 1


def test_without_patience_training_goes_on_to_the_end(tmp_path):
    assert trained(Scripted(epochs=8), tmp_path).step == 32


RULED = {"best": ("worst", "average"), "average": ("average",)}


def train_ruled(method, tmp_path, evaluate, **options):
    machine = Machine(CPU, checkpoint_seconds=0)
    return Trainer(method, "key", evaluate, machine, tmp_path / "checkpoint.pt", RULED, **options).run()


def test_each_selection_keeps_its_step_and_patience_follows_the_best(tmp_path):
    evaluate = scores((0.1, 0.9), (0.3, 0.2), (0.3, 0.4), (0.2, 0.9), (0.1, 1.0))
    progress = train_ruled(Scripted(steps=2, epochs=6, patience=2, snapshots=3), tmp_path, evaluate)
    assert progress.steps == {"best": 6, "average": 10, "epoch=3": 6} and progress.step == 10
    assert {step: float(state["steps"]) for step, state in progress.states.items()} == {6: 6.0, 10: 10.0}
    assert progress.scores == {"best": (0.3, 0.4), "average": (1.0,)}


def test_selections_are_the_same_after_an_interruption(tmp_path):
    pairs = [(0.3, 0.2), (0.1, 0.9), (0.2, 0.9), (0.4, 0.1)]
    whole = train_ruled(Scripted(steps=2, epochs=4), tmp_path / "whole", scores(*pairs))
    stopped = Scripted(steps=2, epochs=4)
    step = stopped.step
    stopped.step = lambda batch, rng: step(batch, rng) if stopped.calls < 5 else raise_interruption()
    with pytest.raises(Interruption):
        train_ruled(stopped, tmp_path / "pieces", scores(*pairs))
    resumed = train_ruled(Scripted(steps=2, epochs=4), tmp_path / "pieces", scores(*pairs[2:]))
    assert (resumed.steps, resumed.scores, resumed.history) == (whole.steps, whole.scores, whole.history)
    assert whole.steps == {"best": 8, "average": 4} and resumed.states.keys() == {4, 8}
    assert all(resumed.states[step]["steps"] == step for step in (4, 8))


def raise_interruption():
    raise Interruption


# bad losses


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_a_number_names_step_and_settings(bad, tmp_path):
    method = Scripted([1.0] * 6 + [bad], temperature=0.07)
    with pytest.raises(TrainingError) as error:
        trained(method, tmp_path)
    text = str(error.value)
    assert text.startswith("key: mean loss is") and "'temperature': 0.07" in text
    assert "over steps 5 to 8: try a lower learning rate" in text
    assert method.calls == 8  # at the end of the epoch


def test_a_validation_score_that_is_not_a_number_names_selection_step_and_settings(tmp_path):
    with pytest.raises(TrainingError, match=r"key: validation scores of best at step 4 are \(nan, 0.5\); settings"):
        trained(Scripted(), tmp_path, scores((math.nan, 0.5)))
    assert trained(Scripted(epochs=2), tmp_path / "later", scores((0.1, 0.5), (math.nan, 0.5))).best_step == 4


def test_a_method_without_loss_is_told_what_it_gives(tmp_path):
    method = Scripted()
    method.step = lambda batch, rng: {"cost": torch.tensor(1.0)}
    with pytest.raises(InputError, match='key gives the losses cost; one must be called "loss"'):
        trained(method, tmp_path)
    with pytest.raises(InputError, match='the method mine gives the losses none; one must be called "loss"'):
        require_loss({}, "the method mine")


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        (torch.tensor(1.0), "gives Tensor, no named losses"),
        (None, "gives NoneType, no named losses"),
        ({"loss": 1.0}, "gives loss as float: give a tensor"),
        ({"loss": torch.tensor(1.0, requires_grad=True), "norm": 2.0}, "gives norm as float"),
        ({"loss": torch.ones(3, requires_grad=True)}, r"of shape \(3,\): take its mean"),
        ({"loss": torch.tensor(1.0)}, "that no gradient follows from"),
    ],
)
def test_a_loss_that_cannot_be_minimized_is_refused(losses, message):
    with pytest.raises(InputError, match=f"the method mine .*{message}"):
        require_loss(losses, "the method mine")


def test_a_loss_that_is_not_a_number_is_in_no_checkpoint(tmp_path):
    with pytest.raises(TrainingError, match="over steps 5 to 7"):
        trained(Scripted([1.0] * 6 + [math.nan]), tmp_path, seconds=0)
    assert torch.load(tmp_path / "checkpoint.pt", weights_only=True)["progress"]["step"] == 6


def test_no_step_reads_a_value_from_the_device(tmp_path):
    """A tensor on the device "meta" has no value to read."""
    method = Scripted()
    step = method.step
    method.step = lambda batch, rng: {name: loss.to("meta") for name, loss in step(batch, rng).items()}
    trainer = Trainer(method, "key", constant, Machine(CPU), tmp_path / "checkpoint.pt")
    trainer.epochs_per_step = 0.25
    for batch in method.epoch_batches(np.random.default_rng(0)):
        trainer.step(batch)
    assert trainer.progress.counts == {"loss": 4, "part": 4} and trainer.progress.totals["loss"].dtype == torch.float64


def test_means_are_sums_in_double_precision(tmp_path):
    """In single precision, 1 would vanish beside 2^24."""
    progress = trained(Scripted([2.0**24, 1.0, 1.0, 1.0], epochs=1), tmp_path)
    assert looks(progress, "loss") == [(4, (2**24 + 3) / 4)]


def test_a_diverging_run_stops(tmp_path):
    method = build("erm+batch_size=8+learning_rate=1e30", task(np.arange(24) % 2))
    with pytest.raises(TrainingError, match=r"over steps (1 to 3|4 to 6): .*'learning_rate': 1e[+]30"):
        trained(method, tmp_path)


# interruption and resume; test_state.py has all methods

NAME = "erm+batch_size=8+epochs=3+learning_rate=0.05"


def method(seed=0):
    y, predicted = labels(FIRST)
    return build(NAME, task(y, predicted, crop="image"), seed)


def accuracy(method):
    """A score that depends on the weights."""
    networks, rng = method.networks, np.random.default_rng(0)
    logits = encode(networks["encoder"], networks["head"], method.task.batcher, rng)["logits"]
    return {"worst": float(logits.std()), "average": float((logits.argmax(1) == method.task.y).mean())}


def outcome(method, progress):
    """All that must not depend on interruptions."""
    kept = {f"best {name}": value for name, value in progress.states[progress.best_step].items()}
    end = (progress.step, progress.epoch, progress.images, progress.best_step, progress.scores, progress.history)
    return end, {**method.networks.state_dict(), **kept}


def assert_equal(first, second):
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    for name in first[1]:
        assert torch.equal(first[1][name], second[1][name]), name


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """How a run ends when nothing happens."""
    one = method()
    ended = outcome(one, trained(one, tmp_path_factory.mktemp("whole"), accuracy))
    assert ended[0][0] >= 12
    return ended


def interrupted(tmp_path, saved, lost):
    """Start anew, checkpoint up to step ``saved``, and stop in the middle of step ``lost``."""
    victim = method()
    machine = Machine(CPU, checkpoint_seconds=0)
    trainer = Trainer(victim, "key", accuracy, machine, tmp_path / "checkpoint.pt")
    step, done = victim.step, [trainer.progress.step]

    def fragile(batch, rng):
        if done[0] + 1 == lost:
            raise Interruption
        if done[0] + 1 > saved:
            machine.checkpoint_seconds = 1e9
        done[0] += 1
        return step(batch, rng)

    victim.step = fragile
    with pytest.raises(Interruption):
        trainer.run()


@pytest.mark.parametrize(("saved", "lost"), [(1, 2), (6, 7), (2, 11)])
def test_an_interrupted_run_ends_as_if_nothing_had_happened(saved, lost, uninterrupted, tmp_path):
    interrupted(tmp_path, saved, lost)
    resumed = method(seed=5)  # its own initialization does not matter
    trainer = Trainer(resumed, "key", accuracy, Machine(CPU), tmp_path / "checkpoint.pt")
    assert trainer.progress.step == saved
    assert_equal(outcome(resumed, trainer.run()), uninterrupted)


def test_without_a_checkpoint_a_run_starts_over(uninterrupted, tmp_path):
    interrupted(tmp_path, 0, 5)
    assert not (tmp_path / "checkpoint.pt").exists()
    again = method()
    assert_equal(outcome(again, trained(again, tmp_path, accuracy)), uninterrupted)


@pytest.mark.parametrize("left", [0, 10, 0.5, -5, "zeros", "a flipped bit"])
def test_with_a_broken_checkpoint_a_run_starts_over_and_says_so(left, uninterrupted, tmp_path, capsys):
    interrupted(tmp_path, 6, 7)
    file = tmp_path / "checkpoint.pt"
    whole = file.read_bytes()
    half = len(whole) // 2
    if left == "zeros":  # as a machine that dies may leave a part that was not yet on the disk
        file.write_bytes(whole[: half - 64] + bytes(128) + whole[half + 64 :])
    elif left == "a flipped bit":
        file.write_bytes(whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :])
    else:
        file.write_bytes(whole[: half if left == 0.5 else left])
    again = method()
    assert_equal(outcome(again, trained(again, tmp_path, accuracy)), uninterrupted)
    assert capsys.readouterr().err.count(f"warning: key: {file} is broken, so training starts anew\n") == 1
    trained(method(), tmp_path, accuracy)
    assert "key: resumes at step" in capsys.readouterr().err


def test_a_finished_run_is_not_trained_again(tmp_path):
    first = Scripted()
    progress = copy.deepcopy(outcome(first, trained(first, tmp_path)))
    again = Scripted()
    assert_equal(outcome(again, trained(again, tmp_path)), progress)
    assert again.calls == 0


def test_patience_is_remembered_over_an_interruption(tmp_path):
    victim = Scripted(epochs=9, patience=3)
    step = victim.step

    def fragile(batch, rng):
        if victim.calls == 9:
            raise Interruption
        return step(batch, rng)

    victim.step = fragile
    with pytest.raises(Interruption):
        trained(victim, tmp_path, scores((0.5, 0), (0.4, 0)), seconds=0)
    progress = trained(Scripted(epochs=9, patience=3), tmp_path, scores((0.3, 0), (0.5, 0), (0.9, 0)))
    assert progress.step == 16 and progress.best_step == 4


def test_an_interruption_while_saving_keeps_the_old_checkpoint(tmp_path, monkeypatch):
    checkpoint = tmp_path / "checkpoint.pt"
    trained(Scripted(epochs=1), tmp_path)
    before, save = checkpoint.read_bytes(), torch.save

    def half(content, file):
        save(content, file)
        file.truncate(50)
        raise Interruption

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(Interruption):
        Trainer(Scripted(), "key", constant, Machine(CPU), checkpoint).save()
    assert checkpoint.read_bytes() == before and list(tmp_path.iterdir()) == [checkpoint]


@pytest.mark.parametrize("one", [True, None])
def test_an_optimizer_steps_as_it_was_built_wherever_its_state_was_saved(one):
    built, saved = (
        torch.optim.Adam([nn.Parameter(torch.ones(2))], fused=fused) for fused in (one, None if one else True)
    )
    for optimizer in (built, saved):
        optimizer.param_groups[0]["params"][0].grad = torch.ones(2)
        optimizer.step()
    load_optimizer(built, saved.state_dict())
    (group,) = built.param_groups
    assert group["fused"] is one and built.state[group["params"][0]]["step"].device == CPU
    built.step()


def test_of_several_processes_the_others_wait_as_long_for_the_next_checkpoint(tmp_path, monkeypatch):
    trainer = Trainer(Scripted(), "key", constant, Machine(CPU), tmp_path / "one.pt")
    monkeypatch.setattr("despur.compute.distributed.rank", lambda: 1)
    trainer.saved = 0.0
    trainer.save()
    assert trainer.saved > 0 and not list(tmp_path.iterdir())


class Averaging(Scripted):
    """Averages over its steps."""

    average = 0.0

    def step(self, batch, rng):
        self.average = 0.9 * self.average + 0.1
        return super().step(batch, rng)


class Saving(Averaging):
    """The same, saved."""

    def state(self):
        return {**super().state(), "average": self.average}


class Passing(Averaging):
    """The same, of which no later step knows."""

    TRANSIENT = ("average",)


@pytest.mark.parametrize(("kind", "is_told"), [(Averaging, True), (Saving, False), (Passing, False)])
def test_what_a_step_changes_and_no_checkpoint_holds_is_told(kind, is_told, tmp_path, capsys):
    trained(kind(), tmp_path)
    told = "warning: key: a step changes average of the method, which no checkpoint holds"
    assert (told in capsys.readouterr().err) == is_told
