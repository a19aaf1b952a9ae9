# The environment with the locked packages. Those who wrote this file could reach no registry of images: they built both
# targets by buildah on Debian 13 with its own Python 3.13 in the place of python:3.13-slim (docs/gpus_and_clusters.md).
# The weekly workflow builds both as they are.
#   docker build --target cpu --tag despur .
#   docker run --rm -v "$PWD/results:/despur/results" despur snakemake results/runs/colored_digits/erm/s0/metrics.csv
# With a GPU (NVIDIA Container Toolkit on the host; the CUDA libraries come with the packages):
#   docker build --target cuda --tag despur:cuda .
#   docker run --rm --gpus all -v "$PWD/results:/despur/results" despur:cuda snakemake --workflow-profile profiles/gpu
# Raw files and weights that are not downloaded: -v "$DESPUR_DATA_ROOT:/data" -e DESPUR_DATA_ROOT=/data
FROM python:3.13-slim AS cpu
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /despur
COPY . .
RUN make environment && rm -rf /root/.cache
ENV PATH=/despur/.venv/bin:$PATH
CMD ["snakemake"]

FROM cpu AS cuda
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
