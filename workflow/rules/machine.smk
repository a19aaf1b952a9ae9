# What this machine and the profile offer: locks, the server of warm processes, GPUs, SLURM. No rules here.

import math
import os

from snakemake.resources import Resources

from despur.orchestration import gpu_slots, locks, slurm

# After a kill -9, go on without --unlock. A cluster's jobs read this file, too, on nodes that cannot see who holds the
# lock.
try:
    ALIVE = locks.clear_stale_locks() if workflow.is_main_process else None
except OSError as error:
    refuse(f"{error.filename} cannot be written, and nothing here is made: {error.strerror}")
# Jobs that this Snakemake runs itself need not import libraries (despur/warm); those on other machines have no server.
os.environ.pop("DESPUR_WARM", None)
if workflow.is_main_process:
    os.environ.update(DESPUR_WARM=str(os.getpid()))


def profile_resource(resource):
    """What a profile sets a resource to, by rule (set-resources)."""
    overwritten = workflow.resource_settings.overwrite_resources.items()
    parsed = {name: Resources.from_mapping(resources) for name, resources in overwritten if resource in resources}
    return {name: int(resources[resource].value) for name, resources in parsed.items()}


# A profile that shares GPUs says how many jobs run on one device (jobs_per_gpu), and perhaps how many run at once
# (gpu): else all that fit.
JOBS_AT_ONCE = getattr(workflow.global_resources.get("gpu"), "value", None)
JOBS_PER_GPU = min(profile_resource("jobs_per_gpu").values(), default=0)
if JOBS_PER_GPU:
    try:
        JOBS_AT_ONCE = gpu_slots.count_slots(JOBS_AT_ONCE, JOBS_PER_GPU, gpu_slots.list_visible_gpus())
    except SettingError as error:
        refuse(error)
    workflow.register_resource("gpu", JOBS_AT_ONCE)
GPUS = math.inf if JOBS_AT_ONCE is None else -(-JOBS_AT_ONCE // max(1, JOBS_PER_GPU))


def lift_job_limit():
    """Lift Snakemake's default limit of 100 jobs a second: under a limit, each finished job starts a chain of timers
    that does not end (docs/snakemake_timers.md). A limit that is given stays."""
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def refuse_without_slurm():
    """One clear message before anything runs, not one for each job."""
    if workflow.executor_plugin.name == "slurm":
        try:
            slurm.check_login_node(slurm_partitions())
        except SettingError as error:
            refuse(error)


def slurm_partitions():
    """Partitions of all rules, as the profile says it; not those of a cluster by name, as sinfo lists only its own."""
    sent = [rule.resources for rule in workflow.rules if not workflow.is_local(rule)]
    here = [resources for resources in sent if not {"slurm_cluster", "clusters", "cluster"} & set(resources)]
    return {str(resources["slurm_partition"].raw) for resources in here if resources.get("slurm_partition").raw}
