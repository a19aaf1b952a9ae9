"""Small made-up raw files in the published form of every data set, their checksums and counts."""

import gzip
import hashlib
import json
import pickle
import struct
from itertools import cycle, product
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
from PIL import Image

from despur.datasets import celeba, cifar10, cifar100, imagenet_bg, metashift, multinli, nicopp, spawrious, urbancars
from despur.datasets.bios import PROFESSIONS
from despur.datasets.civilcomments import IDENTITIES
from despur.datasets.coco30 import CATEGORIES
from despur.specs.declarations import list_components, read_declarations

RNG = np.random.default_rng(0)
SPLITS = ("train", "val", "test")
GROUPS = list(product((0, 1), (0, 1)))  # class, attribute
WORDS = ["good", "bad", "kind", "rude", "people", "they", "say", "it"]
SYNSETS = [f"n9{number:07d}" for number in range(40)]  # of ImageNet
TINY_SYNSETS = [f"n8{number:07d}" for number in range(4)]  # of Tiny ImageNet


def write_all(root: Path) -> dict[str, str]:
    """Write the raw files of every data set below ``root``; returns what replaces published checksums, counts and
    sizes, as lines of Python by data set."""
    replaced: dict[str, str] = {}
    for write in (write_mnist, write_cifar10, write_cifar100, write_stl10):
        replaced |= write(root)
    for other in (
        *(write_waterbirds, write_celeba, write_civilcomments, write_later_cifar, write_fmow, write_amazon),
        *(write_imagenet, write_breeds, write_tiny_imagenet, write_coco),
        *(write_moji, write_bios, write_hate_speech, write_imsitu),
        *(write_multinli, write_metashift, write_nicopp, write_imagenet_bg),
        *(write_spawrious, write_urbancars, write_adult, write_compas),
    ):
        other(root)
    breeds = {"entity13": 2, "entity30": 4, "living17": 4, "nonliving26": 4}
    replaced |= {name: f"build = partial(build, classes={count})\n" for name, count in breeds.items()}
    replaced |= {"imagenet100": "CLASSES = 8\n", "tiny_imagenet": "CLASSES = 4\n", "spawrious": "PER_GROUP = 10\n"}
    sized = [name for name in list_components("datasets") if "PUBLISHED_SIZES" in read_declarations("datasets", name)]
    return replaced | {name: replaced.get(name, "") + "PUBLISHED_SIZES = {}\n" for name in sized}


