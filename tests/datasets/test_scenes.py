from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from despur.datasets import scene_digits
from despur.datasets.sources import scenes
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import load_dataset, save_dataset

MOJI, TEN = "scene_digits+class_share=0.5+p_corr=0.8", "scene_digits+classes=0-1-2-3-4-5-6-7-8-9"


@cache
def build(name="scene_digits"):
    (point,) = resolve("datasets", name).points
    return scene_digits.build(point.settings, Path("no raw data needed"))


def part(name, split="train"):
    """The table of a split."""
    return build(name).table.iloc[build(name).rows(split)]


def counts(table):
    """Samples by class (rows) and background (columns)."""
    return table.groupby(["y", "a"]).size().unstack(fill_value=0).to_numpy()


def test_scenes_are_images_with_names_for_their_groups():
    dataset = build()
    assert dataset.inputs.shape == (len(dataset.table), 40, 40, 3) and dataset.inputs.dtype == np.uint8
    assert dataset.masks.shape == (len(dataset.table), 40, 40) and dataset.masks.dtype == bool
    assert dataset.splits == ["test", "val", "train"]
    assert dataset.about["groups"] == ["0,1,2,3,4, land", "0,1,2,3,4, water", "5,6,7,8,9, land", "5,6,7,8,9, water"]
    assert dataset.about["class_words"][1] == "five or six or seven or eight or nine"


@pytest.mark.parametrize("name", ["scene_digits", TEN, "scene_digits+foreground=true+test=skewed"])
def test_splits_share_no_original(name):
    table = build(name).table
    splits = table["split"].replace("test_foreground", "test")
    assert table.groupby("original").agg({"split": lambda s: splits[s.index].nunique()})["split"].eq(1).all()


@pytest.mark.parametrize(
    ("name", "classes"), [("scene_digits", ["01234", "56789"]), ("scene_digits+classes=3-5-18", ["3", "5", "18"])]
)
def test_classes_hold_the_digits_asked_for(name, classes):
    table = build(name).table
    assert (load_digits().target[table["original"]] == table["digit"]).all()
    for label, members in enumerate(classes):
        assert set(table["digit"][table["y"] == label]) == set(map(int, members))


@pytest.mark.parametrize("text", ["5", "3-3", "35-5", "53-1", "3-", "3-a", "land"])
def test_classes_that_are_not_apart_or_not_digits_are_refused(text):
    with pytest.raises(SettingError, match=f"classes={text}: must be two or more classes"):
        resolve("datasets", f"scene_digits+classes={text}")


@pytest.mark.parametrize(
    ("name", "share"), [("scene_digits", 0.23), ("scene_digits+class_share=0.15", 0.15), (MOJI, 0.5)]
)
def test_the_second_class_has_its_share_of_training_originals(name, share):
    originals = part(name).drop_duplicates("original")
    assert (originals["y"] == 1).sum() == pytest.approx(share * len(originals), abs=1)


def test_held_out_classes_are_thinned_only_where_the_test_is_like_training():
    assert part("scene_digits", "test")["y"].mean() == pytest.approx(0.5, abs=0.05)
    assert part("scene_digits+test=skewed", "test")["y"].mean() == pytest.approx(0.23, abs=0.005)


def test_all_scans_are_used_where_no_share_is_asked_for():
    assert (
        set(build("scene_digits+class_share=0").table["original"])
        == set(build(TEN).table["original"])
        == set(range(1797))
    )


def test_each_class_is_on_its_background_as_often_as_asked_for():
    (land, flooded), (stranded, water) = counts(part("scene_digits"))
    assert land == round(0.95 * (land + flooded))
    assert water == round(0.95 * (stranded + water))


def test_the_skew_of_moji_is_40_10_10_40():
    assert counts(part(MOJI)) / len(part(MOJI)) == pytest.approx(np.array([[0.4, 0.1], [0.1, 0.4]]), abs=0.002)


def test_of_ten_classes_the_even_ones_are_on_land():
    table = counts(part(TEN))
    own = table[np.arange(10), np.arange(10) % 2]
    assert (own == np.round(0.95 * table.sum(axis=1))).all()


def test_only_the_last_class_is_skewed_as_in_celeba():
    (land, flooded), (stranded, water) = counts(part("scene_digits+class_share=0.15+p_corr=0.94+skew=last"))
    assert abs(land - flooded) <= 1
    assert water == round(0.94 * (stranded + water))


def test_samples_on_the_other_background_are_drawn_anew():
    table = part("scene_digits+p_corr=0.5")
    assert 0 < table.groupby("original")["a"].nunique().eq(2).mean() < 1


@pytest.mark.parametrize("split", ["val", "test"])
def test_held_out_originals_are_on_each_background_once(split):
    table = part("scene_digits", split)
    assert (table.groupby("original")["a"].apply(sorted).map(tuple) == (0, 1)).all()


@pytest.mark.parametrize("split", ["val", "test"])
def test_a_skewed_test_is_like_training_and_shows_an_original_once(split):
    table = part("scene_digits+test=skewed", split)
    assert not table.duplicated("original").any()
    (land, flooded), (stranded, water) = counts(table)
    assert (land, water) == (round(0.95 * (land + flooded)), round(0.95 * (stranded + water)))


def test_training_originals_have_as_many_scenes_as_asked_for_all_different():
    table, dataset = part("scene_digits+copies=2"), build("scene_digits+copies=2")
    assert table["original"].value_counts().eq(2).all()
    images = dataset.inputs[dataset.rows("train")].reshape(len(table), -1)
    assert len(np.unique(images, axis=0)) == len(table)


