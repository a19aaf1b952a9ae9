# results/runs -> results/runs/{dataset}/{method}/{seeds}/saliency.*: where the models look, on the same test images.


rule saliency:
    input:
        data=data_files("runs"),
        models="results/runs/{dataset}/{method}/s{seeds}/models.safetensors",
        about="results/runs/{dataset}/{method}/s{seeds}/about.json",
        stage1_models=upstream_files("runs", "stage1", "models.safetensors"),
    output:
        maps="results/runs/{dataset}/{method}/s{seeds}/saliency.safetensors",
        shares="results/runs/{dataset}/{method}/s{seeds}/saliency.csv",
    log:
        "results/logs/saliency/{dataset}/{method}/s{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=job_resource("saliency", "mem_mb"),
        runtime=job_resource("saliency", "runtime"),
    params:
        cache_key=job_cache_key("saliency"),
    message:
        "Computing saliency maps of {wildcards.method} on {wildcards.dataset}, seeds {wildcards.seeds}"
    shell:
        "python -m despur.warm -m despur.saliency {output.maps} > {log} 2>&1"
