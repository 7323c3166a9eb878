"""A person's browser for an address: follows redirects and submits forms until there are none.

Types the login and the password into the fields of those names. Stands where a client looks for a
browser (BROWSER), and is used for device codes too. Appends one line to INTEROP_BROWSER_LOG: the
status and the address, without its query, of where the way ended.
"""

import os
import sys
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

STEPS_MAX = 8
STEP_SECONDS = 20


class FirstForm(HTMLParser):
    """The first form of a page: its address and the fields that hold text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action") or ""
            self._is_inside = True
        elif tag == "input" and self._is_inside and attributes.get("type") != "submit":
            self.fields[attributes.get("name") or ""] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False


def follow(address: str) -> str:
    """Goes where the pages lead; gives the status and the address of the last one."""
    typed = {
        "login": os.environ["INTEROP_LOGIN"],
        "password": Path(os.environ["INTEROP_PASSWORD_FILE"]).read_text(),
    }
    opener = build_opener(HTTPCookieProcessor(CookieJar()), ProxyHandler({}))
    body = None
    for _ in range(STEPS_MAX):
        try:
            answer = opener.open(address, body, timeout=STEP_SECONDS)
        except HTTPError as refusal:
            answer = refusal
        status, page = answer.status, answer.read().decode()
        address = answer.url
        form = FirstForm(page)
        if status != 200 or form.action is None:
            return f"{status} {urlsplit(address)._replace(query='').geturl()}"
        fields = {name: typed.get(name, value) for name, value in form.fields.items()}
        address, body = urljoin(address, form.action), urlencode(fields).encode()
    return f"0 {urlsplit(address)._replace(query='').geturl()}"


def main() -> None:
    try:
        line = follow(sys.argv[1])
    except Exception as failure:
        line = f"0 {type(failure).__name__}"
    with Path(os.environ["INTEROP_BROWSER_LOG"]).open("a") as log:
        log.write(f"{line}\n")


main()
