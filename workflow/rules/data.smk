# Raw files -> results/data/{dataset}: arrays and a table. Or results/stage1: other data as a model represents them.


rule build_data:
    input:
        stage1=upstream_files("data", "stage1", "outputs.safetensors"),
        source=for_job("data", jobs.list_source_tables),
    output:
        inputs="results/data/{dataset}/inputs.npy",
        masks="results/data/{dataset}/masks.npy",
        table="results/data/{dataset}/table.parquet",
        groups="results/data/{dataset}/groups.npz",
        about="results/data/{dataset}/about.json",
    log:
        "results/logs/data/{dataset}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=job_resource("data", "mem_mb"),
        runtime=job_resource("data", "runtime"),
    params:
        cache_key=job_cache_key("data"),
    message:
        "Building the data set {wildcards.dataset}"
    shell:
        "python -m despur.warm -m despur.data {output.inputs} > {log} 2>&1"
