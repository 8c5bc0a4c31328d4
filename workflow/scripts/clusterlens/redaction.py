"""Keys and tokens never reach a log or a manifest, whatever message, address or setting they came in."""

import os
import re
from typing import Any

SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")  # the end of the name of an environment variable
SHORTEST = 8  # characters of a secret: shorter values are words that occur anyway
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")  # name and password in an address
HIDDEN = "[hidden]"


def redacted(value: Any) -> Any:
    """The same text, list or mapping without the values of secret environment variables and passwords in addresses."""
    if isinstance(value, dict):
        return {redacted(key): redacted(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(one) for one in value]
    if not isinstance(value, str):
        return value
    secrets = (text for name, text in os.environ.items() if SECRET.search(name.upper()) and len(text) >= SHORTEST)
    for secret in sorted(secrets, key=len, reverse=True):
        value = value.replace(secret, HIDDEN)
    return USER_INFO.sub(f"{HIDDEN}@", value)


def without_user(address: str) -> str:
    """A whole address without name and password. Unlike in other texts, these may hold slashes and more @ signs."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{HIDDEN}@{rest.rpartition('@')[2]}" if "@" in rest else address
