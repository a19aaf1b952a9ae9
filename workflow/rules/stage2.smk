# results/data, results/groups, results/stage1 -> results/runs/{dataset}/{method}: trained models and their outputs.


rule train_stage2:
    input:
        data=data_files("runs"),
        groups=upstream_files("runs", "groups", "groups.safetensors"),
        stage1_outputs=upstream_files("runs", "stage1", "outputs.safetensors"),
        stage1_models=upstream_files("runs", "stage1", "models.safetensors"),
    output:
        models="results/runs/{dataset}/{method}/s{seeds}/models.safetensors",
        outputs="results/runs/{dataset}/{method}/s{seeds}/outputs.safetensors",
        history="results/runs/{dataset}/{method}/s{seeds}/history.csv",
        about="results/runs/{dataset}/{method}/s{seeds}/about.json",
    log:
        "results/logs/runs/{dataset}/{method}/s{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    threads: 1
    resources:
        gpu=job_resource("runs", "gpu"),
        jobs_per_gpu=0,
        mem_mb=job_resource("runs", "mem_mb"),
        runtime=job_resource("runs", "runtime"),
        cpus_per_task=job_resource("runs", "cpus_per_task"),
        nodes=1,  # SLURM: torchrun starts processes on its own node only
    params:
        cache_key=job_cache_key("runs"),
    message:
        "Training {wildcards.method} on {wildcards.dataset}, seeds {wildcards.seeds}"
    shell:
        "python -m despur.orchestration.gpu_slots --gpus {resources.gpu} --jobs-per-gpu {resources.jobs_per_gpu}"
        " python -m despur.warm -m despur.stage2 {output.models} --threads {threads} > {log} 2>&1"
