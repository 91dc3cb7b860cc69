"""Several servers behind nginx, as docs/deploy.md has it: the block there is the one that is run.

python -m tests.stress.proxy [--servers 3]    starts all of it, until it is interrupted
python -m tests.stress --only proxy           sends a crowd through it
"""

import argparse
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import pause

import psutil
from playwright.sync_api import expect

from tests import browser
from tests.stress import pictures
from tests.stress.load import Crowd, Record, answers, errors, listener, training
from tests.stress.table import Row, none

PART, COOKIE, SERVERS = "proxy", "fgpvae", 3
PEOPLE = 6  # who bring a picture, each in a browser of their own
DOCUMENT = browser.ROOT / "docs" / "deploy.md"
BLOCK = re.compile(r"```nginx\n(.*?)```", re.DOTALL)
# what stands around the block: files of this process only, and a line a request
AROUND = """
daemon off;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    log_format people '$person $upstream_addr $status $request_uri';
    access_log {folder}/access.log people;
{block}
}}
"""


@dataclass(frozen=True)
class SetUp:
    """Servers with one runs directory, and the proxy before them."""

    address: str  # of the proxy
    servers: list[str]
    runs: Path
    log: Path

    def processes(self) -> list[psutil.Process]:
        return [listener(address) for address in self.servers]

    def requests(self) -> list[list[str]]:
        """Person, server, status and path of each that has been answered."""
        return [line.split(" ", 3) for line in self.log.read_text().splitlines()]


def program() -> str | None:
    return shutil.which("nginx", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))


def config(folder: Path, listen: int, ports: Sequence[int]) -> str:
    """The block of the document, with these ports instead of its own."""
    found = BLOCK.search(DOCUMENT.read_text())
    assert found is not None, "docs/deploy.md has no block for nginx"
    block = re.sub(r"listen 127\.0\.0\.1:\d+;", f"listen 127.0.0.1:{listen};", found[1])
    servers = "".join(f"    server 127.0.0.1:{port};\n" for port in ports)
    block = re.sub(r"(?:    server 127\.0\.0\.1:\d+;\n)+", servers, block)
    return AROUND.format(folder=folder, block=block)


@contextmanager
def set_up(count: int = SERVERS) -> Iterator[SetUp]:
    """All of it, on free ports of this machine, in a temporary directory."""
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    nginx = program()
    assert nginx is not None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)  # nginx started by root works as another user
        # one secret for all: whoever comes to another server keeps the token for uploads
        environment = {
            "FGPVAE_RUNS": str(folder / "runs"),
            "FGPVAE_CHARTS_WAIT": "10",
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
        }
        servers = [
            stack.enter_context(browser.serve("app.py", **environment)) for _ in range(count)
        ]
        ports = [int(address.rsplit(":", 1)[1]) for address in servers]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            listen = probe.getsockname()[1]
        (folder / "nginx.conf").write_text(config(folder, listen, ports))
        command = [nginx, "-p", str(folder), "-c", "nginx.conf", "-e", str(folder / "error.log")]
        process = subprocess.Popen(command)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        address = f"http://localhost:{listen}"
        browser.answered(f"{address}/_stcore/health", process)
        yield SetUp(address, servers, folder / "runs", folder / "access.log")


def bring_pictures(address: str, people: int) -> list[str]:
    """Each uploads a digit and downloads it turned; what went wrong."""
    wrong: list[str] = []
    upload = {"name": "three.png", "mimeType": "image/png", "buffer": pictures.FILES["PNG"]}
    with browser.chromium() as chrome:
        for number in range(people):
            context = chrome.new_context()
            page = context.new_page()
            watch = browser.Watch(page)
            page.goto(f"{address}/extrapolate?extrapolate.source=Upload")
            chooser = page.locator("[data-testid=stFileUploaderDropzoneInput]")
            chooser.wait_for(state="attached", timeout=browser.PATIENCE)
            chooser.set_input_files(upload)
            expect(page.locator("[data-ready=yes]").first).to_be_visible()
            browser.settle(page)
            with page.expect_download(timeout=browser.PATIENCE) as download:
                page.get_by_role("button", name="Picture", exact=True).click()
            if not Path(download.value.path()).read_bytes().startswith(b"\x89PNG"):
                wrong.append(f"person {number}: the file is no picture")
            known = "Failed to load resource"  # Streamlit asks below the page's address first
            wrong += [text for text in watch.errors if known not in text]
            context.close()
    return wrong


def rows() -> Iterator[Row]:
    if program() is None:
        yield Row(PART, "several servers", "0", "nginx is not installed")
        return
    crowd, record = Crowd(seconds=60, cookie=COOKIE), Record()
    with set_up() as here:
        with training(here.runs):
            crowd.come(here.address, record)
        memory = [each.memory_info().rss / 2**20 for each in here.processes()]
        wrong = bring_pictures(here.address, PEOPLE)
        yield errors(PART, f"errors, {SERVERS} servers", crowd, record)
        yield answers(PART, record)
        yield none(PART, "pictures not uploaded, or not downloaded", PEOPLE, wrong)
        yield from _sticky(here.requests())
        text = ", ".join(f"{each:.0f}" for each in memory)
        yield Row(PART, "memory of the servers", f"{len(memory)}", f"{text} MB")
        ended = here.processes()[0]
        ended.terminate()
        ended.wait()
        few, after = Crowd(6, 0, 15, cookie=COOKIE), Record()
        few.come(here.address, after)
        yield errors(PART, "errors after one of them has ended", few, after)


def _sticky(requests: Sequence[Sequence[str]]) -> Iterator[Row]:
    """Did everybody stay with one server, and has each server some?"""
    seen: dict[str, set[str]] = defaultdict(set)
    for person, server, *_ in requests:
        seen[person].add(server)
    astray = [f"{person}: {', '.join(each)}" for person, each in seen.items() if len(each) > 1]
    yield none(PART, "people sent to more than one server", len(seen), astray)
    failed = [f"{status} {path}" for _, _, status, path in requests if status >= "500"]
    yield none(PART, "answers of the proxy with status 500 and more", len(requests), failed)
    each = sorted(sum(server in found for found in seen.values()) for server in _all(seen.values()))
    text = ", ".join(map(str, each))
    yield Row(PART, "people of each server", f"{len(seen)}", text, "> 0", len(each) == SERVERS)


def _all(sets: Sequence[set[str]]) -> set[str]:
    return set().union(*sets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=SERVERS)
    with set_up(parser.parse_args().servers) as here:
        print(f"{here.address}, before {', '.join(here.servers)}; Ctrl-C ends all", flush=True)
        try:
            pause()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
