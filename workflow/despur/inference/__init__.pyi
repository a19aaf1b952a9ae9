from despur.inference.base import Evidence as Evidence
from despur.inference.base import LabeledSamples as LabeledSamples
from despur.inference.base import infer as infer
