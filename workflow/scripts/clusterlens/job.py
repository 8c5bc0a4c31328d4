"""How every script runs: a log that opens with its circumstances, one line for whatever stops it, then a manifest."""

import os
import signal
import time

from clusterlens import provenance
from clusterlens.damage import explain
from clusterlens.errors import UserError
from clusterlens.files import remove_folder
from clusterlens.logs import internal_error, log, open_log, versions


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
        said = str(error) if isinstance(error, UserError) else explain(error, smk.input)
        if said is None:
            log.debug("unexpected", exc_info=True)
        log.error("%s", said or internal_error(smk.rule, path))
        raise SystemExit(1) from None
    log.info("finished in %.1f s", seconds)


def visible() -> str:
    """The GPUs that a scheduler gave to the job, where it said so."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return "" if given is None else f" (CUDA_VISIBLE_DEVICES={given})"
