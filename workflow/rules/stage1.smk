# results/data -> results/stage1/{dataset}/{base}: a stage-1 model's representations and logits of every sample.


rule train_stage1:
    input:
        data=data_files("stage1"),
    output:
        models="results/stage1/{dataset}/{base}/s{seeds}/models.safetensors",
        outputs="results/stage1/{dataset}/{base}/s{seeds}/outputs.safetensors",
        history="results/stage1/{dataset}/{base}/s{seeds}/history.csv",
        about="results/stage1/{dataset}/{base}/s{seeds}/about.json",
    log:
        "results/logs/stage1/{dataset}/{base}/s{seeds}.log",
    cache: True
    conda:
        "../../envs/despur.yaml"
    threads: 1
    resources:
        gpu=job_resource("stage1", "gpu"),
        jobs_per_gpu=0,
        mem_mb=job_resource("stage1", "mem_mb"),
        runtime=job_resource("stage1", "runtime"),
        cpus_per_task=job_resource("stage1", "cpus_per_task"),
        nodes=1,  # SLURM: torchrun starts processes on its own node only
    params:
        cache_key=job_cache_key("stage1"),
    message:
        "Training the stage-1 model {wildcards.base} on {wildcards.dataset}, seeds {wildcards.seeds}"
    shell:
        "python -m despur.orchestration.gpu_slots --gpus {resources.gpu} --jobs-per-gpu {resources.jobs_per_gpu}"
        " python -m despur.warm -m despur.stage1 {output.models} --threads {threads} > {log} 2>&1"
