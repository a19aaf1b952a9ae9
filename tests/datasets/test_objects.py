"""CIFAR, STL-10, Tiny ImageNet, ImageNet, its part and COCO: miniature folders in the published layouts, and the
faults found in them."""

import hashlib
import json
import pickle
from typing import ClassVar

import numpy as np
import pytest
from helpers import fails, read
from PIL import Image

from despur.datasets import cifar10, cifar100, coco30, stl10, tiny_imagenet
from despur.datasets.sources.pickled_tables import read_pickled_data
from despur.storage.store import load_dataset, save_dataset

RNG = np.random.default_rng


def kept(name, root):
    """A data set as it is after it was written and read."""
    save_dataset(root / "out" / name, {name: read(name, root)})
    return load_dataset(root / "out" / name, name)


def md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


def picture(path, side=70, seed=0, other=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(RNG(seed).integers(0, 256, (other or side, side, 3), dtype=np.uint8)).save(path, format="png")
    return path


# CIFAR


def cifar(root, monkeypatch, module=cifar10, folder="cifar-10-batches-py", label="labels"):
    """Two images in each file, with checksums of their own."""
    (root / folder).mkdir(parents=True)
    pixels, splits = {}, {}
    for split, files in module.SPLITS.items():
        splits[split] = {}
        for i, file in enumerate(files):
            pixels[file] = RNG(len(pixels)).integers(0, 256, (2, 3072), dtype=np.uint8)
            content = {"data": pixels[file], label: [i % 10, 9], "filenames": ["a", "b"]}
            (root / folder / file).write_bytes(pickle.dumps(content, protocol=2))
            splits[split][file] = md5(root / folder / file)
    name, _, key = module.META
    (root / folder / name).write_bytes(pickle.dumps({key: [f"class {i}" for i in range(10)]}))
    monkeypatch.setattr(module, "SPLITS", splits)
    monkeypatch.setattr(module, "META", (name, md5(root / folder / name), key))
    return pixels


def test_cifar10_is_read_as_torchvision_reads_it(tmp_path, monkeypatch):
    pixels = cifar(tmp_path, monkeypatch)
    data = kept("cifar10", tmp_path)
    assert data.inputs.shape == (12, 32, 32, 3) and data.inputs.dtype == np.uint8
    assert data.table["split"].tolist() == ["train"] * 10 + ["test"] * 2
    assert data.y.tolist() == [0, 9, 1, 9, 2, 9, 3, 9, 4, 9, 0, 9]
    for i, file in enumerate(pixels):  # as its documentation says: red rows first, then green, then blue
        for j in range(2):
            assert (data.inputs[2 * i + j][3, 5] == pixels[file][j].reshape(3, 1024)[:, 3 * 32 + 5]).all()
    assert data.about["classes"][3] == "class 3" and data.groups.sum() == 12 and data.splits == ["train", "test"]


def test_cifar100_has_fine_labels(tmp_path, monkeypatch):
    cifar(tmp_path, monkeypatch, cifar100, "cifar-100-python", "fine_labels")
    assert kept("cifar100", tmp_path).table["split"].tolist() == ["train"] * 2 + ["test"] * 2


def test_only_the_published_pickles_are_loaded(tmp_path, monkeypatch):
    cifar(tmp_path, monkeypatch)
    (tmp_path / "cifar-10-batches-py/data_batch_3").write_bytes(
        b"cos\nsystem\n(S'touch " + str(tmp_path / "evil").encode() + b"'\ntR."
    )
    fails("cifar10", tmp_path, "data_batch_3", "checksum", "cifar-10-python.tar.gz", "DESPUR_DATA_ROOT")
    assert not (tmp_path / "evil").exists()
    fails("cifar100", tmp_path, "cifar-100-python", "not there", "DESPUR_DATA_ROOT")


def test_a_pickle_with_the_right_checksum_runs_no_code_either(tmp_path, monkeypatch):
    cifar(tmp_path, monkeypatch)
    hostile = tmp_path / "cifar-10-batches-py/data_batch_3"
    hostile.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "evil").encode() + b"'\ntR.")
    monkeypatch.setitem(cifar10.SPLITS["train"], "data_batch_3", md5(hostile))
    fails("cifar10", tmp_path, "data_batch_3 cannot be read as a pickle of arrays", "it needs os.system")
    assert not (tmp_path / "evil").exists()


