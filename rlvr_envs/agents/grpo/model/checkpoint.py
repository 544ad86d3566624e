"""Checkpoints that a kill at any moment leaves whole, and the state of random generators.

A checkpoint is a folder, ``step-00000050``: the model and tokenizer as transformers saves them,
which any program can load, and ``state.pt`` with everything else that training goes on from. It is
written under another name, forced to the disk, and renamed in one step, so what has the name is
complete. A second one of the same step is ``step-00000050-2``. The link ``best`` points at the one
that scored best. One process at a time writes into a folder.
"""

import contextlib
import os
import pickle
import random
import re
import shutil
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation.local_model import without_bars

_STATE = "state.pt"
_NAME = re.compile(r"step-(\d{8,})(?:-(\d+))?")
_UNFINISHED = ".unfinished-"  # being written, or being removed
BEST = "best"


def save(  # noqa: PLR0913 - all of them are what a checkpoint is
    folder: Path,
    step: int,
    state: Mapping[str, Any],
    model: Any,
    tokenizer: Any,
    *,
    keep: int,
    best: bool = False,
) -> Path:
    """Write a checkpoint, then remove all but the newest and the best, and return its folder.

    Args:
        folder: where the checkpoints of a run are; made if need be.
        step: the training steps that are done.
        state: what `load_state` is to return: dicts, lists, tuples, texts, numbers and tensors.
        model: unsharded; of one with adapters (peft) the adapters alone are saved.
        tokenizer: the model's.
        keep: how many checkpoints are kept, besides the best.
        best: whether this one is the best.

    Raises:
        ConfigError: the state holds something else, or a number is out of range.
        OSError: it could not be written; earlier checkpoints are as before.
    """
    if step < 0 or keep < 1:
        raise ConfigError(f"need step >= 0 and keep >= 1, got {step} and {keep}")
    _check(state, "state")
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{_UNFINISHED}*"):  # by a process that was killed
        if left.is_symlink():
            left.unlink()
        shutil.rmtree(left, ignore_errors=True)
    final = _free_name(folder, step)
    unfinished = folder / f"{_UNFINISHED}{final.name}"
    try:
        unfinished.mkdir()
        _write(unfinished, state, model, tokenizer)
        unfinished.rename(final)
        _force(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    if best:
        link = folder / f"{_UNFINISHED}{BEST}"
        link.symlink_to(final.name)
        link.replace(folder / BEST)
    spared = best_of(folder)
    for _, old in [found for found in _finished(folder) if found[1] != spared][:-keep]:
        if old == final:  # older than what another run has left here
            continue
        # Renamed first: half of a folder must not look like a checkpoint.
        gone = folder / f"{_UNFINISHED}{old.name}"
        with contextlib.suppress(OSError):  # the checkpoint itself is safe
            old.rename(gone)
            shutil.rmtree(gone)
    return final


def newest(folder: Path) -> Path | None:
    """Return the newest finished checkpoint in the folder, or None."""
    finished = _finished(folder)
    return finished[-1][1] if finished else None


def best_of(folder: Path) -> Path | None:
    """Return the checkpoint in the folder that scored best, or None if none is known."""
    link = folder / BEST
    name = link.readlink().name if link.is_symlink() else ""
    return next((path for _, path in _finished(folder) if path.name == name), None)


def load_state(path: Path) -> dict[str, Any]:
    """Return the state of a checkpoint, its tensors on the CPU.

    Nothing in the file is run. Raises ConfigError if it is no checkpoint or is damaged.
    """
    try:
        state: dict[str, Any] = torch.load(path / _STATE, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        told = " ".join(str(error).split())
        raise ConfigError(f"{str(path)!r} holds no checkpoint that can be read: {told}") from error
    return state


def load_weights(path: Path, model: Any) -> None:
    """Set the model's weights, or its adapters', to those of a checkpoint.

    Args:
        path: the checkpoint's folder.
        model: the same model as was saved, not yet wrapped for several workers.

    Raises:
        ConfigError: the checkpoint is of another model, or is damaged.
    """
    adapters = (path / "adapter_config.json").is_file()
    if adapters != hasattr(model, "peft_config"):
        holds = "adapters" if adapters else "all weights"
        raise ConfigError(f"the checkpoint {str(path)!r} holds {holds}: lora_rank does not fit")
    from safetensors import SafetensorError

    try:
        if adapters:
            from peft import load_peft_weights, set_peft_model_state_dict

            weights = load_peft_weights(str(path), device="cpu")
            told: Any = set_peft_model_state_dict(model, weights)
            if told.unexpected_keys:
                raise ConfigError(f"{str(path)!r} has other adapters than the model")
        else:
            # Through transformers, which knows what it may have renamed or left out in the file.
            with without_bars():
                saved = type(model).from_pretrained(path, dtype=torch.float32)
            model.load_state_dict(saved.state_dict())
    except (OSError, RuntimeError, ValueError, SafetensorError) as error:
        told = " ".join(str(error).split())
        raise ConfigError(f"the weights of {str(path)!r} cannot be loaded: {told}") from error


def rng_state() -> dict[str, Any]:
    """Return the states of the global generators of torch, its GPUs, numpy and Python."""
    name, key, *rest = cast("tuple[Any, ...]", np.random.get_state())  # noqa: NPY002 - what others may draw from
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [name, key.tolist(), *rest],
        "python": random.getstate(),
    }


def set_rng_state(state: Mapping[str, Any]) -> None:
    """Set the generators to what `rng_state` gave; those of GPUs that are not here are left out."""
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available():
        there = range(torch.cuda.device_count())
        for index, of_gpu in zip(there, state["cuda"], strict=False):
            torch.cuda.set_rng_state(of_gpu, index)
    name, key, *rest = state["numpy"]
    np.random.set_state((name, np.array(key, dtype=np.uint32), *rest))  # noqa: NPY002 - as above
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))


