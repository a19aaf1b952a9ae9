# The environment with the locked packages; CUDA libraries come with them, so one image serves CPUs and GPUs. Those who
# wrote this file could reach no registry of images (docs/gpus_and_clusters.md); the weekly workflow builds it as it is.
#   docker build --tag despur .
#   docker run --rm -v "$PWD/results:/despur/results" -v "$PWD/.snakemake:/despur/.snakemake" despur \
#       snakemake results/runs/colored_digits/erm/s0/metrics.csv
# Without .snakemake, what an earlier image made counts as current. With a GPU (NVIDIA Container Toolkit on the host):
# add --gpus all, and --workflow-profile profiles/gpu to snakemake. Raw files and weights that are not downloaded:
#   -v "$DESPUR_DATA_ROOT:/data" -e DESPUR_DATA_ROOT=/data -v "$DESPUR_WEIGHTS_ROOT:/weights" -e DESPUR_WEIGHTS_ROOT=/weights
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /despur
COPY . .
RUN make environment && rm -rf /root/.cache
ENV PATH=/despur/.venv/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
CMD ["snakemake"]