def write_image(path: Path, y: int, a: int, width: int = 40, height: int = 40) -> None:
    """A noisy image whose red tells the class, and whose blue the attribute."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = RNG.integers(0, 100, (height, width, 3), dtype=np.uint8)
    pixels[..., 0] += np.uint8(100 * (y % 2))
    pixels[..., 2] += np.uint8(100 * (a % 2))
    Image.fromarray(pixels).save(path, format="PNG" if path.suffix == ".png" else "JPEG")


def write_text(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]))


def write_table(path: Path, rows: list[dict[str, object]], separator: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False, sep=separator)


def draw_samples(sizes: dict[str, int], aligned: float = 0.8) -> list[tuple[str, int, int]]:
    """Split, class and attribute of samples: of every split all four groups, in training mostly the aligned ones."""
    found = []
    for split, count in sizes.items():
        for number in range(count):
            y, a = GROUPS[number % 4]
            follows = split == "train" and number >= 12 and RNG.random() < aligned
            found.append((split, y, y if follows else a))
    return found


def draw_sentence() -> str:
    return " ".join(RNG.choice(WORDS, 6))


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


# cnc


def write_mnist(root: Path) -> dict[str, str]:
    """The four files of MNIST, with fewer digits: a digit's number tells the rows that are inked. cmnist_3v5, which
    states its sizes, gets smaller ones."""
    sums, folder = {}, root / "mnist"
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 3000), ("t10k", 300)):
        digits = RNG.permutation(np.arange(count) % 10).astype(np.uint8)
        images = RNG.integers(0, 60, (count, 28, 28), dtype=np.uint8)
        for row in range(6):
            images[np.arange(count), 4 + 2 * digits + row % 3, 6 + 3 * row] = 255
        for kind, array in (("images-idx3", images), ("labels-idx1", digits)):
            head = struct.pack(f">4B{array.ndim}i", 0, 0, 8, array.ndim, *array.shape)
            content = gzip.compress(head + array.tobytes(), mtime=0)
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(content)
            sums[f"{part}-{kind}-ubyte.gz"] = hashlib.sha256(content).hexdigest()
    sizes = "SIZES = {'train': 240, 'val': 80, 'test_id': 80, 'test_ood': 120}"
    labels = "LABELS = {'1%': 12, '10%': 40, '100%': 240}"
    return {"cmnist": f"SHA256 = {sums}\n", "cmnist_3v5": f"{sizes}\n{labels}\n"}


def write_waterbirds(root: Path) -> None:
    folder, rows = root / "waterbird_complete95_forest2water2", []
    for number, (split, y, a) in enumerate(draw_samples({"train": 120, "val": 40, "test": 40})):
        name = f"{y:03d}.bird/{number}.jpg"
        write_image(folder / name, y, a)
        rows.append({"img_id": number, "img_filename": name, "y": y, "split": SPLITS.index(split), "place": a})
    write_table(folder / "metadata.csv", rows)


def write_celeba(root: Path) -> None:
    folder = root / "celeba"
    samples = draw_samples({"train": 120, "val": 40, "test": 40})
    attributes, splits = [str(len(samples)), "Blond_Hair Male "], []
    for number, (split, y, a) in enumerate(samples):
        name = f"{number + 1:06d}.jpg"
        write_image(folder / "img_align_celeba" / name, y, a, *celeba.SIDES)
        attributes.append(f"{name} {2 * y - 1:2d} {2 * a - 1:2d}")
        splits.append(f"{name} {SPLITS.index(split)}")
    write_text(folder / "list_attr_celeba.txt", attributes)
    write_text(folder / "list_eval_partition.txt", splits)


def write_civilcomments(root: Path) -> None:
    rows = [
        {
            **{"id": number, "comment_text": draw_sentence(), "split": split, "toxicity": 0.9 * y},
            **{name: float(a and (number // 4) % 8 == i) for i, name in enumerate(IDENTITIES)},
        }
        for number, (split, y, a) in enumerate(draw_samples({"train": 128, "val": 64, "test": 64}))
    ]
    write_table(root / "civilcomments_v1.0/all_data_with_identities.csv", rows)


# adapters


def write_cifar10(root: Path) -> dict[str, str]:
    return write_cifar(root / "cifar-10-batches-py", "cifar10", cifar10, "labels", 10)


def write_cifar(folder: Path, name: str, module: ModuleType, label: str, classes: int) -> dict[str, str]:
    """The pickled batches of CIFAR, 100 images each."""
    folder.mkdir(parents=True, exist_ok=True)
    meta, _, key = module.META
    (folder / meta).write_bytes(pickle.dumps({key: [f"class {y}" for y in range(classes)]}, protocol=2))
    splits: dict[str, dict[str, str]] = {}
    for split, files in module.SPLITS.items():
        for file in files:
            y = np.arange(100) % classes
            content = {"data": draw_pixels(y).transpose(0, 3, 1, 2).reshape(100, 3072), label: y.tolist()}
            (folder / file).write_bytes(pickle.dumps(content, protocol=2))
            splits.setdefault(split, {})[file] = md5(folder / file)
    return {name: f"SPLITS = {splits}\nMETA = {(meta, md5(folder / meta), key)}\n"}


def draw_pixels(y: np.ndarray, side: int = 32) -> np.ndarray:
    """Images (N,side,side,3) whose brightness tells the class."""
    noise = RNG.integers(0, 100, (len(y), side, side, 3))
    return (noise + (y % 10)[:, None, None, None] * 15).astype(np.uint8)


def write_later_cifar(root: Path) -> None:
    """CIFAR-10.1 and CIFAR-10.2."""
    for folder in ("cifar-10.1", "cifar-10.2"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    y = np.arange(80) % 10
    np.save(root / "cifar-10.1/cifar10.1_v6_data.npy", draw_pixels(y))
    np.save(root / "cifar-10.1/cifar10.1_v6_labels.npy", y.astype(np.int32))
    for part in ("train", "test"):
        np.savez(root / f"cifar-10.2/cifar102_{part}.npz", images=draw_pixels(y), labels=y)


def write_fmow(root: Path) -> None:
    folder, rows = root / "fmow_v1.1", []
    year = {"train": 2010, "val": 2014, "test": 2017}
    for number, (split, y, a) in enumerate(draw_samples({"train": 80, "val": 32, "test": 32})):
        write_image(folder / f"images/rgb_img_{number}.png", y, a)
        place = {"category": ("airport", "lake_or_pond")[y], "country_code": ("USA", "FRA")[a]}
        rows.append({"split": split, **place, "timestamp": f"{year[split]}-01-01T00:00:00Z"})
    write_table(folder / "rgb_metadata.csv", rows)
    regions = [{"alpha-3": "USA", "region": "Americas"}, {"alpha-3": "FRA", "region": "Europe"}]
    write_table(folder / "country_code_mapping.csv", regions)


def write_multinli(root: Path) -> None:
    rows = [
        {"": number, "gold_label": (y + number // 4) % 3, "sentence2_has_negation": a, "split": SPLITS.index(split)}
        for number, (split, y, a) in enumerate(draw_samples({"train": 120, "val": 48, "test": 48}))
    ]
    write_table(root / "multinli/data/metadata_random.csv", rows)
    lines = [
        json.dumps({"gold_label": label, "sentence1": draw_sentence(), "sentence2": draw_sentence()})
        for label in (multinli.CLASSES[row["gold_label"]] for row in rows)
    ]
    spans = {"train": (0, 100), "dev_matched": (100, 150), "dev_mismatched": (150, len(lines))}
    for part, (first, last) in spans.items():
        write_text(root / f"multinli_1.0/multinli_1.0_{part}.jsonl", lines[first:last])


def write_metashift(root: Path) -> None:
    for pattern, (y, a) in zip(metashift.RAW, metashift.GROUPS, strict=True):
        for number in range(40):
            write_image(root / pattern.partition("/**")[0] / f"{y}{a}{number}.jpg", y, a)


def write_nicopp(root: Path) -> None:
    classes = ("cat", "hot air balloon")
    write_text(root / nicopp.RAW[0].partition(" |")[0], [json.dumps({name: y for y, name in enumerate(classes)})])
    for (a, pattern), (y, name) in product(enumerate(nicopp.RAW[1:]), enumerate(classes)):
        for number in range(80):
            write_image(root / pattern.partition("/**")[0] / name / f"{number}.jpg", y, a)


def write_imagenet_bg(root: Path) -> None:
    for pattern, (y, name) in product(imagenet_bg.RAW, enumerate(imagenet_bg.CLASSES)):
        folder = pattern.partition("/*")[0]
        photo = "ILSVRC2012_val_" if "bg_challenge" in folder else f"n000000{y:02d}_{len(folder)}"
        for number in range(20 if folder.endswith("train") else 5):
            write_image(root / folder / f"{y:02d}_{name}" / f"{photo}{y}{number}.JPEG", y, 0)


def write_spawrious(root: Path) -> None:
    breeds_and_places = product(enumerate(spawrious.BREEDS), enumerate(spawrious.PLACES))
    for environment, ((y, breed), (a, place)) in product((0, 1), breeds_and_places):
        for number in range(10):
            write_image(root / f"spawrious224/{environment}/{place}/{breed}/{number}.png", y, a)


def write_urbancars(root: Path) -> None:
    for pattern, (split, y, background, thing) in zip(urbancars.RAW, urbancars.MEANINGS, strict=True):
        for number in range(20 if split == "train" else 6):
            write_image(root / pattern.partition("/**")[0] / f"{number}.jpg", y, background + thing)


def write_adult(root: Path) -> None:
    for part, count, dot in (("data", 120, ""), ("test", 60, ".")):
        lines = [
            f"{30 + RNG.integers(30)}, Private, {number}, HS-grad, 9, Divorced, Sales, Husband, White, "
            f"{('Female', 'Male')[a]}, {100 * y}, 0, 40, Cuba, {('<=50K', '>50K')[y]}{dot}"
            for number, (y, a) in zip(range(count), cycle(GROUPS), strict=False)
        ]
        write_text(root / f"adult/adult.{part}", [*(["|1x3 Cross validator"] if dot else []), *lines])


def write_compas(root: Path) -> None:
    rows = [
        {
            **{"age": 30 + number % 30, "age_cat": "25 - 45", "sex": ("Female", "Male")[number % 2]},
            **{"race": ("African-American", "Caucasian")[a], "priors_count": 5 * y, "c_charge_degree": "F"},
            **dict.fromkeys(("juv_fel_count", "juv_misd_count", "juv_other_count"), 0),
            **{"days_b_screening_arrest": -1, "is_recid": y, "score_text": "Low", "two_year_recid": y},
        }
        for number, (y, a) in zip(range(160), cycle(GROUPS), strict=False)
    ]
    write_table(root / "compas/compas-scores-two-years.csv", rows)


def write_amazon(root: Path) -> None:
    folder, samples = root / "amazon_v2.1", draw_samples({"train": 96, "val": 48, "test": 48})
    reviews = [
        {"reviewText": draw_sentence(), "overall": (1.0, 5.0)[y], "category": ("Books", "Toys")[a]}
        for _, y, a in samples
    ]
    write_table(folder / "reviews.csv", reviews)
    split = [{"split": SPLITS.index(split)} for split, *_ in samples]
    write_table(folder / "splits/category_subpopulation.csv", split)


def write_breeds(root: Path) -> None:
    """A hierarchy of five levels: below living and below other things one node, two nodes and four nodes, each of the
    four with five of ImageNet's classes."""
    edges, names = ["n00001740 nthing"], ["nthing\tthing"]
    for side, top in enumerate(("n00004258", "n00021939")):
        nodes = [f"nthird{side}", *(f"nfourth{side}{i}" for i in range(2)), *(f"nfifth{side}{i}" for i in range(4))]
        above = ["nthing", top, nodes[0], nodes[0], nodes[1], nodes[1], nodes[2], nodes[2]]
        edges += [f"{parent} {child}" for parent, child in zip(above, [top, *nodes], strict=True)]
        edges += [f"{nodes[3 + i // 5]} {synset}" for i, synset in enumerate(SYNSETS[20 * side : 20 * side + 20])]
        names += [f"{node}\t{node[1:]}" for node in (top, *nodes)]
    write_text(root / "breeds/class_hierarchy.txt", edges)
    write_text(root / "breeds/node_names.txt", names)
    leaves = [[i, synset, f"leaf {i}"] for i, synset in enumerate(SYNSETS)]
    write_text(root / "breeds/dataset_class_info.json", [json.dumps(leaves)])


