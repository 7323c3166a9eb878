"""Keyring in one JSON file: services, below them users, below them passwords.

The clients find it through PYTHON_KEYRING_BACKEND, as they find any keyring of a desktop.
"""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

FILE = Path(os.environ["INTEROP_KEYRING_FILE"])


class FileKeyring(KeyringBackend):
    """Keeps what it is given until it is deleted."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return _read().get(service, {}).get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        entries = _read()
        entries.setdefault(service, {})[username] = password
        FILE.write_text(json.dumps(entries))

    def delete_password(self, service: str, username: str) -> None:
        entries = _read()
        if username not in entries.get(service, {}):
            raise PasswordDeleteError(username)
        del entries[service][username]
        FILE.write_text(json.dumps(entries))


def _read() -> dict[str, dict[str, str]]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}
