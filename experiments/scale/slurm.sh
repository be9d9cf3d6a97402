#!/usr/bin/env bash
# Sets up Slurm on one node, this machine, with its files in a temporary folder. Runs a job array of four runs
# and a job of two ranks, checks that both give the same model, and stops Slurm.
# Needs root, Go, and (Debian) slurm-wlm munge gcc openmpi-bin libopenmpi-dev.
#
#   experiments/scale/slurm.sh > experiments/scale/slurm.txt
set -Eeuo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
chmod 755 "$dir"
export SLURM_CONF=$dir/slurm.conf
host=$(hostname -s)
pids=()
cleanup() {
	local status=$?
	if test $status != 0; then
		tail -n 20 "$dir"/*.log "$dir"/sweep/*.out >&2 || true
	fi
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2> /dev/null && wait "${pids[i]}" || true
	done
	rm -rf "$dir"
}
trap cleanup EXIT

CC=mpicc.openmpi CGO_ENABLED=1 go build -buildvcs=false -tags mpi -o "$dir/bin/" ./cmd/rbmtrain ./cmd/rbmcompare
export PATH=$dir/bin:$PATH

# Munge, which authenticates the parts of Slurm.
dd if=/dev/urandom of="$dir/key" bs=128 count=1 status=none
chmod 600 "$dir/key"
munged --foreground --force --key-file="$dir/key" --socket="$dir/munge" --pid-file="$dir/munge.pid" \
	--seed-file="$dir/munge.seed" --log-file="$dir/munge.log" > /dev/null 2>&1 &
pids+=($!)

# One node with all cores and memory of the machine. A job gets cores and not the whole node.
mkdir "$dir/state" "$dir/spool" "$dir/sweep"
cat > "$SLURM_CONF" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
slurmctld -D > "$dir/ctld.log" 2>&1 &
pids+=($!)
slurmd -D > "$dir/d.log" 2>&1 &
pids+=($!)
for _ in $(seq 60); do
	test "$(sinfo -h -o %t 2> /dev/null)" = idle && break
	sleep 1
done

# say prints a command as it is typed, and runs it.
say() {
	echo "\$ $*"
	eval "$*"
}

cd "$dir/sweep"
cat > sweep.txt <<END
-negphase pcd  -rate 0.05
-negphase pcd  -rate 0.1
-negphase pins -rate 0.05
-negphase pins -rate 0.1
END
common="-data fontdigits -hidden 64 -steps 2000 -metrics classification -quiet"
say "sinfo --version"
say "sinfo -o '%P %t %c'"
say "cat sweep.txt"
say "sbatch --wait -J sweep --array=0-3 -o 'sweep-%a.out' --wrap 'rbmtrain $common -array sweep.txt'"
say "rbmcompare -runs 'runs/*' -sort error_test" | sed 's/ [0-9.]* *$/ …/'
say "sbatch --wait -J ranks -n 2 -o ranks.out --wrap 'srun --mpi=$(srun --mpi=list 2>&1 | grep -oqw pmix && echo pmix || echo pmi2) rbmtrain $common -workers 1 -negphase pins -rate 0.1 -out ranks'"
echo "# Two processes that did not know each other would not have got the same folder. The run of the"
echo "# array, which one process took, and that of two ranks:"
say "sha256sum runs/sweep-3/model.safetensors ranks/model.safetensors"
cat ./*.out
cmp runs/sweep-3/model.safetensors ranks/model.safetensors