# icl_msr


def write_imagenet(root: Path) -> None:
    train = []
    for y, synset in enumerate(SYNSETS):
        for number in range(8):
            train.append(f"{synset}_{number}.JPEG")
            write_image(root / f"imagenet/train/{synset}/{train[-1]}", y, number)
        for number in range(2):
            write_image(root / f"imagenet/val/{synset}/ILSVRC2012_val_{y}_{number}.JPEG", y, number)
    write_text(root / "imagenet_subsets/1percent.txt", train[::8])
    write_text(root / "imagenet_subsets/10percent.txt", train[::4])
    write_text(root / "imagenet100.txt", SYNSETS[:8])


def write_cifar100(root: Path) -> dict[str, str]:
    return write_cifar(root / "cifar-100-python", "cifar100", cifar100, "fine_labels", 100)


def write_stl10(root: Path) -> dict[str, str]:
    folder = root / "stl10_binary"
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 80), ("unlabeled", 40), ("test", 40)):
        y = np.arange(count) % 10
        (folder / f"{part}_X.bin").write_bytes(draw_pixels(y, 96).transpose(0, 3, 2, 1).tobytes())
        if part != "unlabeled":
            (folder / f"{part}_y.bin").write_bytes(bytes((y + 1).tolist()))
    write_text(folder / "class_names.txt", [f"class_{y}" for y in range(10)])
    return {"stl10": f"MD5 = { ({path.name: md5(path) for path in sorted(folder.glob('*.bin'))}) }\n"}


