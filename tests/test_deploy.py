"""What a server that is started as the README says does and does not do for a stranger."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest

from tests.browser import ROOT

SAFE = {
    "server.address": "localhost",
    "server.maxUploadSize": 50,
    "server.enableXsrfProtection": True,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "server.enableAgentApi": False,
    "server.runOnSave": False,
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


def status(request: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


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
    assert status(upload) == 403


@pytest.mark.parametrize(
    "path",
    [
        "/app/static/app.py",
        "/app/static/../app.py",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/..%2f..%2f..%2fetc%2fpasswd",
        "/component/x/../../etc/passwd",
        "/media/../../etc/passwd",
        "/_stcore/agent/interact",
        "/_stcore/metrics-of-others",
        "/requirements.txt",
        "/.streamlit/config.toml",
        "/runs/",
    ],
)
def test_no_file_of_the_machine_is_served(address: str, path: str) -> None:
    request = urllib.request.Request(address + path)
    code = status(request)
    if code != 200:
        assert 400 <= code < 500
        return
    with urllib.request.urlopen(request, timeout=30) as answer:
        # any address that is not a file is the page itself
        assert b"<title>Streamlit</title>" in answer.read()


def test_other_sites_may_not_read_answers(address: str) -> None:
    request = urllib.request.Request(
        f"{address}/_stcore/health", headers={"Origin": "https://elsewhere.example"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.headers.get("Access-Control-Allow-Origin") in (None, "")
