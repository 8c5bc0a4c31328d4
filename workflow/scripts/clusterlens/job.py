"""How every script runs: a log that opens with its circumstances, one line for a user's mistake, then a manifest."""

import time

from clusterlens import provenance
from clusterlens.errors import UserError
from clusterlens.logs import log, open_log, versions


def run(main, smk) -> None:
    """Call `main(smk)`, the body of a rule's script; the dict it may return goes into the manifest."""
    open_log(smk.log[0] if len(smk.log) else None)
    seed = smk.params.get("seed", smk.params.get("seeds", "none"))
    log.info("%s %s", smk.rule, dict(smk.wildcards.items()) or "")
    log.info("commit %s, device %s, seed %s", provenance.commit(), provenance.device(), seed)
    log.info("versions %s", " ".join(f"{name}={number}" for name, number in versions().items()))
    start = time.monotonic()
    try:
        facts = main(smk) or {}
    except UserError as error:
        log.error("%s", error)
        raise SystemExit(1) from None
    seconds = time.monotonic() - start
    if hasattr(smk.output, "manifest"):
        provenance.write_manifest(smk, dict(facts), seconds)
    log.info("finished in %.1f s", seconds)