def write_tiny_imagenet(root: Path) -> None:
    folder, labels = root / "tiny-imagenet-200", []
    for y, synset in enumerate(TINY_SYNSETS):
        for number in range(20):
            write_image(folder / f"train/{synset}/images/{synset}_{number}.JPEG", y, number, 64, 64)
        for number in range(6):
            name = f"val_{6 * y + number}.JPEG"
            write_image(folder / "val/images" / name, y, number, 64, 64)
            labels.append(f"{name}\t{synset}\t0\t0\t9\t9")
    write_text(folder / "val/val_annotations.txt", labels)
    write_text(folder / "wnids.txt", TINY_SYNSETS)
    write_text(folder / "words.txt", [f"{synset}\tthing {y}" for y, synset in enumerate(TINY_SYNSETS)])


def write_coco(root: Path) -> None:
    categories = [{"id": y + 1, "name": name} for y, name in enumerate(CATEGORIES)]
    for part, count in (("train", 90), ("val", 60)):
        images, annotations = [], []
        for number in range(count):
            name = f"{number:012d}.jpg"
            write_image(root / f"coco/{part}2017" / name, number, 0, 64, 48)
            images.append({"id": number, "file_name": name, "width": 64, "height": 48})
            annotations.append({"image_id": number, "category_id": number % 30 + 1, "bbox": [10, 10, 30, 30]})
        content = {"categories": categories, "images": images, "annotations": annotations}
        write_text(root / f"coco/annotations/instances_{part}2017.json", [json.dumps(content)])


