"""Small messages leave at once.

Streamlit listens on a socket of its own making, for whose connections asyncio does not switch
Nagle's algorithm off. A small message then waits until the one before it is acknowledged, which
browsers do some 40 ms later: in every run of a page.
"""

import os
import socket

import psutil


def send_at_once() -> None:
    """For connections that are still to come, which inherit it from the socket that listens."""
    for each in psutil.Process().net_connections("tcp"):
        if each.status == psutil.CONN_LISTEN and each.fd >= 0:
            with socket.socket(fileno=os.dup(each.fd)) as listening:
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