class OfPython2(pickle._Pickler):
    """Writes texts, bytes and the places of numpy's functions as Python 2, which made the published files."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def save_text(self, text):
        content = text if isinstance(text, bytes) else text.encode()
        self.write(pickle.BINSTRING + len(content).to_bytes(4, "little") + content)

    def save_global(self, item, name=None):
        words = {"_reconstruct": "numpy.core.multiarray"}.get(item.__name__, item.__module__)
        self.write(pickle.GLOBAL + f"{words}\n{item.__name__}\n".encode())

    dispatch |= {bytes: save_text, str: save_text, type: save_global, type(len): save_global}


def test_pickles_of_python_2_are_read(tmp_path):
    content = {"data": RNG(0).integers(0, 256, (2, 3072), dtype=np.uint8), "labels": [1, 2], "filenames": ["a", "b"]}
    with (tmp_path / "batch").open("wb") as file:
        OfPython2(file, protocol=2).dump(content)
    assert b"_codecs" not in (tmp_path / "batch").read_bytes()
    found = read_pickled_data(tmp_path / "batch", "latin1")
    assert found.keys() == content.keys() and np.array_equal(found["data"], content["data"])
    assert found["data"].dtype == np.uint8 and (found["labels"], found["filenames"]) == ([1, 2], ["a", "b"])


# STL-10


def stl(root, monkeypatch, labels=(1, 10, 3)):
    folder = root / "stl10_binary"
    folder.mkdir(exist_ok=True)
    counts = {"train": 3, "unlabeled": 4, "test": 2}
    pixels = {part: RNG(n).integers(0, 256, (n, 3, 96, 96), dtype=np.uint8) for part, n in counts.items()}
    for part, values in pixels.items():
        (folder / f"{part}_X.bin").write_bytes(values.tobytes())
    (folder / "train_y.bin").write_bytes(bytes(labels))
    (folder / "test_y.bin").write_bytes(bytes((2, 2)))
    (folder / "class_names.txt").write_text("\n".join("abcdefghij"))
    monkeypatch.setattr(stl10, "MD5", {path.name: md5(path) for path in folder.glob("*.bin")})
    return pixels


def test_stl10_has_labelled_and_unlabelled_training_images(tmp_path, monkeypatch):
    pixels = stl(tmp_path, monkeypatch)
    data = kept("stl10+size=96", tmp_path)
    assert data.table["split"].tolist() == ["train"] * 3 + ["unlabelled"] * 4 + ["test"] * 2
    assert data.y.tolist() == [0, 9, 2, -1, -1, -1, -1, 1, 1]
    assert (data.inputs[3] == pixels["unlabeled"][0].transpose(2, 1, 0)).all()  # columns first, as its page says
    assert not data.groups[data.rows("unlabelled")].any() and data.groups.sum() == 5
    small = kept("stl10", tmp_path)
    assert small.inputs.shape == (9, 64, 64, 3)
    assert abs(small.inputs[8].astype(float).mean() - pixels["test"][1].mean()) < 2


def test_stl10_with_too_few_labels_is_refused(tmp_path, monkeypatch):
    stl(tmp_path, monkeypatch, labels=(1, 2))
    fails("stl10", tmp_path, "3 train images", "2 labels")


def test_stl10_without_a_name_for_each_class_is_refused(tmp_path, monkeypatch):
    stl(tmp_path, monkeypatch)
    (tmp_path / "stl10_binary/class_names.txt").write_text("a\nb\n")
    fails("stl10", tmp_path, "class_names.txt has 2 names", "10 classes")
    (tmp_path / "stl10_binary/class_names.txt").write_bytes(b"\xff\xfe")
    fails("stl10", tmp_path, "class_names.txt cannot be read as text", "stl10_binary.tar.gz")


# Tiny ImageNet

SYNSETS = ["n01443537", "n02123045", "n01629819"]


def tiny(root, monkeypatch, layout):
    monkeypatch.setattr(tiny_imagenet, "CLASSES", 3)
    folder = root / "tiny-imagenet-200"
    for i, synset in enumerate(SYNSETS):
        for j in range(2):
            picture(folder / f"train/{synset}/images/{synset}_{j}.JPEG", 64, 2 * i + j)
        (folder / f"train/{synset}/{synset}_boxes.txt").write_text("")
        own = {"published": "images", "folders": synset, "nested": f"{synset}/images", "flat": "images"}[layout]
        picture(folder / f"val/{own}/val_{2 - i}.JPEG", 64, 10 + i)
    (folder / "wnids.txt").write_text("\n".join(SYNSETS))
    (folder / "words.txt").write_text(
        f"{SYNSETS[0]}\tgoldfish, Carassius auratus\n{SYNSETS[1]}\ttabby, tabby cat\n{SYNSETS[2]}\teft\nn0\tother\n"
    )
    if layout == "published":
        (folder / "val/val_annotations.txt").write_text(
            "".join(f"val_{2 - i}.JPEG\t{s}\t0\t0\t9\t9\n" for i, s in enumerate(SYNSETS))
        )
    return folder


@pytest.mark.parametrize("layout", ["published", "folders", "nested"])
def test_tiny_imagenet_is_tested_on_validation_images_in_either_layout(tmp_path, monkeypatch, layout):
    folder = tiny(tmp_path, monkeypatch, layout)
    data = kept("tiny_imagenet", tmp_path)
    assert data.table["split"].tolist() == ["train"] * 6 + ["test"] * 3
    assert data.y[:6].tolist() == [0, 0, 1, 1, 2, 2] and sorted(data.y[6:]) == [0, 1, 2]
    assert data.about["classes"] == ["goldfish, Carassius auratus", "tabby, tabby cat", "eft"]
    for row in data.rows("test"):
        i = data.y[row]
        with Image.open(next(folder.rglob(f"val_{2 - i}.JPEG"))) as image:
            assert (np.asarray(image) == data.inputs[row]).all()


def test_a_flat_validation_folder_is_an_error_that_says_so(tmp_path, monkeypatch):
    tiny(tmp_path, monkeypatch, "flat")
    fails("tiny_imagenet", tmp_path, "val is flat", "val_annotations.txt", "one class", "tiny-imagenet-200.zip")


def test_an_image_without_annotation_is_refused(tmp_path, monkeypatch):
    folder = tiny(tmp_path, monkeypatch, "published")
    picture(folder / "val/images/val_77.JPEG", 64)
    fails("tiny_imagenet", tmp_path, "val_77.JPEG", "no class")


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("wnids.txt", "\n".join(SYNSETS[:2]), "lists 2 synsets"),
        ("wnids.txt", "", "is empty"),
        ("wnids.txt", "<html>404</html>", "no synset"),
        ("words.txt", "", "has no name for n01443537"),
        ("words.txt", "<html>404</html>", "line 1"),
        ("val/val_annotations.txt", "val_0.JPEG\tn0144", "line 1"),
    ],
)
def test_a_changed_list_of_tiny_imagenet_is_refused_by_name(tmp_path, monkeypatch, name, content, word):
    path = tiny(tmp_path, monkeypatch, "published") / name
    path.write_text(content)
    fails("tiny_imagenet", tmp_path, str(path), word, "tiny-imagenet-200.zip")


# ImageNet


def imagenet(root, folder="imagenet"):
    for i, synset in enumerate(SYNSETS):
        for j in range(3):
            picture(root / folder / f"train/{synset}/{synset}_{j}.JPEG", 50 + i, 3 * i + j, other=60)
        picture(root / folder / f"val/{synset}/ILSVRC2012_val_{i}.JPEG", 40, i)
    return root / folder


def lists(root, one, ten):
    (root / "imagenet_subsets").mkdir(exist_ok=True)
    (root / "imagenet_subsets/1percent.txt").write_text("\n".join(one))
    (root / "imagenet_subsets/10percent.txt").write_text("\n".join(ten))


@pytest.mark.parametrize("folder", ["imagenet", "ILSVRC2012", "ILSVRC/Data/CLS-LOC"])
def test_imagenet_is_read_from_folders_of_classes(tmp_path, folder):
    imagenet(tmp_path, folder)
    data = kept("imagenet+labels=drawn+size=32", tmp_path)
    assert data.about["classes"] == sorted(SYNSETS) and "label_rank" not in data.table
    assert data.table["split"].tolist() == ["train"] * 9 + ["test"] * 3 and data.y.tolist() == [
        0,
        0,
        0,
        1,
        1,
        1,
        2,
        2,
        2,
        0,
        1,
        2,
    ]
    with Image.open(tmp_path / folder / f"val/{sorted(SYNSETS)[0]}/ILSVRC2012_val_0.JPEG") as image:
        expected = np.asarray(image.resize((37, 37), Image.Resampling.BILINEAR))[2:34, 2:34]
    assert (data.inputs[9] == expected).all()


def test_what_systems_leave_among_images_is_no_class_and_no_image(tmp_path):
    folder = imagenet(tmp_path)
    before = read("imagenet+labels=drawn+size=32", tmp_path)
    for name in ("train/__MACOSX", "train/@eaDir", "val/.ipynb_checkpoints"):
        picture(folder / name / "a.JPEG")
    for name in (f"train/{SYNSETS[0]}/._{SYNSETS[0]}_0.JPEG", f"val/{SYNSETS[0]}/._a.JPEG", "val/._b.JPEG"):
        (folder / name).write_bytes(b"\x00\x05\x16\x07")
    after = read("imagenet+labels=drawn+size=32", tmp_path)
    assert after.about["classes"] == before.about["classes"] and after.table.equals(before.table)


def test_imagenet_s_labels_are_those_of_the_published_lists(tmp_path):
    imagenet(tmp_path)
    one, ten = [f"{SYNSETS[1]}_2.JPEG"], [f"{SYNSETS[0]}_1.JPEG", f"{SYNSETS[1]}_2.JPEG", f"{SYNSETS[2]}_0.JPEG"]
    lists(tmp_path, one, ten)
    rank = read("imagenet+size=32", tmp_path).table["label_rank"].to_numpy()
    order = sorted(SYNSETS)
    row = {name: 3 * order.index(name.split("_")[0]) + int(name.split("_")[1][0]) for name in ten}
    assert rank[row[one[0]]] == 0 and sorted(rank[list(row.values())]) == [0, 1, 2]
    assert (rank[np.setdiff1d(np.arange(9), list(row.values()))] == 9).all() and (rank[9:] == -1).all()
    lists(tmp_path, ["n0_0.JPEG"], ten)
    fails("imagenet+size=32", tmp_path, "1percent.txt", "n0_0.JPEG", "labels=drawn")
    lists(tmp_path, one, [])
    fails("imagenet+size=32", tmp_path, "10percent.txt is empty", "labels=drawn")


def test_imagenet_without_lists_or_with_a_flat_folder_says_what_to_do(tmp_path):
    folder = imagenet(tmp_path)
    fails("imagenet", tmp_path, "imagenet_subsets/1percent.txt", "labels=drawn")
    picture(folder / "val/ILSVRC2012_val_00000001.JPEG", 40)
    fails("imagenet", tmp_path, "val is flat", "folder")


def flatten(folder, solution):
    """Validation images as Kaggle has them, and its list."""
    lines = ["ImageId,PredictionString"]
    for path in sorted((folder / "val").glob("*/*")):
        lines.append(f"{path.stem},{path.parent.name} 1 2 30 40 {path.parent.name} 5 6 7 8 ")
        path.rename(folder / "val" / path.name)
    for synset in SYNSETS:
        (folder / "val" / synset).rmdir()
    solution.write_text("\n".join(lines))


@pytest.mark.parametrize("solution", ["LOC_val_solution.csv", "ILSVRC/LOC_val_solution.csv"])
def test_validation_images_without_folders_are_of_the_classes_that_kaggle_lists(tmp_path, solution):
    folder = imagenet(tmp_path, "ILSVRC/Data/CLS-LOC")
    before = read("imagenet+labels=drawn+size=32", tmp_path)
    pixels = before.inputs[0:12]
    flatten(folder, tmp_path / solution)
    after = read("imagenet+labels=drawn+size=32", tmp_path)
    assert after.table.equals(before.table) and (after.inputs[0:12] == pixels).all()
    (tmp_path / "mine.txt").write_text(f"{SYNSETS[1]}\n{SYNSETS[0]}\n")
    assert len(read("imagenet100+size=32+synsets=mine.txt", tmp_path).table) == 8
    picture(folder / "val/ILSVRC2012_val_9.JPEG")
    fails("imagenet", tmp_path, solution, "no class of", "ILSVRC2012_val_9.JPEG")


def test_training_and_validation_images_may_lie_apart(tmp_path):
    folder = imagenet(tmp_path, "ILSVRC2012")
    before = read("imagenet+labels=drawn+size=32", tmp_path)
    (tmp_path / "imagenet").mkdir()
    (folder / "val").rename(tmp_path / "imagenet/val")
    assert read("imagenet+labels=drawn+size=32", tmp_path).table.equals(before.table)


def test_imagenet100_takes_the_listed_classes_in_their_order(tmp_path):
    imagenet(tmp_path)
    (tmp_path / "mine.txt").write_text(f"{SYNSETS[1]}\n{SYNSETS[0]}\n")
    data = kept("imagenet100+size=32+synsets=mine.txt", tmp_path)
    assert data.about["classes"] == [SYNSETS[1], SYNSETS[0]] and data.y.tolist() == [0, 0, 0, 1, 1, 1, 0, 1]
    fails("imagenet100", tmp_path, "imagenet100.txt", "HobbitLong")
    (tmp_path / "imagenet100.txt").write_text("\n".join(SYNSETS))
    fails("imagenet100", tmp_path, "imagenet100.txt lists 3 synsets; expected: 100", "HobbitLong")
    (tmp_path / "mine.txt").write_text(f"{SYNSETS[1]}\nn09999999\n")
    fails("imagenet100+synsets=mine.txt", tmp_path, "n09999999", "no images")
    (tmp_path / "mine.txt").write_text("tabby cat")
    fails("imagenet100+synsets=mine.txt", tmp_path, "tabby", "synset")


# COCO


def coco(root):
    """Of four training images, two hold a single object of the 30 categories."""
    names = {1: "person", 2: "zebra", 3: "kite", 4: "dog", **dict(enumerate(coco30.CATEGORIES, 5))}
    boxes = {
        "train": [
            (1, 2, [0, 0, 20, 40]),
            (2, 1, [0, 0, 9, 9]),
            (2, 3, [9, 9, 9, 9]),
            (3, 3, [0, 0, 9, 9]),
            (4, 4, [30, 30, 0.1, 0.1]),
        ],
        "val": [(7, 1, [10, 20, 20, 20])],
    }
    for part, marks in boxes.items():
        ids = sorted({image for image, _, _ in marks})
        for image in ids:
            picture(root / f"coco/{part}2017/{image:012d}.jpg", 40, image, other=80)
        content = {
            "categories": [{"id": i, "name": name} for i, name in names.items()],
            "images": [{"id": i, "file_name": f"{i:012d}.jpg", "width": 40, "height": 80} for i in ids],
            "annotations": [{"image_id": i, "category_id": c, "bbox": box} for i, c, box in marks],
        }
        (root / "coco/annotations").mkdir(parents=True, exist_ok=True)
        (root / f"coco/annotations/instances_{part}2017.json").write_text(json.dumps(content))


def test_coco_keeps_images_of_a_single_object_and_their_boxes(tmp_path):
    coco(tmp_path)
    data = kept("coco30+size=16", tmp_path)
    assert len(coco30.CATEGORIES) == data.groups.shape[1] == 30
    assert data.table["split"].tolist() == ["train", "train", "test", "test_foreground"]
    assert [data.about["classes"][y] for y in data.y] == ["zebra", "dog", "person", "person"]
    assert data.table["original"].nunique() == 3
    zebra, dog, person, bare = data.masks
    assert zebra[:8, :8].all() and zebra.sum() == 64  # half of each side, resized to 16 x 16
    assert dog.sum() == 1 and dog[6, 12]  # a box between pixel centers is still one pixel
    assert person[4:8, 4:12].all() and person.sum() == 32 and (bare == person).all()
    assert (data.inputs[3] == np.where(person[..., None], data.inputs[2], 0)).all()
    assert data.inputs[2][~person].any() and data.inputs[0][~zebra].any()


def test_training_on_foregrounds_changes_training_images_alone(tmp_path):
    coco(tmp_path)
    full, bare = (kept(f"coco30+size=16{extra}", tmp_path) for extra in ("", "+train=foreground"))
    assert (
        not bare.inputs[0][~bare.masks[0]].any()
        and (bare.inputs[0][bare.masks[0]] == full.inputs[0][full.masks[0]]).all()
    )
    assert (bare.inputs[2:] == full.inputs[2:]).all()


def test_annotations_of_another_kind_are_refused(tmp_path):
    coco(tmp_path)
    path = tmp_path / "coco/annotations/instances_train2017.json"
    path.write_text(path.read_text().replace("giraffe", "giraff"))
    fails("coco30", tmp_path, f"{path} has no category giraffe", "cocodataset.org")
    path.write_text('{"images": []}')
    fails("coco30", tmp_path, str(path), "cocodataset.org")
    fails("coco30", tmp_path / "elsewhere", "instances_train2017.json", "DESPUR_DATA_ROOT")
