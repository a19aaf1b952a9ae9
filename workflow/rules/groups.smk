# results/stage1 -> results/groups/{dataset}/{inference}: the attribute that is inferred for every training sample.


rule infer_groups:
    input:
        data=data_files("groups"),
        stage1=upstream_files("groups", "stage1", "outputs.safetensors"),
    output:
        groups="results/groups/{dataset}/{inference}/s{seeds}/groups.safetensors",
        agreement="results/groups/{dataset}/{inference}/s{seeds}/agreement.csv",
        about="results/groups/{dataset}/{inference}/s{seeds}/about.json",
    log:
        "results/logs/groups/{dataset}/{inference}/s{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=job_resource("groups", "mem_mb"),
        runtime=job_resource("groups", "runtime"),
    params:
        cache_key=job_cache_key("groups"),
    message:
        "Inferring groups of {wildcards.dataset} by {wildcards.inference}, seeds {wildcards.seeds}"
    shell:
        "python -m despur.warm -m despur.groups {output.groups} > {log} 2>&1"
