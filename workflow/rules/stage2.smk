# results/data, results/groups, results/stage1 -> results/runs/{dataset}/{method}: trained models and their outputs.


rule train_stage2:
    input:
        data=data_of("runs"),
        groups=upstream_of("runs", "groups", "groups.safetensors"),
        stage1=upstream_of("runs", "stage1", "outputs.safetensors"),
        heads=upstream_of("runs", "stage1", "models.safetensors"),
    output:
        models="results/runs/{dataset}/{method}/{seeds}/models.safetensors",
        outputs="results/runs/{dataset}/{method}/{seeds}/outputs.safetensors",
        history="results/runs/{dataset}/{method}/{seeds}/history.csv",
        about="results/runs/{dataset}/{method}/{seeds}/about.json",
    log:
        "results/logs/runs/{dataset}/{method}/{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    threads: 1
    resources:
        gpu=needs_of("runs", "gpu"),
        jobs_per_gpu=0,
        mem_mb=needs_of("runs", "mem_mb"),
        runtime=needs_of("runs", "runtime"),
        cpus_per_task=needs_of("runs", "cpus_per_task"),
        nodes=1,  # SLURM: torchrun starts processes on its own node only
    params:
        question=ask("runs"),
    shell:
        "python -m despur.orchestration.gpu_slots --gpus {resources.gpu} --jobs-per-gpu {resources.jobs_per_gpu}"
        " python -m despur.warm -m despur.stage2 {output.models} --threads {threads} > {log} 2>&1"
