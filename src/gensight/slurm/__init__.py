"""Slurm, asked by its own commands: which partitions have GPUs, which jobs a dead run has left."""