# fair_cl


def write_moji(root: Path) -> None:
    (root / "moji").mkdir(parents=True, exist_ok=True)
    for y, a in GROUPS:
        name = f"{('neg', 'pos')[y]}_{('neg', 'pos')[a]}"
        np.save(root / f"moji/{name}.npy", draw_vectors(np.full(200, y), np.full(200, a)))


def draw_vectors(y: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Vectors (N,16) that tell class and attribute."""
    found = RNG.normal(size=(len(y), 16)).astype(np.float32)
    found[:, 0] += y
    found[:, 1] += 2 * a
    return found


def write_bios(root: Path) -> None:
    (root / "bios").mkdir(parents=True, exist_ok=True)
    for split, count in (("train", 448), ("dev", 224), ("test", 224)):
        y, a = np.arange(count) % 28, np.arange(count) // 28 % 2
        table = {"profession": [PROFESSIONS[i] for i in y], "gender": ["mf"[i] for i in a]}
        pd.DataFrame(table).to_parquet(root / f"bios/{split}.parquet")
        np.save(root / f"bios/{split}_cls.npy", draw_vectors(y, a))


def write_hate_speech(root: Path) -> None:
    for split, count in (("train", 160), ("valid", 80), ("test", 80)):
        samples = draw_samples({split: count})
        rows = [{"tid": i, "text": draw_sentence(), "age": a, "label": y} for i, (_, y, a) in enumerate(samples)]
        write_table(root / f"hate_speech/{split}.tsv", rows, "\t")


def write_imsitu(root: Path) -> None:
    for split, count in (("train", 96), ("dev", 48), ("test", 48)):
        rows = []
        for number, (_, y, a) in enumerate(draw_samples({split: count})):
            write_image(root / f"imsitu/images/{split}_{number}.jpg", y, a)
            rows.append({"image": f"{split}_{number}.jpg", "class": ("make", "move")[y], "gender": ("man", "woman")[a]})
        write_table(root / f"imsitu/{split}.csv", rows)
        y, a = (
            np.array([row[column] == word for row in rows]) for column, word in (("class", "move"), ("gender", "woman"))
        )
        np.save(root / f"imsitu/{split}.npy", draw_vectors(y, a))
