# results/runs -> results/runs/{dataset}/{method}/{seeds}/metrics.csv: every metric, split, selection rule.


rule evaluate:
    input:
        data=data_of("runs"),
        models="results/runs/{dataset}/{method}/{seeds}/models.safetensors",
        outputs="results/runs/{dataset}/{method}/{seeds}/outputs.safetensors",
        about="results/runs/{dataset}/{method}/{seeds}/about.json",
    output:
        metrics="results/runs/{dataset}/{method}/{seeds}/metrics.csv",
        resamples="results/runs/{dataset}/{method}/{seeds}/resamples.parquet",
    log:
        "results/logs/evaluate/{dataset}/{method}/{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=needs_of("evaluate", "mem_mb"),
        runtime=needs_of("evaluate", "runtime"),
    params:
        question=ask("evaluate"),
    shell:
        "python -m despur.warm -m despur.evaluate {output.metrics} > {log} 2>&1"