def _check(value: Any, where: str) -> None:
    """Refuse what `torch.load` would not read back with ``weights_only``."""
    if type(value) in (dict, OrderedDict):
        for key, inner in value.items():
            if type(key) not in (str, int):
                raise ConfigError(f"{where} has a key {key!r}; a checkpoint has texts and integers")
            _check(inner, f"{where}[{key!r}]")
    elif type(value) in (list, tuple):
        for index, inner in enumerate(value):
            _check(inner, f"{where}[{index}]")
    elif type(value) not in (str, int, float, bool, type(None), torch.Tensor):
        raise ConfigError(
            f"{where} is a {type(value).__name__}; a checkpoint holds dicts, lists, tuples, texts, "
            "numbers, None and unsharded tensors"
        )


def _finished(folder: Path) -> list[tuple[tuple[int, int], Path]]:
    """Return what each checkpoint is ordered by, and its folder, the newest last."""
    found = []
    for path in folder.glob("step-*"):
        match = _NAME.fullmatch(path.name)
        if match and (path / _STATE).is_file():
            found.append(((int(match[1]), int(match[2] or 1)), path))
    return sorted(found)


def _free_name(folder: Path, step: int) -> Path:
    same = [number for (at, number), _ in _finished(folder) if at == step]
    return folder / (f"step-{step:08d}" + (f"-{max(same) + 1}" if same else ""))


def _write(folder: Path, state: Mapping[str, Any], model: Any, tokenizer: Any) -> None:
    from safetensors import SafetensorError

    try:
        with without_bars():
            model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        torch.save(state, folder / _STATE)
        for path in [*folder.rglob("*"), folder]:
            _force(path)
    except (OSError, RuntimeError, SafetensorError) as error:
        told = " ".join(str(error).split())
        free = shutil.disk_usage(folder).free / 1e6
        raise OSError(
            f"the checkpoint {str(folder)!r} could not be written, with {free:.0f} MB free there; "
            f"those before it are whole: {told}"
        ) from error


def _force(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
