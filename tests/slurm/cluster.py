"""A private SLURM on one machine: a controller and a node with two simulated GPUs, stopped by its daemons' ids."""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
CONFIG = Path("/etc/slurm")  # the executor drops SLURM_CONF inside a job, so that no other place is found there
MARK = "# written by the tests of clusterlens\n"
SETTINGS = """\
ClusterName=private
SlurmctldHost={host}
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MinJobAge=300
KillWait=5
SchedulerParameters=sched_interval=1,bf_interval=1
JobRequeue=1
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} CPUs=8 RealMemory={memory} Gres=gpu:2 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why no private SLURM can be started here; empty where it can."""
    absent = [name for name in PROGRAMS if not shutil.which(name, path=search_path())]
    if absent:
        return f"no {', '.join(absent)} (Debian: apt install slurm-wlm munge)"
    if os.geteuid() != 0:
        return "only root can start slurmd"
    config = CONFIG / "slurm.conf"
    if config.exists() and not config.read_text().startswith(MARK):
        return f"{config} belongs to another SLURM"
    return ""


def search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


class Cluster:
    """The three daemons of one SLURM; a context manager that stops what it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self) -> "Cluster":
        self.folder.chmod(0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.write_config()
        try:
            self.start_munge()
            self.start("slurmctld", "-D")
            self.start_node()
            self.wait_for(lambda: self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle", "an idle node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        with suppress(RuntimeError, subprocess.TimeoutExpired):  # jobs that a failed test has left
            self.run("scancel", "--me")
            self.wait_for(lambda: not self.run("squeue", "--noheader").stdout, "the end of all jobs", seconds=20)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for name in ("slurm.conf", "gres.conf"):
            (CONFIG / name).unlink(missing_ok=True)

    def write_config(self) -> None:
        CONFIG.mkdir(exist_ok=True)
        values = {"controller": free_port(), "daemon": free_port(), "memory": 64000}
        text = SETTINGS.format(host=socket.gethostname().split(".")[0], folder=self.folder, **values)
        (CONFIG / "slurm.conf").write_text(MARK + text)
        cards = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"  # a count alone drains the node
        (CONFIG / "gres.conf").write_text(MARK + cards)

    def start_munge(self) -> None:
        key, socket_file = self.folder / "munge.key", self.folder / "munge.socket"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = {"socket": socket_file, "pid-file": self.folder / "munge.pid", "seed-file": self.folder / "munge.seed"}
        options = [f"--{name}={file}" for name, file in files.items()]
        self.start("munged", "--foreground", "--force", f"--key-file={key}", *options)
        self.wait_for(socket_file.exists, "munge")

    def start(self, program: str, *options: str) -> None:
        path = shutil.which(program, path=search_path())
        assert path is not None
        with open(self.folder / f"{program}.out", "wb") as output:
            self.daemons.append(subprocess.Popen([path, *options], stdout=output, stderr=output))

    def crash_node(self, job: str) -> None:
        """End the node's daemon and everything of a job at once, as losing power does."""
        node = self.daemons.pop()
        node.kill()
        node.wait()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                ours = f"SLURM_JOB_ID={job}".encode() in (process / "environ").read_bytes().split(b"\0")
                if ours or (process / "cmdline").read_bytes().startswith(f"slurmstepd: [{job}.".encode()):
                    os.kill(int(process.name), signal.SIGKILL)

    def start_node(self) -> None:
        self.start("slurmd", "-D")

    def run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(words, capture_output=True, text=True, timeout=60)

    def wait_for(self, reached, what: str, *, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self.daemons):
                raise RuntimeError(f"waited in vain for {what}:\n{self.complaints()}")
            time.sleep(0.3)

    def complaints(self) -> str:
        logs = [*self.folder.glob("*.out"), *self.folder.glob("*.log")]
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs)
