# results/data -> results/stage1/{dataset}/{base}: a base's representations and logits of every sample.


rule train_stage1:
    input:
        data=data_of("stage1"),
    output:
        models="results/stage1/{dataset}/{base}/{seeds}/models.safetensors",
        outputs="results/stage1/{dataset}/{base}/{seeds}/outputs.safetensors",
        history="results/stage1/{dataset}/{base}/{seeds}/history.csv",
        about="results/stage1/{dataset}/{base}/{seeds}/about.json",
    log:
        "results/logs/stage1/{dataset}/{base}/{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    threads: 1
    resources:
        gpu=needs_of("stage1", "gpu"),
        jobs_per_gpu=0,
        mem_mb=needs_of("stage1", "mem_mb"),
        runtime=needs_of("stage1", "runtime"),
        cpus_per_task=needs_of("stage1", "cpus_per_task"),
        nodes=1,  # SLURM: torchrun starts processes on its own node only
    params:
        question=ask("stage1"),
    shell:
        "python -m despur.orchestration.gpu_slots --gpus {resources.gpu} --jobs-per-gpu {resources.jobs_per_gpu}"
        " python -m despur.warm -m despur.stage1 {output.models} --threads {threads} > {log} 2>&1"
