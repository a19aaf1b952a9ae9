# Raw files -> results/data/{dataset}: arrays and a table. Or results/stage1: other data as a model represents them.


rule build_data:
    input:
        stage1=upstream_of("data", "stage1", "outputs.safetensors"),
        source=clearly(
            lambda wildcards: [
                up.data.folder / "table.parquet"
                for up in result_path("data", wildcards).upstream("stage1")
            ]
        ),
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
        mem_mb=needs_of("data", "mem_mb"),
        runtime=needs_of("data", "runtime"),
    params:
        question=ask("data"),
    shell:
        "python -m despur.warm -m despur.data {output.inputs} > {log} 2>&1"
