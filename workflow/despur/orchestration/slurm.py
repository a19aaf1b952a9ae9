"""What a SLURM cluster says of itself, before anything is sent there."""

import re
import shutil
import subprocess
from collections.abc import Iterable

from despur.specs.settings import SettingError


def check_login_node(partitions: Iterable[str]) -> None:
    """Refuse a machine that cannot submit jobs, and partitions that its cluster does not have."""
    if not shutil.which("sbatch"):
        raise SettingError(
            "this machine has no sbatch: start profiles/slurm on a login node of the cluster, or leave "
            "--workflow-profile out"
        )
    check_partitions(partitions)


def check_partitions(partitions: Iterable[str]) -> None:
    """Refuse partitions that sinfo does not list. They are as a profile has them: quoted or not, several with commas;
    of an expression nothing is known, nor of a cluster without sinfo or whose sinfo fails."""
    names = {
        name
        for text in partitions
        if re.fullmatch(r"[\w.,+-]+", text.strip("'\""))
        for name in text.strip("'\"").split(",")
    }
    if not names or not shutil.which("sinfo"):
        return
    listing = subprocess.run(
        ["sinfo", "--noheader", "--all", "--format=%R"], capture_output=True, text=True, check=False
    )
    there = {*listing.stdout.split()}
    if listing.returncode == 0 and (missing := sorted(names - there)):
        raise SettingError(
            f"this cluster has no partition {', '.join(missing)} (sinfo lists: {', '.join(sorted(there)) or 'none'}): "
            "edit slurm_partition in profiles/slurm/profile.yaml"
        )
