"""What a server that is started as the README says does and does not do for a stranger."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest
from playwright.sync_api import Browser, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser import ROOT, heading, new_page, settle
from tests.waiting import PATIENCE, eventually

SAFE = {
    "server.address": "localhost",
    "server.maxUploadSize": 50,
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "server.enableAgentApi": False,
    "server.runOnSave": False,
    "server.showEmailPrompt": False,  # a first start asks nothing
    "runner.magicEnabled": False,  # two threads that parse may end in a SystemError, in Python 3.11
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "global.developmentMode": False,
}


def test_the_options_in_effect_are_safe() -> None:
    code = (
        "import json, sys\n"
        "from streamlit import config\n"
        "names = json.loads(sys.argv[1])\n"
        "print(json.dumps({name: config.get_option(name) for name in names}))"
    )
    command = [sys.executable, "-c", code, json.dumps(list(SAFE))]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert json.loads(said) == SAFE


def test_pages_compute_with_one_thread(tmp_path) -> None:
    """Threads that wait for each other made a page of a busy server ten times as slow."""
    code = (
        "import streamlit, app, threadpoolctl\n"
        "print({each['num_threads'] for each in threadpoolctl.threadpool_info()})"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    environment["FGPVAE_RUNS"] = str(tmp_path / "runs")
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    assert said.stdout.split() == [b"{1}"]


def test_the_server_listens_on_this_machine_only(address: str) -> None:
    port = int(address.rsplit(":", 1)[1])
    listening = [
        each.laddr.ip
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN and each.laddr.port == port
    ]
    assert listening
    assert set(listening) <= {"127.0.0.1", "::1"}


def test_an_upload_without_the_token_of_the_page_is_refused(address: str) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\nabc\r\n--x--'
    upload = urllib.request.Request(
        f"{address}/_stcore/upload_file/session/file",
        data=body,
        method="PUT",
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(upload, timeout=PATIENCE)


def test_no_file_of_the_machine_is_served(address: str) -> None:
    for path in (
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/weights/..%2f..%2f..%2fetc%2fpasswd",
        "/_stcore/agent/interact",
        "/requirements.txt",
        "/.streamlit/config.toml",
    ):
        try:
            answer = urllib.request.urlopen(address + path, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:  # any address that is not a file is the page itself
            served = answer.status == 200 and b"<title>Streamlit</title>" in answer.read()
            assert served or 400 <= answer.status < 500, path


def ends_a_run(message: bytes) -> bool:
    parsed = ForwardMsg.FromString(message)
    early = parsed.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
    return parsed.WhichOneof("type") == "script_finished" and not early


def test_answers_that_come_after_the_next_press_lose_no_message(browser: Browser, address: str):
    """A slow network: the answer to each press arrives when the next one has been sent.

    Streamlit's browser names the messages that it has cached when it asks for a run, and drops
    those that three finished runs have not used. If a run ends in between, the server refers to a
    message that is gone, and the page ends in "Connection error: Cached ForwardMsg MISS". This
    happens here with `STREAMLIT_GLOBAL_MIN_CACHED_MESSAGE_SIZE=10000`, Streamlit's default.
    """
    page = new_page(browser)  # its own: a tab that others use later would keep the route
    late: list[bytes] = []
    sent: list[bytes] = []
    sockets: list[WebSocketRoute] = []
    held = False

    def receive(message: bytes) -> None:
        if held:
            late.append(message)
        else:
            sockets[-1].send(message)

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(receive)
        socket.on_message(lambda message: [server.send(message), sent.append(message)])

    page.route_web_socket("**/_stcore/stream", connect)
    page.goto(f"{address}/rotate")
    views = page.get_by_role("slider", name="Views the model sees")
    expect(views).to_be_visible()
    settle(page)
    held = True
    for key in ("Home", "ArrowRight", "ArrowRight") * 4:
        before = len(sent)
        views.press(key)
        answers, late[:] = late[:], []
        eventually(lambda n=before: page.get_by_role("dialog").count() or len(sent) > n)
        for message in answers:
            sockets[-1].send(message)
        eventually(lambda: page.get_by_role("dialog").count() or any(map(ends_a_run, late)))
        assert page.get_by_role("dialog").count() == 0
    held = False
    for message in late:
        sockets[-1].send(message)
    expect(heading(page)).to_contain_text("three ringed angles")
    settle(page)
    expect(views).to_have_value("3")
    assert page.get_by_role("dialog").count() == 0
    page.context.close()
