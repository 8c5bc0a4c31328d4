"""Downloads that go on where they broke off and get their final name only when whole and verified."""

import time
from pathlib import Path

import requests
import urllib3

from clusterlens.damage import explain
from clusterlens.data.checksums import verify
from clusterlens.errors import UserError
from clusterlens.logs import log
from clusterlens.redaction import without_user

CONNECT_SECONDS, READ_SECONDS = 4, 30
CHUNK = 1 << 16
REPORT_SECONDS = 2
TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class Unreachable(UserError):
    """A server that did not answer at all, as opposed to one whose answer was wrong."""


def broken_off(error: Exception, said: str) -> UserError:
    """The error of a transfer that stopped: the disk's, where that is to blame, else the server's."""
    local = explain(error, [])
    return UserError(local) if local else Unreachable(said)


class Broken(Exception):
    """One attempt ended before the file was whole; `answered` tells a server that is there from one that is not."""

    def __init__(self, reason: str, *, answered: bool):
        super().__init__(reason)
        self.answered = answered


def reach(address: str) -> None:
    """Find out within seconds whether a server answers, so that no library spends minutes on retries."""
    try:
        requests.head(address, timeout=(CONNECT_SECONDS, READ_SECONDS), allow_redirects=False)
    except requests.RequestException as error:
        raise Unreachable(f"{without_user(address)} cannot be reached ({brief(error)})") from None


def download(
    url: str,
    target: Path,
    *,
    partial: Path,
    checksum: str | None = None,
    attempts: int = 6,
    first_attempts: int = 2,
    wait: float = 1.0,
) -> None:
    """Fetch `url` into `target` by way of `partial`, which outlives an interruption: the next call goes on from it.

    A server that never answers is given up after `first_attempts`; a transfer that has begun is resumed until
    `attempts` in a row bring nothing new. Without a checksum nothing shows that an old part belongs to today's file:
    it is dropped.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    if checksum is None:
        partial.unlink(missing_ok=True)
    begun = best = partial.stat().st_size if partial.exists() else 0
    failures, tag = 0, None
    while True:
        try:
            tag = transfer(url, partial, tag)
            break
        except Broken as error:
            have = partial.stat().st_size if partial.exists() else 0
            failures, best = (1, have) if have > best else (failures + 1, best)
            if failures >= (attempts if best > begun else first_attempts):
                give_up(url, partial, have, error)
            seconds = min(wait * 2 ** (failures - 1), 30)
            log.warning("%s: %s; trying again in %.0f s from byte %d", target.name, error, seconds, have)
            time.sleep(seconds)
    if checksum is not None:
        try:
            verify(partial, checksum, target.name)
        except UserError:
            partial.unlink()
            raise
    partial.replace(target)


def give_up(url: str, partial: Path, have: int, error: Broken) -> None:
    if error.answered:
        partial.unlink(missing_ok=True)
        raise UserError(
            f"{url}: the server sends no more than the first {have:,} bytes ({error}): try again later"
        ) from None
    kept = f"; {have:,} bytes are kept and the next run goes on from there" if have else ""
    raise Unreachable(f"{url} cannot be reached ({error}){kept}") from None


def transfer(url: str, partial: Path, tag: str | None) -> str | None:
    """One attempt: append what is missing to `partial`; return the server's tag of the file, or raise Broken."""
    have = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if tag:
            headers["If-Range"] = tag
    answered = False
    try:
        with requests.get(url, headers=headers, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS)) as response:
            answered = True
            start, total = span(response, have, partial)
            if start is None:
                return tag
            receive(response, partial, start, total)
            return response.headers.get("ETag", tag)
    except urllib3.exceptions.HTTPError:
        raise Broken("the connection broke off", answered=True) from None
    except requests.RequestException as error:
        raise Broken(brief(error), answered=answered) from None


def span(response: requests.Response, have: int, partial: Path) -> tuple[int | None, int | None]:
    """Where the answer starts in the file and how long the file is; a start of None means that nothing is missing."""
    code = response.status_code
    sent = response.headers.get("Content-Range", "")
    total = sent.rpartition("/")[2]
    if code == 416 and have:
        if total == str(have):
            return None, have
        partial.unlink()
        raise Broken("the part on disk does not fit the file on the server", answered=True)
    if code == 206 and sent.startswith(f"bytes {have}-"):
        return have, int(total) if total.isdigit() else None
    if code == 200:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if length.isdigit() else None
    if code in TRANSIENT or code == 206:
        raise Broken(f"HTTP {code}", answered=True)
    raise UserError(
        f"{response.url}: the server answers HTTP {code}; the address may have changed, or a proxy is in the way"
    )


def receive(response: requests.Response, partial: Path, start: int, total: int | None) -> None:
    """Write the body from byte `start` on, telling how far it is every few seconds."""
    name = partial.name.removesuffix(".part")
    shown = time.monotonic()
    with partial.open("r+b" if start else "wb") as stream:
        stream.seek(start)
        stream.truncate()
        for chunk in iter(lambda: response.raw.read1(CHUNK), b""):  # keeps all that came before the line went dead
            stream.write(chunk)
            if time.monotonic() - shown > REPORT_SECONDS:
                shown = time.monotonic()
                log.info("%s: %s", name, progress(stream.tell(), total))
        done = stream.tell()
    if total is not None and done < total:
        raise Broken(f"stopped at {progress(done, total)}", answered=True)
    log.info("%s: %s", name, progress(done, total))


def progress(done: int, total: int | None) -> str:
    share = f" of {total / 1e6:.1f} MB ({done / total:.0%})" if total else " MB"
    return f"{done / 1e6:.1f}{share}"


def brief(error: requests.RequestException) -> str:
    """Why a request failed, in a few words instead of a library's nested exceptions."""
    if isinstance(error, requests.ConnectTimeout):
        return f"no answer within {CONNECT_SECONDS} s"
    if isinstance(error, requests.Timeout):
        return f"silent for {READ_SECONDS} s"
    text = str(error)
    known = {"resolve": "its name is not known here", "Name or service": "its name is not known here"}
    known |= {
        "refused": "connection refused",
        "reset": "connection reset",
        "CERTIFICATE": "its certificate is not trusted",
    }
    return next((words for sign, words in known.items() if sign in text), type(error).__name__)