def test_without_background_the_test_has_the_same_digits_on_black():
    full, dataset = build(), build("scene_digits+foreground=true")
    test, bare = dataset.rows("test"), dataset.rows("test_foreground")
    masks = dataset.masks[bare]
    assert np.array_equal(dataset.inputs[test], full.inputs[full.rows("test")])
    assert np.array_equal(masks, dataset.masks[test])
    assert (dataset.inputs[bare][~masks] == 0).all()
    assert np.array_equal(dataset.inputs[bare][masks], dataset.inputs[test][masks])
    columns = ["y", "a", "original", "digit"]
    assert np.array_equal(dataset.table[columns].to_numpy()[test], dataset.table[columns].to_numpy()[bare])


def test_training_on_foregrounds_leaves_the_test_as_it_is():
    full, bare = build(), build("scene_digits+train=foreground")
    held = full.rows("test")
    assert np.array_equal(full.inputs[held], bare.inputs[held])
    for rows in (full.rows("train"), full.rows("val")):
        mask = full.masks[rows]
        assert (bare.inputs[rows][~mask] == 0).all()
        assert np.array_equal(bare.inputs[rows][mask], full.inputs[rows][mask])


def test_digits_are_lighter_than_what_is_behind_them():
    dataset = build()
    gray = dataset.inputs.mean(axis=3)
    inside, outside = (np.where(mask, gray, np.nan) for mask in (dataset.masks, ~dataset.masks))
    assert (np.nanmean(inside, axis=(1, 2)) > np.nanmean(outside, axis=(1, 2)) + 30).mean() > 0.99


def test_a_scene_is_the_same_every_time():
    first, again = build(), scene_digits.build(resolve("datasets", "scene_digits").points[0].settings, Path())
    assert np.array_equal(first.inputs, again.inputs)
    assert first.table.equals(again.table)


def test_each_draw_has_a_split_and_scenes_of_its_own():
    first, second = (set(part(name, "test")["original"]) for name in ("scene_digits", "scene_digits+draw=1"))
    assert len(first & second) < 0.5 * len(first)
    assert not np.array_equal(build().inputs[:100], build("scene_digits+draw=1").inputs[:100])


def test_another_skew_changes_backgrounds_only():
    first, second = build(), build("scene_digits+p_corr=0.5")
    assert np.array_equal(first.masks, second.masks)
    assert first.table.drop(columns="a").equals(second.table.drop(columns="a"))
    same = (first.table["a"] == second.table["a"]).to_numpy()
    assert np.array_equal(first.inputs[same], second.inputs[same])
    mask = first.masks
    assert np.array_equal(first.inputs[mask], second.inputs[mask])


def test_an_untouched_digit_is_enlarged_about_the_middle(monkeypatch):
    monkeypatch.setattr(scenes, "MOVE", 0)
    monkeypatch.setattr(scenes, "TURN", 0)
    monkeypatch.setattr(scenes, "HEIGHT", 8)
    digit = load_digits().images[:3]
    ink, mask = scenes.render_digits(np.random.default_rng(0), digit, 10)
    assert ink[:, 1:9, 1:9] == pytest.approx(digit / 16)
    assert ink[:, [0, -1]].max() == ink[:, :, [0, -1]].max() == 0
    assert np.array_equal(mask, ink >= scenes.INK)


def test_a_digit_moves_by_no_more_than_it_may():
    dot = np.zeros((200, 8, 8))
    dot[:, 3:5, 3:5] = 16
    ink, _ = scenes.render_digits(np.random.default_rng(0), dot, 40)
    middle = (
        np.stack([(ink.sum(axis=axis) * np.arange(40)).sum(axis=1) / ink.sum(axis=(1, 2)) for axis in (1, 2)]) - 19.5
    )
    assert np.abs(middle).max() == pytest.approx(scenes.MOVE, rel=0.1)


def test_noise_has_no_preferred_value_and_neighbors_resemble_each_other():
    field = scenes.noise(np.random.default_rng(0), 500, 40)
    assert abs(field.mean()) < 0.1
    steps = np.abs(np.diff(field, axis=1)).mean()
    shuffled = np.abs(field[:, :20] - field[::-1, 20:]).mean()
    assert steps < 0.3 * shuffled


def test_water_is_bluer_than_land_on_average_and_has_crests():
    water = np.arange(400) % 2
    images = scenes.textures(np.random.default_rng(0), water, 40).astype(float)
    blueness = (images[..., 2] - images[..., 0]).mean(axis=(1, 2))
    assert blueness[water == 1].mean() > 20 > 0 > blueness[water == 0].mean()
    gray = images.mean(axis=3) - images.mean(axis=(1, 2, 3))[:, None, None]
    down, across = (np.abs(np.diff(gray, axis=axis)).mean(axis=(1, 2)) for axis in (1, 2))
    assert (down / across)[water == 1].mean() > 1.5
    assert (down / across)[water == 0].mean() == pytest.approx(1, abs=0.1)


def test_masks_are_kept_on_disk_for_each_point(tmp_path):
    points = {name: build(name) for name in ("scene_digits", "scene_digits+draw=1")}
    save_dataset(tmp_path, points)
    for name, point in points.items():
        masks = load_dataset(tmp_path, name).masks
        assert np.array_equal(masks, point.masks)
        assert isinstance(masks, np.memmap)
