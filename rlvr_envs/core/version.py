"""The version of the package: written here, read everywhere else."""

__version__ = "0.1.0"
