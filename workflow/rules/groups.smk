# results/stage1 -> results/groups/{dataset}/{inference}: the attribute that is inferred for every training sample.


rule infer_groups:
    input:
        data=data_of("groups"),
        stage1=upstream_of("groups", "stage1", "outputs.safetensors"),
    output:
        groups="results/groups/{dataset}/{inference}/{seeds}/groups.safetensors",
        agreement="results/groups/{dataset}/{inference}/{seeds}/agreement.csv",
        about="results/groups/{dataset}/{inference}/{seeds}/about.json",
    log:
        "results/logs/groups/{dataset}/{inference}/{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    resources:
        mem_mb=needs_of("groups", "mem_mb"),
        runtime=needs_of("groups", "runtime"),
    params:
        question=ask("groups"),
    shell:
        "python -m despur.warm -m despur.groups {output.groups} > {log} 2>&1"
