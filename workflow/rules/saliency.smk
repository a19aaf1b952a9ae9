# results/runs -> results/runs/{dataset}/{method}/{seeds}/saliency.*: where the models look, on the same test images.


rule saliency:
    input:
        data=data_of("runs"),
        models="results/runs/{dataset}/{method}/{seeds}/models.safetensors",
        about="results/runs/{dataset}/{method}/{seeds}/about.json",
        stage1=upstream_of("runs", "stage1", "models.safetensors"),
    output:
        maps="results/runs/{dataset}/{method}/{seeds}/saliency.safetensors",
        shares="results/runs/{dataset}/{method}/{seeds}/saliency.csv",
    log:
        "results/logs/saliency/{dataset}/{method}/{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=needs_of("saliency", "mem_mb"),
        runtime=needs_of("saliency", "runtime"),
    params:
        question=ask("saliency"),
    shell:
        "python -m despur.warm -m despur.saliency {output.maps} > {log} 2>&1"
