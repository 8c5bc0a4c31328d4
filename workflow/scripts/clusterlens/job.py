"""How every script runs: a log that opens with its circumstances, one line for whatever stops it, then a manifest."""

import os
import signal
import sys
import time

from clusterlens import provenance
from clusterlens.damage import explain
from clusterlens.errors import UserError
from clusterlens.files import remove_folder
from clusterlens.logs import internal_error, log, open_log, versions

GROWS = {"batch_size", "max_tokens", "tokens", "seeds", "images"}  # settings that a job's memory grows with


def run(main, smk) -> None:
    """Call `main(smk)`, the body of a rule's script; the dict it may return goes into the manifest.

    Its entry `spent` names folders, such as checkpoints, that nobody needs once the manifest is written.
    """
    path = smk.log[0] if len(smk.log) else None
    open_log(path)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the launcher had set it aside while modules are imported
    seed = smk.params.get("seed", smk.params.get("seeds", "none"))
    log.info("%s %s", smk.rule, dict(smk.wildcards.items()) or "")
    log.info("commit %s, device %s%s, seed %s", provenance.commit(), provenance.device(), visible(), seed)
    log.info("versions %s", " ".join(f"{name}={number}" for name, number in versions().items()))
    start = time.monotonic()
    try:
        inputs = provenance.hash_inputs(smk.input)
        facts = dict(main(smk) or {})
        seconds = time.monotonic() - start
        spent = facts.pop("spent", [])
        if hasattr(smk.output, "manifest"):
            provenance.write_manifest(smk, facts, seconds, inputs)
        for folder in spent:
            remove_folder(folder)
    except KeyboardInterrupt:
        log.debug("stopped by the user")
        raise SystemExit(130) from None
    except Exception as error:
        said = str(error) if isinstance(error, UserError) else out_of_memory(error, smk) or explain(error, smk.input)
        if not isinstance(error, UserError):
            log.debug("unexpected", exc_info=True)
        log.error("%s", said or internal_error(smk.rule, path))
        raise SystemExit(1) from None
    log.info("finished in %.1f s", seconds)


def visible() -> str:
    """The GPUs that a scheduler gave to the job, where it said so."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return "" if given is None else f" (CUDA_VISIBLE_DEVICES={given})"


def out_of_memory(error: Exception, smk) -> str | None:
    """What to lower where memory ran out: the keys among the job's settings that its memory grows with."""
    torch = sys.modules.get("torch")
    on_card = torch is not None and isinstance(error, torch.OutOfMemoryError)
    if not on_card and not isinstance(error, MemoryError):
        return None
    groups = [dict(smk.params.items()), *(one for _, one in smk.params.items() if isinstance(one, dict))]
    keys = sorted({key for group in groups for key in GROWS & group.keys()})
    advice = [f"lower {' or '.join(keys)}"] if keys else []
    if on_card:
        advice += ["choose a freer card with CUDA_VISIBLE_DEVICES", "set 'device: cpu'"]
    return f"{smk.rule}: no memory left{' on the GPU' if on_card else ''}: {', or '.join(advice or ['free some'])}"
