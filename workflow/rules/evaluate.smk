# results/runs -> results/runs/{dataset}/{method}/{seeds}/metrics.csv: every metric, split, selection (best, last, ...).


rule evaluate:
    input:
        data=data_files("runs"),
        models="results/runs/{dataset}/{method}/s{seeds}/models.safetensors",
        outputs="results/runs/{dataset}/{method}/s{seeds}/outputs.safetensors",
        about="results/runs/{dataset}/{method}/s{seeds}/about.json",
    output:
        metrics="results/runs/{dataset}/{method}/s{seeds}/metrics.csv",
        resamples="results/runs/{dataset}/{method}/s{seeds}/resamples.parquet",
    log:
        "results/logs/evaluate/{dataset}/{method}/s{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=job_resource("evaluate", "mem_mb"),
        runtime=job_resource("evaluate", "runtime"),
    params:
        cache_key=job_cache_key("evaluate"),
    message:
        "Evaluating {wildcards.method} on {wildcards.dataset}, seeds {wildcards.seeds}"
    shell:
        "python -m despur.warm -m despur.evaluate {output.metrics} > {log} 2>&1"
